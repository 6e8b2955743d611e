#ifndef OPLENS_PROF_VERDICTS_IDLE_CAUSE_H_
#define OPLENS_PROF_VERDICTS_IDLE_CAUSE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oplens::prof {

/// Why a GPU or stream is idle at a moment: what its next work waits for. The one classification of
/// idle time, for bars of steps, views and advice.
///
///     launching thread   ..| python | host-op | api-call | host-op |launch call ...
///     GPU                |                                         | launch     | queued |- work
///     -|
enum class IdleCause : uint8_t {
  kLaunch,      ///< The call that launches it runs,
  kModuleLoad,  ///< and takes at least kModuleLoadNs, since it loads code at its first use.
  kQueued,      ///< That call has returned: the device, a stream, an event or a copy holds it back.
  kOtherStream,  ///< For a stream: as kQueued, and other streams of the GPU work.
  /// As kOtherStream, but these only communicate; or the launching thread is in a collective.
  kCommunication,
  kSync,          ///< Before its launch, the launching thread is in a call that waits for a GPU.
  kPageableCopy,  ///< The thread is in the call of a copy from or to pageable memory.
  kApiCall,       ///< The thread is in another API call of at least kLongCallNs.
  kDataLoader,    ///< The thread waits for its next batch.
  kHostOp,        ///< The thread is in an operator.
  kPython,        ///< The thread is in none of these.
  kColdStart,     ///< Without marked steps: before the GPU has done 0.1 % of all its work.
  kTail,          ///< No more work.
  kUnknown,       ///< Unknown launch.
};
inline constexpr size_t kIdleCauseCount = 14;
constexpr size_t WordCountOf(IdleCause) { return kIdleCauseCount; }

/// A launch while the GPU is idle is not held up by a full queue, so that nothing else takes so
/// long.
inline constexpr int64_t kModuleLoadNs = 1'000'000;

/// "launch", "queued", ...
std::string_view IdleCauseWord(IdleCause cause);

/// What holds launched work back.
enum class HeldBy : uint8_t {
  kDevice,  ///< Nothing recorded.
  kStream,  ///< It follows the previous work of its stream.
  kEvent,   ///< Its stream was told to wait for an event.
  kCopy,    ///< It is a copy.
};
/// "device", "stream", ...
std::string_view HeldByWord(HeldBy held);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_IDLE_CAUSE_H_
