#ifndef OPLENS_PROF_MANY_INPUTS_H_
#define OPLENS_PROF_MANY_INPUTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/findings.h"

namespace oplens::prof {

/// How many inputs are read.
struct ManyOptions {
  size_t jobs = 1;  ///< Processes at a time.
  /// How many inputs may be left out that cannot be read; nullopt: any of folders, none that was
  /// named.
  std::optional<size_t> allow_missing;
  std::string salt = {};  ///< For names of machines in summaries; "": SaltOf.
};

/// The inputs that cannot be read, as they are told and counted.
class LeftOut {
 public:
  LeftOut(std::string_view tool, std::optional<size_t> most) : tool_(tool), most_(most) {}

  /// Says that an input is left out. Throws Error with the problem where it may not be.
  void Add(const std::string& problem, bool from_folder);
  size_t count() const { return count_; }

 private:
  std::string tool_;
  std::optional<size_t> most_;
  size_t count_ = 0;
};

/// Takes files away that do not exist, where `most` may be missing, and tells them.
void LeaveOutMissing(std::vector<std::string>* paths, std::optional<size_t> most,
                     LeftOut* left_out);

/// Looks at inputs, each in a process of its own, several at a time. What comes out is the same
/// for any number of them.
class ManyInputs {
 public:
  /// All must outlive this object. `quiet`: no line that says how far it is.
  ManyInputs(Inputs* inputs, const ManyOptions& options, LeftOut* left_out, bool quiet)
      : inputs_(inputs), options_(options), left_out_(left_out), quiet_(quiet) {}

  using Find = std::function<std::unique_ptr<Findings>(Inputs* inputs, size_t place)>;
  using Take = std::function<void(const Findings& findings, size_t place)>;

  /// Looks at the inputs at these places among those that wait. `find` is called in the process of
  /// each, `take` here, in their order. Throws Error where too many cannot be read, or all and
  /// there are no others (`alone`).
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
