#ifndef OPLENS_OPLENS_SUMMARY_SCREEN_H_
#define OPLENS_OPLENS_SUMMARY_SCREEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "oplens/screen.h"
#include "parse/model/reason.h"
#include "prof/many_inputs.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::screen {

/// The screen of a run whose ranks are known by their summaries (prof --summary): its culprits and
/// its ranks. Leaves out summaries that cannot be read; adds what was lost when they were made to
/// `losses`, and how many files were left out then to `left_out_before`. Throws Error if none can
/// be read, or one lacks a view that is needed.
Screen ScreenOfSummaries(const std::vector<prof::SummaryInput>& summaries,
                         const std::vector<std::string>& inputs, prof::LeftOut* left_out,
                         size_t* left_out_before, Diagnostics* losses);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_SUMMARY_SCREEN_H_
