#include "parse/model/kernel_names.h"

#include <utility>

#include "parse/model/demangle.h"

namespace oplens {

KernelNames::KernelNames(const Trace& trace) {
  names_.push_back({"<unknown>", "<unknown>"});
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.name >= index_.size()) index_.resize(size_t{kernel.name} + 1, 0);
    if (kernel.name == 0 || index_[kernel.name] != 0) continue;
    index_[kernel.name] = static_cast<uint32_t>(names_.size());
    std::string full = parse::Demangle(trace.strings.View(kernel.name));
    std::string base = parse::ShortKernelName(full);
    names_.push_back({std::move(full), std::move(base)});
  }
}

}  // namespace oplens
