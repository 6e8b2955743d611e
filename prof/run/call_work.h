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

/// The API call whose context gives a kernel's op; kNoLaunch: unknown.
inline LaunchIndex OriginOf(const Kernel& kernel) {
  return kernel.capture != kNoLaunch ? kernel.capture : kernel.launch;
}

/// Maps a GPU's work to the call that launched it: the innermost one (latest start) around the API
/// call that the work comes from, on that API call's thread.
///
/// O((E + C) log (E + C)) for E device events and C calls, even if calls cross; 4 bytes per API
/// call.
class CallWork {
 public:
  static constexpr uint32_t kNone = parse::CallTree::kNone;

  /// All must outlive this object.
  CallWork(const parse::Joined& joined, const DeviceWork& work, const parse::CallTree& calls);

  /// Index into CallTree::all(); kNone: no call around the launch, or launch unknown.
  uint32_t CallOf(const DeviceEvent& event) const { return At(work_.OriginOf(event)); }
  /// As CallOf, for a kernel's index, whether or not its time is usable.
  uint32_t CallOfKernel(size_t kernel) const;

 private:
  uint32_t At(LaunchIndex launch) const { return launch == kNoLaunch ? kNone : calls_[launch]; }
  std::vector<LaunchIndex> Origins() const;

  const Trace& trace_;
  const DeviceWork& work_;
  std::vector<uint32_t> calls_;  // By launch; kNone for those without work.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_WORK_H_
