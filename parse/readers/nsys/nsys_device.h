#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_DEVICE_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/readers/common/graph_nodes.h"
#include "parse/readers/nsys/nsys_calls.h"
#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// Finds the calls that put nodes into CUDA graphs: GraphNodes.
class NsysGraphNodes {
 public:
  explicit NsysGraphNodes(NsysContext* context) : context_(*context) {}

  /// Notes that kernel index `kernel` replays `node` of process `global_pid`, a cell of its row.
  void Want(size_t kernel, int64_t node, const Cell& global_pid);
  /// Sets Kernel::capture of these kernels if the file has the whole chain of clones.
  void Place();

 private:
  std::string_view Table();
  void ReadEvents();
  void TakeEvent(int64_t row_id, const Cell* row);

  NsysContext& context_;
  GraphNodes nodes_;
};

/// Reads GPU work and the API calls that launched it.
class NsysDevice {
 public:
  explicit NsysDevice(NsysContext* context) : context_(*context), trace_(context->trace) {}

  void Read();
  /// Adds the API calls that nothing refers to, if needed.
  void PlaceOtherCalls() { calls_.PlaceOthers(); }

 private:
  void ReadKernels();
  void TakeKernel(int64_t row_id, const Cell* row);
  void TakeKernelName(int64_t row_id, const Cell* row, Kernel* kernel);
  bool IsReadable(StringId mangled);
  void ReadCopies();
  void ReadSets();
  void ReadSynchronizations();
  void ReadEventRecords();
  void ReadGraphReplays();
  void ReadMemoryEvents();
  void Join();
  void JoinMemoryEvents();

  /// What identifies the thread of a memory event, until the calls are read.
  struct MemoryOwner {
    NsysCalls::Key call = NsysCalls::kNone;
    int64_t global_pid = 0;
  };

  NsysContext& context_;
  Trace& trace_;
  NsysCalls calls_{&context_};
  NsysGraphNodes nodes_{&context_};
  std::vector<bool> missing_;      // Per column of the kernel table.
  std::vector<uint8_t> readable_;  // Of mangled names, by StringId.
  std::vector<NsysCalls::Key> kernel_calls_;
  std::vector<NsysCalls::Key> copy_calls_;
  std::vector<NsysCalls::Key> set_calls_;
  std::vector<NsysCalls::Key> wait_calls_;
  std::vector<NsysCalls::Key> record_calls_;  // Per record in Trace::event_records.
  std::vector<NsysCalls::Key> replay_calls_;
  std::vector<MemoryOwner> memory_owners_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_DEVICE_H_
