#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_TARGET_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// Returns the rank in Nsight Systems' name of the thread that initialised MPI; negative: none.
int64_t MpiRankOf(std::string_view name);

/// Reads facts of the machine and the recording: version, GPUs, processes, thread names. Call after
/// reading the events, since the file lists all processes of the machine.
class NsysTarget {
 public:
  explicit NsysTarget(NsysContext* context) : context_(*context), trace_(context->trace) {}

  /// Finds the rank in the names of the first `ranked` threads.
  void Read(size_t ranked);

 private:
  void ReadVersion();
  void ReadStartTime();
  void ReadProcesses();
  void ReadThreadNames();
  /// Finds the rank in the environment of the started program.
  void ReadEnvironment();
  void TakeRank(size_t ranked);
  void ReadDevices();
  /// Returns CUDA's numbers of each GPU in the processes that were read, by the file's GPU number.
  std::map<int64_t, std::vector<int64_t>> ReadDeviceNumbers();

  NsysContext& context_;
  Trace& trace_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_TARGET_H_
