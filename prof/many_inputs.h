#ifndef OPLENS_PROF_MANY_INPUTS_H_
#define OPLENS_PROF_MANY_INPUTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/findings.h"

namespace oplens::prof {

struct ManyOptions {
  size_t jobs = 1;  ///< Number of concurrent processes.
  /// Number of inputs that may be left out before the exit code says so.
  size_t allow_missing = 0;
  std::string salt = {};  ///< For host names in summaries; "": SaltOf.
};

/// Reports and counts unreadable inputs.
class LeftOut {
 public:
  /// `tell` gets the problem of each that is left out; null: it is printed.
  explicit LeftOut(std::string_view tool,
                   std::function<void(const std::string& problem)> tell = nullptr)
      : tool_(tool), tell_(std::move(tell)) {}

  /// Reports that an input is left out.
  void Add(const std::string& problem);
  size_t count() const { return count_; }

 private:
  std::string tool_;
  std::function<void(const std::string& problem)> tell_;
  size_t count_ = 0;
};

/// Reads inputs in separate processes, several at a time. Their number does not affect the result.
class ManyInputs {
 public:
  /// All must outlive this object. `quiet`: no progress line.
  ManyInputs(Inputs* inputs, const ManyOptions& options, LeftOut* left_out, bool quiet)
      : inputs_(inputs), options_(options), left_out_(left_out), quiet_(quiet) {}

  using Find = std::function<std::unique_ptr<Findings>(Inputs* inputs, size_t place)>;
  using Take = std::function<void(const Findings& findings, size_t place)>;

  /// Reads the waiting inputs at `places`. `find` is called in a separate process per input, `take`
  /// in this one, in order. Throws Error if none can be read and `alone` (there are no other
  /// inputs).
  void Run(const std::vector<size_t>& places, const Find& find, const Take& take,
           bool alone = true);

 private:
  Inputs* inputs_;
  const ManyOptions& options_;
  LeftOut* left_out_;
  bool quiet_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_MANY_INPUTS_H_
