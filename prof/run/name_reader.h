#ifndef OPLENS_PROF_RUN_NAME_READER_H_
#define OPLENS_PROF_RUN_NAME_READER_H_

#include <string>
#include <string_view>

#include "ops/kernels/kernel_family.h"
#include "ops/kernels/launch_sizes.h"
#include "ops/kernels/named_op.h"

namespace oplens::prof {

/// What full kernel names say. A name is read anew on each call, unless a derived class keeps it.
class NameReader {
 public:
  virtual ~NameReader() = default;
  virtual ops::NamedFamily FamilyOf(std::string_view name) { return ops::KernelFamilyOf(name); }
  /// ops::NamedOp::op of a kernel with one row of blocks.
  virtual std::string OpOf(std::string_view name) {
    return ops::NamedOpOf(name, ops::KernelFamilyOf(name), 1).op;
  }
  virtual ops::LaunchRule LaunchOf(std::string_view name) { return ops::LaunchRuleOf(name); }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_NAME_READER_H_
