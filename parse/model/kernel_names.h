#ifndef OPLENS_PARSE_MODEL_KERNEL_NAMES_H_
#define OPLENS_PARSE_MODEL_KERNEL_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/trace.h"

namespace oplens {

/// The demangled names, full and short, of a trace's kernels. Demangles each distinct name once.
class KernelNames {
 public:
  struct Name {
    std::string full;
    std::string base;  ///< Without namespaces, template arguments and parameters.
  };

  KernelNames() = default;
  explicit KernelNames(const Trace& trace);

  /// "<unknown>" for a kernel without a name.
  const Name& Of(const Kernel& kernel) const {
    return names_[kernel.name < index_.size() ? index_[kernel.name] : 0];
  }

 private:
  std::vector<uint32_t> index_;  // By StringId, up to the last that is a name.
  std::vector<Name> names_;      // [0] is the unknown name.
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_KERNEL_NAMES_H_
