#ifndef OPLENS_OPLENS_PROGRAM_TEXT_H_
#define OPLENS_OPLENS_PROGRAM_TEXT_H_

#include "base/program_text.h"

namespace oplens::screen {

/// What is said of `oplens` beside its options.
ProgramText TextOfOplens();

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_PROGRAM_TEXT_H_
