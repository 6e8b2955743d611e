#ifndef OPLENS_PARSE_PROGRAM_TEXT_H_
#define OPLENS_PARSE_PROGRAM_TEXT_H_

#include "base/program_text.h"

namespace oplens::parse {

/// Groups of options.
inline constexpr char kInputOptions[] = "Input";
inline constexpr char kOutputOptions[] = "Output";

/// What is said of `parse` beside its options.
ProgramText TextOfParse();

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_PROGRAM_TEXT_H_
