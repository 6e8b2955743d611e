#ifndef OPLENS_REPORT_PROGRAM_TEXT_H_
#define OPLENS_REPORT_PROGRAM_TEXT_H_

#include "base/program_text.h"

namespace oplens::report {

/// Groups of options, beside those of prof/input_options.h.
inline constexpr char kPageOptions[] = "Page";

/// What is said of `report` beside its options.
ProgramText TextOfReport();

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PROGRAM_TEXT_H_
