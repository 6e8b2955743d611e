#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_DEVICE_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_DEVICE_H_

#include <cstdint>
#include <vector>

#include "parse/readers/nsys/nsys_calls.h"
#include "parse/readers/nsys/nsys_context.h"
#include "parse/readers/nsys/nsys_graph_nodes.h"

namespace oplens::parse {

/// Reads what GPUs did, and the API calls that it came from.
class NsysDevice {
 public:
  explicit NsysDevice(NsysContext* context) : context_(*context), trace_(context->trace) {}

  void Read();
  /// Adds the API calls that nothing refers to, where they are asked for.
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

  /// What a memory event says of its thread, until the calls are read.
  struct MemoryOwner {
    NsysCalls::Key call = NsysCalls::kNone;
    int64_t global_pid = 0;
  };

  NsysContext& context_;
  Trace& trace_;
  NsysCalls calls_{&context_};
  NsysGraphNodes nodes_{&context_};
  std::vector<bool> missing_;      // Of the kernel table's columns.
  std::vector<uint8_t> readable_;  // Of mangled names, by StringId.
  std::vector<NsysCalls::Key> kernel_calls_;
  std::vector<NsysCalls::Key> copy_calls_;
  std::vector<NsysCalls::Key> set_calls_;
  std::vector<NsysCalls::Key> wait_calls_;
  std::vector<NsysCalls::Key> record_calls_;  // Of Trace::event_records.
  std::vector<NsysCalls::Key> replay_calls_;
  std::vector<MemoryOwner> memory_owners_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_DEVICE_H_
