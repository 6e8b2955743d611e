#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_TARGET_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// The rank that Nsight Systems names the thread that initialised MPI after; negative: it is none.
int64_t MpiRankOf(std::string_view name);

/// Reads what is known of the machine and the recording: version, GPUs, processes, thread names.
/// After the events, since the file lists all processes of the machine.
class NsysTarget {
 public:
  explicit NsysTarget(NsysContext* context) : context_(*context), trace_(context->trace) {}

  /// The names of the first `ranked` threads tell the rank.
  void Read(size_t ranked);

 private:
  void ReadVersion();
  void ReadStartTime();
  void ReadProcesses();
  void ReadThreadNames();
  /// Of the program that was started: what it says of its rank.
  void ReadEnvironment();
  /// Nsight Systems names the thread that initialised MPI after its rank.
  void TakeRank(size_t ranked);
  void ReadDevices();
  /// CUDA's number of each GPU, by the file's number of the GPU, in the processes that were read.
  std::map<int64_t, std::vector<int64_t>> ReadDeviceNumbers();

  NsysContext& context_;
  Trace& trace_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_TARGET_H_
