#ifndef OPLENS_PROF_INPUT_KIND_H_
#define OPLENS_PROF_INPUT_KIND_H_

#include <optional>
#include <string_view>

namespace oplens::prof {

/// What an input without a single record is, and what to do with it.
struct InputKind {
  std::string_view problem;
  std::string_view advice;
};

/// Judges by the first bytes; nullopt when they say nothing.
std::optional<InputKind> GuessInputKind(std::string_view head);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_KIND_H_
