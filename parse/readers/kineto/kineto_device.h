#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_DEVICE_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_DEVICE_H_

#include <cstdint>
#include <vector>

#include "base/id_map.h"
#include "parse/readers/common/other_calls.h"
#include "parse/readers/kineto/kineto_context.h"
#include "parse/readers/kineto/kineto_event.h"

namespace oplens::parse {

/// Reads GPU work and the API calls that launched it, and joins the two by correlation id; in files
/// without such ids by "External id", where exactly one call and one piece of work have it.
class KinetoDevice {
 public:
  explicit KinetoDevice(KinetoContext* context) : context_(*context), trace_(context->trace) {}

  void ReadCall(const KinetoEvent& event, bool driver);
  void ReadKernel(const KinetoEvent& event);
  void ReadCopy(const KinetoEvent& event);
  void ReadSet(const KinetoEvent& event);
  void ReadSynchronization(const KinetoEvent& event);
  void ReadOverhead(const KinetoEvent& event);
  void ReadAnnotation(const KinetoEvent& event);
  /// Keeps the calls that are referred to or needed, and links the work to them.
  void Finish();

 private:
  /// Facts in call events (ROCm) about the launched work, used if the work has none.
  struct CallDetails {
    int64_t correlation_id = kUnknownId;
    int64_t size_bytes = -1;
    int32_t grid[3] = {-1, -1, -1};
    int32_t block[3] = {-1, -1, -1};
    int32_t shared_memory_bytes = -1;
    bool work_items = false;  ///< The grid counts work-items (threads), not blocks.
    StringId kernel = 0;      ///< Its name; only with wants_captures().

    bool any() const { return grid[0] >= 0 || block[0] >= 0 || size_bytes >= 0; }
    /// Gives a kernel the sizes that it lacks, and its grid in blocks.
    void FillSizes(KernelShape* to) const;
  };
  /// A call without a correlation id.
  struct UnnumberedCall {
    LaunchIndex call;
    int64_t external_id;
    CallDetails details;
  };
  enum class WorkKind : uint8_t { kKernel, kCopy, kSet };
  /// Work without a correlation id.
  struct UnnumberedWork {
    WorkKind kind;
    size_t index;  ///< Into Trace::kernels, copies or sets.
    int64_t external_id;
  };
  /// Fields of a copy, memset or wait besides its own.
  struct Work {
    int64_t correlation_id = kUnknownId;
    int64_t external_id = kUnknownId;
    int64_t size_bytes = -1;
    int32_t device_id = static_cast<int32_t>(kUnknownId);
    int32_t context_id = static_cast<int32_t>(kUnknownId);
    int32_t stream_id = static_cast<int32_t>(kUnknownId);
    bool of_all_streams = false;
  };

  /// What a wait says about the event that it waits for.
  struct WaitedEvent {
    int64_t event_id = kUnknownId;
    int64_t record_correlation_id = kUnknownId;  ///< Of the call that recorded it.
    int32_t stream_id = static_cast<int32_t>(kUnknownId);
  };

  Work ReadWork(const KinetoEvent& event);
  /// Notes whether work has a correlation id, and by what else to find its call.
  void NoteNumbers(WorkKind kind, size_t index, int64_t correlation_id, int64_t external_id);
  void LinkByExternalIds();
  static WaitedEvent ReadWaitedEvent(const KinetoEvent& event);
  void TakeWaitedEvent(const WaitedEvent& event, const Work& work, Synchronization* wait);
  /// Device and stream are in the arguments, else they are the process and thread.
  void PlaceOf(const KinetoEvent& event, int32_t* device_id, int32_t* stream_id);
  void ReadKernelArguments(const KinetoEvent& event, Kernel* kernel);
  /// `of_work`: how many of the requested ids are those of work that ran.
  void KeepRequestedCalls(const IdMap& wanted, size_t of_work,
                          std::vector<LaunchIndex>* launch_of_requested);
  void FillFromCalls();
  bool wants_captures() const {
    return context_.needs.Has(TracePart::kCaptures) || context_.needs.Has(TracePart::kOwnCaptures);
  }
  /// Makes Trace::captured of the launches captured into graphs.
  void AddCaptured();

  KinetoContext& context_;
  Trace& trace_;
  std::vector<bool> driver_;  // Per call in trace_.launches.
  std::vector<CallDetails> details_;
  bool numbered_ = false;         // A call, kernel, copy or memset has a correlation id.
  int64_t unnumbered_count_ = 0;  // Of calls that launch kernels.
  std::vector<UnnumberedCall> unnumbered_calls_;
  std::vector<UnnumberedWork> unnumbered_work_;
  std::vector<int64_t> copy_correlations_;
  std::vector<int64_t> set_correlations_;
  std::vector<int64_t> wait_correlations_;
  std::vector<int64_t> record_correlations_;  // Per record in Trace::event_records.
  IdMap records_;                             // correlation id -> index into Trace::event_records
  /// A call that begins or ends the capture of a graph.
  struct CaptureEdge {
    int64_t time_ns;
    bool begins;
  };
  std::vector<CaptureEdge> capture_edges_;
  OtherCalls others_{context_.needs, context_.trace.strings};
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_DEVICE_H_
