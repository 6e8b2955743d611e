#ifndef OPLENS_PROF_PROGRAM_TEXT_H_
#define OPLENS_PROF_PROGRAM_TEXT_H_

#include <span>

#include "base/program_text.h"
#include "prof/table/field.h"

namespace oplens::prof {

/// Option groups in addition to those of prof/input_options.h.
inline constexpr char kTableOptions[] = "What is shown";
inline constexpr char kViewOptions[] = "Of views";
inline constexpr char kDiffOptions[] = "Of two runs";
inline constexpr char kOutputOptions[] = "Output";

ProgramText TextOfProf();

std::vector<WordText> WordsOf(std::span<const Field> fields);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PROGRAM_TEXT_H_
