#ifndef OPLENS_PROF_INPUT_RANK_NAMER_H_
#define OPLENS_PROF_INPUT_RANK_NAMER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "parse/readers/open_trace.h"

namespace oplens::prof {

/// The name of each of these files as one of several inputs (parse::ProfileInput::name).
std::vector<std::string> NamesOfInputs(const std::vector<std::string>& paths);

/// Whether inputs that are shown together say that they are different ranks of one run.
class RunClaims {
 public:
  /// The next input. `numbers`: of its ranks, as the file says; `name`, `path`: of the input.
  void Add(std::span<const std::optional<int64_t>> numbers, const std::string& name,
           const std::string& path);
  /// Why they are not known to be one run, and what to do; "" where they are. The ranks of one file
  /// are.
  std::string Sentence() const;

 private:
  size_t inputs_ = 0;
  std::set<std::string> paths_;
  std::map<int64_t, std::string> names_;  // By rank.
  std::string problem_;                   // The first.
};

/// Names the ranks of the inputs of a run that were looked at apart, as they are named where one
/// input is read after the other (parse::NameOfRank).
class RankNamer {
 public:
  /// `input_count`: of the run.
  explicit RankNamer(size_t input_count) : input_count_(input_count) {}

  /// Of the next input, in the order of the run. `numbers`: of its ranks, as the file says; `name`:
  /// that of the input.
  std::vector<std::string> NamesOf(std::span<const std::optional<int64_t>> numbers,
                                   const std::string& name);

 private:
  size_t input_count_;
  parse::TakenRanks taken_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_RANK_NAMER_H_
