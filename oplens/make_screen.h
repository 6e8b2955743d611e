#ifndef OPLENS_OPLENS_MAKE_SCREEN_H_
#define OPLENS_OPLENS_MAKE_SCREEN_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "oplens/screen.h"
#include "parse/model/trace_needs.h"
#include "prof/input/record_source.h"
#include "prof/price_all.h"
#include "prof/run/run.h"

namespace oplens::prof {
struct ModelPlan;
}

namespace oplens::screen {

/// The inputs and settings of a screen.
struct ScreenPlan {
  std::vector<std::string> inputs;  ///< As the user named them.
  bool several = false;             ///< There are several files.
  bool one_file = false;            ///< One file holds several profiles.
  prof::PriceOptions pricing;
  prof::RunOptions run;
  std::shared_ptr<const prof::ModelPlan> model = nullptr;  ///< Null without --model.
};

/// Maximum rows of each table.
inline constexpr size_t kMostLayers = 3;
inline constexpr size_t kMostOps = 5;
inline constexpr size_t kMostKernels = 5;
inline constexpr size_t kMostLosses = 3;

TraceNeeds NeedsOfScreen();

/// Reads all records once and collects the facts of a screen. Counts what could not be understood
/// in `diagnostics`, which also gets the notes of prof.
Screen MakeScreen(prof::RecordSource* records, const ScreenPlan& plan, Diagnostics* diagnostics);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_MAKE_SCREEN_H_
