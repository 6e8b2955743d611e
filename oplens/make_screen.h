#ifndef OPLENS_OPLENS_MAKE_SCREEN_H_
#define OPLENS_OPLENS_MAKE_SCREEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "oplens/screen.h"
#include "parse/model/trace_needs.h"
#include "prof/input/record_source.h"
#include "prof/price_all.h"
#include "prof/run/run.h"

namespace oplens::screen {

/// What a screen is made of.
struct ScreenPlan {
  std::vector<std::string> inputs;  ///< As they were named.
  bool several = false;             ///< There is more than one file,
  bool one_file = false;            ///< or several profiles in one.
  prof::PriceOptions pricing;
  prof::RunOptions run;
};

/// How many rows each table has at most.
inline constexpr size_t kMostLayers = 3;
inline constexpr size_t kMostOps = 5;
inline constexpr size_t kMostKernels = 5;
inline constexpr size_t kMostLosses = 3;

/// The parts of traces that a screen needs.
TraceNeeds NeedsOfScreen();

/// Reads all records once and says what they are. What could not be understood is counted in
/// `diagnostics`, with the notes of prof.
Screen MakeScreen(prof::RecordSource* records, const ScreenPlan& plan, Diagnostics* diagnostics);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_MAKE_SCREEN_H_
