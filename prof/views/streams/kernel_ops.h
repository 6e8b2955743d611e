#ifndef OPLENS_PROF_VIEWS_STREAMS_KERNEL_OPS_H_
#define OPLENS_PROF_VIEWS_STREAMS_KERNEL_OPS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/run/device_work.h"
#include "prof/run/text_numbers.h"

namespace oplens::prof {

/// What ops the work of one rank belongs to: a kernel's as in tables of kernels, of a copy or
/// memset its kind (as in places), "(graph replay)" of a replay.
class KernelOps {
 public:
  /// Forgets the kernels of the rank before, not its texts.
  void Begin() { ops_.clear(); }
  /// Before any question: a kernel of the rank.
  void Add(const PricedKernel& kernel);

  /// Number of a text; that of "" if the op is unknown.
  uint32_t NumberOf(const Trace& trace, const DeviceEvent& event);
  uint32_t NumberOf(std::string_view text) { return texts_.NumberOf(text); }
  std::string_view TextOf(uint32_t number) const { return texts_.TextOf(number); }

  static constexpr std::string_view kReplay = "(graph replay)";

 private:
  std::vector<uint32_t> ops_;  // By kernel; beyond its end: unknown.
  TextNumbers texts_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAMS_KERNEL_OPS_H_
