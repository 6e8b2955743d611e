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

/// What is known of a collective. Texts are the trace's; 0: not known.
struct CollectiveFacts {
  CollectiveKind kind = CollectiveKind::kUnknown;
  ops::DType dtype = ops::DType::kUnknown;
  StringId group = 0;       ///< Name of the process group.
  StringId ranks = 0;       ///< "[0, 1]"
  int64_t group_size = -1;  ///< -1: not known.
  int64_t size_bytes = -1;  ///< Of the message (MessageElements); -1: not known.
  int64_t sequence = -1;    ///< In its group; -1: not recorded.
};

/// The collectives that host threads called, each once however many ranges tell of it:
///
///     |- c10d::allreduce_ -------------------|     one call
///       |- record_param_comms -------------|
///          |- nccl:all_reduce --|
///
/// O(R log R) for R ranges, nothing but a look at the texts where there are none; 24 bytes a call.
class HostCollectives {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  struct Call {
    uint32_t range = 0;  ///< The outermost.
    /// The range of a library that works on the host ("gloo:all_reduce"), which spans the work; the
    /// same as `range` where there is none: then the call only asks for it.
    uint32_t timed = 0;
    bool on_host = false;
  };

  explicit HostCollectives(const parse::Joined& joined);

  const std::vector<Call>& calls() const { return calls_; }
  /// The call that a kernel, by its index, was launched in, or put into its graph.
  size_t OfKernel(size_t kernel) const;
  /// What its ranges and their records tell.
  CollectiveFacts FactsOf(const Call& call);
  /// What a record tells. Answers false where it tells of no collective but of a wait.
  static bool TakeRecord(const Communication& record, const StringPool& strings,
                         CollectiveFacts* facts);

 private:
  void FindNames();
  void FindCalls();
  void AddRange(uint32_t index);
  /// Takes what records of the call tell; answers those of its labels, which tell of inputs alone.
  std::vector<uint32_t> TakeRecords(const Call& call, CollectiveFacts* facts) const;
  /// Those that tell of it, the outermost first.
  std::vector<uint32_t> RangesOf(const Call& call) const;
  /// Takes the data type of the first op that tells one; answers the elements of the message, by
  /// the first that tells these, -1 where none does.
  int64_t TakeArguments(std::span<const uint32_t> ranges, CollectiveFacts* facts);

  /// Elements by one source, and the type of all.
  struct Amount {
    CollectiveElements elements;
    ops::DType dtype = ops::DType::kUnknown;
  };
  const Amount& AmountOf(StringId call);

  const parse::Joined& joined_;
  const Trace& trace_;
  std::vector<uint8_t> names_;     // By text: what it is as a range; empty where none is anything.
  std::vector<Call> calls_;        // By range.
  size_t outer_ = kNone;           // The last of these that is no range of a host library alone.
  std::vector<uint32_t> records_;  // Of host threads, by thread and start.
  std::unordered_map<StringId, Amount> amounts_;  // By text of a call.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_COLLECTIVES_H_
