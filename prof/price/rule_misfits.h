#ifndef OPLENS_PROF_PRICE_RULE_MISFITS_H_
#define OPLENS_PROF_PRICE_RULE_MISFITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/rules/rules.h"

namespace oplens::prof {

/// The rules of a user that do not fit calls of their ops, and how many kernels it is about.
class RuleMisfits {
 public:
  /// What is added from now on is of the next kernel. A rule counts once a kernel.
  void BeginKernel() { ++kernel_; }
  void Add(const ops::RuleMisfit& misfit);

  /// Adds what was found of other kernels, which come after these.
  void Merge(const RuleMisfits& other);
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->found_);
  }

  /// A sentence a rule, in the order of the file. `rules`: those that were tried.
  std::vector<std::string> Sentences(const ops::Rules& rules) const;

 private:
  struct Found {
    int64_t kernels = 0;
    std::string why;          // Of the first of them.
    bool has_others = false;  // Not all are for the same reason.
    int64_t last_kernel = 0;  // Of those of this process.

    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Counts(&self->kernels);
      bytes->Values(&self->why, &self->has_others);
    }
  };

  std::map<uint64_t, Found> found_;  // By index of Rules::ops().
  int64_t kernel_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_RULE_MISFITS_H_
