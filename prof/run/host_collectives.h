#ifndef OPLENS_PROF_RUN_HOST_COLLECTIVES_H_
#define OPLENS_PROF_RUN_HOST_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ops/dtype.h"
#include "parse/model/string_pool.h"
#include "prof/run/collective_kind.h"

namespace oplens {
struct Communication;
}  // namespace oplens

namespace oplens {
struct Trace;
}  // namespace oplens

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// What is known about a collective. Texts are the trace's; 0: unknown.
struct CollectiveFacts {
  CollectiveKind kind = CollectiveKind::kUnknown;
  ops::DType dtype = ops::DType::kUnknown;
  StringId group = 0;       ///< Name of the process group.
  StringId ranks = 0;       ///< "[0, 1]"
  int64_t group_size = -1;  ///< -1: unknown.
  int64_t size_bytes = -1;  ///< Of the message (MessageElements); -1: unknown.
  int64_t sequence = -1;    ///< Within its group; -1: not recorded.
  int64_t peer = -1;        ///< Of a send or receive: the other's rank; -1: not recorded.
};

/// The collectives called by host threads, each once however many ranges describe it:
///
///     |- c10d::allreduce_ -------------------|     one call
///       |- record_param_comms -------------|
///          |- nccl:all_reduce --|
///
/// Of a library that works on the host in threads of its own (gloo, PyTorch 2), the range in such a
/// thread belongs to the earliest call of its kind in the process that began before it and has
/// none:
///
///     |- c10d::allreduce_ --|
///         thread of gloo:     |- gloo:all_reduce --|
///
/// O(R log R) for R ranges, only a scan of the texts if there are none; 24 bytes per call.
class HostCollectives {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  struct Call {
    uint32_t range = 0;  ///< The outermost.
    /// The range of a library that works on the host ("gloo:all_reduce"), which spans the work, in
    /// this or another thread; otherwise `range`, and the call only enqueues the work.
    uint32_t timed = 0;
    bool on_host = false;
    bool parts = false;  ///< Other ranges inside describe it, as those of NCCL's calls do.
  };

  explicit HostCollectives(const parse::Joined& joined);

  const std::vector<Call>& calls() const { return calls_; }
  /// The call in which a kernel (by index) was launched or added to its graph.
  size_t OfKernel(size_t kernel) const;
  /// Collects the facts from the call's ranges and their records.
  CollectiveFacts FactsOf(const Call& call);
  /// Adds a record's facts. Returns false if it describes a wait instead of a collective.
  static bool TakeRecord(const Communication& record, const StringPool& strings,
                         CollectiveFacts* facts);

 private:
  void FindNames();
  void FindCalls();
  void AddRange(uint32_t index);
  /// Joins calls with the ranges of a library's threads.
  void LinkWorkers();
  void TakeRecords(uint32_t range, CollectiveFacts* facts, std::vector<uint32_t>* labels) const;
  /// Takes facts from the call's records; returns those of its labels, which only describe inputs.
  std::vector<uint32_t> TakeRecords(const Call& call, CollectiveFacts* facts) const;
  /// Whether the work is a range in another thread than the call.
  bool InOtherThread(const Call& call) const;
  /// The ranges that describe it, outermost first.
  std::vector<uint32_t> RangesOf(const Call& call) const;
  /// Takes the data type from the first op that has one; returns the message's elements by the
  /// first op that gives them, otherwise -1.
  int64_t TakeArguments(std::span<const uint32_t> ranges, CollectiveFacts* facts);

  /// Elements by one source, and their common type.
  struct Amount {
    CollectiveElements elements;
    ops::DType dtype = ops::DType::kUnknown;
  };
  const Amount& AmountOf(StringId call);

  const parse::Joined& joined_;
  const Trace& trace_;
  std::vector<uint8_t> names_;     // By text, its meaning as a range; empty if no text has one.
  std::vector<Call> calls_;        // By range.
  size_t outer_ = kNone;           // The last call that is not just a host library's range.
  std::vector<uint32_t> records_;  // Of host threads, by thread and start.
  std::unordered_map<StringId, Amount> amounts_;  // By text of a call.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_COLLECTIVES_H_
