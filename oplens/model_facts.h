#ifndef OPLENS_OPLENS_MODEL_FACTS_H_
#define OPLENS_OPLENS_MODEL_FACTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/kept_rows.h"

namespace oplens::screen {

/// What the MFU counts, and the model of --model beside it.
struct ModelFacts {
  struct Use {
    std::string convention;
    double mfu_pct = 0;
  };
  std::vector<std::string> types;     ///< Of the products that ran.
  std::optional<double> peak_tflops;  ///< Dense, mixed by the types' time at their peaks.
  std::optional<double> token_flops;  ///< Of the products that ran.
  // With --model:
  std::vector<Use> uses;                 ///< By convention.
  std::optional<double> difference_pct;  ///< Kernels' FLOPs against the configuration's,
  std::string why;                       ///< and what makes it; "": nothing much.
  std::string missing;                   ///< Why no convention has a figure; "": some have.
};

/// From the rows of the view `mfu` of one rank. `times`: what percentages are multiplied with,
/// where time is left out of the step that the view divides by.
ModelFacts ModelFactsOf(const prof::KeptRows& rows, std::string_view rank, double times);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_MODEL_FACTS_H_
