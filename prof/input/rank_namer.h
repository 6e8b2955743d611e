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

/// The names of these files as several inputs (parse::ProfileInput::name).
std::vector<std::string> NamesOfInputs(const std::vector<std::string>& paths);

/// Checks whether inputs shown together claim to be different ranks of one run.
class RunClaims {
 public:
  /// Adds the next input. `numbers`: its ranks as recorded; `name`, `path`: the input's.
  void Add(std::span<const std::optional<int64_t>> numbers, const std::string& name,
           const std::string& path);
  /// Why they may not be one run, with a remedy; "" if they are, as ranks of one file are.
  std::string Sentence() const;

 private:
  size_t inputs_ = 0;
  std::set<std::string> paths_;
  std::map<int64_t, std::string> names_;  // By rank.
  std::string problem_;                   // The first one.
};

/// Names ranks of separately read inputs as if read in sequence (parse::NameOfRank).
class RankNamer {
 public:
  /// `input_count`: inputs of the run.
  explicit RankNamer(size_t input_count) : input_count_(input_count) {}

  /// For the next input in the run's order. `numbers`: ranks as recorded; `name`: the input's.
  std::vector<std::string> NamesOf(std::span<const std::optional<int64_t>> numbers,
                                   const std::string& name);

 private:
  size_t input_count_;
  parse::TakenRanks taken_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_RANK_NAMER_H_
