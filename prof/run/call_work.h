#ifndef OPLENS_PROF_RUN_CALL_WORK_H_
#define OPLENS_PROF_RUN_CALL_WORK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/join/call_tree.h"
#include "prof/run/device_work.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// The API call whose surroundings tell the op of a kernel; kNoLaunch: it is not known.
inline LaunchIndex OriginOf(const Kernel& kernel) {
  return kernel.capture != kNoLaunch ? kernel.capture : kernel.launch;
}

/// Which call launched what a GPU did: the innermost one (that began last) around the API call that
/// the work comes from, on the thread of that API call.
///
/// O((E + C) log (E + C)) for E device events and C calls, also where calls cross; 4 bytes an API
/// call.
class CallWork {
 public:
  static constexpr uint32_t kNone = parse::CallTree::kNone;

  /// All must outlive this object.
  CallWork(const parse::Joined& joined, const DeviceWork& work, const parse::CallTree& calls);

  /// As a place in CallTree::all(); kNone: no call is around its launch, or that is not known.
  uint32_t CallOf(const DeviceEvent& event) const { return At(work_.OriginOf(event)); }
  /// The same of a kernel, by its index, whether it has a usable time or not.
  uint32_t CallOfKernel(size_t kernel) const;

 private:
  uint32_t At(LaunchIndex launch) const { return launch == kNoLaunch ? kNone : calls_[launch]; }
  std::vector<LaunchIndex> Origins() const;

  const Trace& trace_;
  const DeviceWork& work_;
  std::vector<uint32_t> calls_;  // By launch; kNone of those that work does not come from.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_WORK_H_
