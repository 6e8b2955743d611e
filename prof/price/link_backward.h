#ifndef OPLENS_PROF_PRICE_LINK_BACKWARD_H_
#define OPLENS_PROF_PRICE_LINK_BACKWARD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/epochs.h"
#include "base/flat_map.h"
#include "parse/model/kernel_record.h"
#include "parse/model/reason.h"
#include "prof/price/forward_op.h"

namespace oplens::prof {

/// A forward op, or why there is none.
struct ForwardMatch {
  const ForwardOp* op = nullptr;
  Reason reason = Reason::kNoForwardMatch;  ///< Valid if op is null; or kAmbiguousForward.
  /// Which run of the op: forward kernels recorded after a backward kernel looked up their number
  /// form another run (the next iteration). 0 if op is null.
  int64_t run = 0;
};

/// Finds the forward op of a backward kernel by one hash look-up.
///
/// Records with a node number (`nodes`): parse matched the forward op by ranges
/// (docs/correlation.md). The op is the one that the record describes, otherwise the last forward
/// kernel with that number.
///
/// Other records: by sequence id. PyTorch numbers forward ops, and an op's autograd node carries
/// its number: a backward kernel with sequence id N belongs to the last earlier forward kernel with
/// N among its own ids (seqId), otherwise among its nested ids (altSeqId). The last one, because
/// the counter is read when an op is entered and advanced when its node is made, so ops without a
/// node share the number of the next op that has one.
///
/// The counter is per thread and restarts in every process, so the key is process and number, with
/// one op remembered per thread. Backward passes run on their own threads, so a candidate usually
/// is of another thread.
///
///  1. For a record with a phase, parse looked for the forward op and found none: no op has the
///     number, or ops of several threads do, or only ops that made no node. So only candidates
///     whose name fits the node (MmBackward0: mm) remain. PyProf's records have no phase.
///  2. The first of these that is one op (same annotation, layer, stack): all candidates; the one
///     of the kernel's own thread; those on the kernel's GPU (all, if there are none); those of
///     them whose name fits the node.
///  3. Otherwise none: kAmbiguousForward if there were candidates of several threads, otherwise
///     kNoForwardMatch.
///
/// Memory: ForwardOps', and the last 65,536 to 131,072 op numbers.
class BackwardLinker {
 public:
  /// `epochs` must outlive this.
  explicit BackwardLinker(Epochs* epochs) : ops_(epochs) {}

  /// Remembers a forward kernel. Call in record order.
  void AddForward(const KernelRecord& record);

  /// The forward op of a backward kernel; lives as long as an earlier pin, or until the next call.
  ForwardMatch Find(const KernelRecord& record);

 private:
  struct Key {
    int64_t process_id;
    int64_t seq_id;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    uint64_t operator()(const Key& key) const;
  };
  struct Candidate {
    int64_t thread_id;
    int64_t device_id;
    const ForwardOp* op;
    uint32_t next;  // With the same key, of another thread; kEnd: none.
    int64_t run = 0;
    bool asked_for = false;
  };
  /// The last op per key and thread.
  struct Table {
    FlatMap<Key, uint32_t, KeyHash> heads;
    std::vector<Candidate> candidates;
    void Put(const Key& key, const Candidate& candidate);
    /// Also sets asked_for of the candidates.
    void Append(const Key& key, std::vector<Candidate>* out);
  };
  struct Generation {
    Table own;                                      // By seqId.
    Table nested;                                   // By altSeqId.
    FlatMap<Key, const ForwardOp*, KeyHash> nodes;  // By node number.
    size_t size() const { return own.candidates.size() + nested.candidates.size() + nodes.size(); }
  };
  static constexpr uint32_t kEnd = UINT32_MAX;

  void BeginGeneration();
  /// Drops tables with expired ops; must come first in every call.
  void FollowOps();
  ForwardMatch FindByNode(const KernelRecord& record);
  ForwardMatch FindByNumber(const KernelRecord& record);
  /// Chooses among found_.
  ForwardMatch Choose(const KernelRecord& record);

  ForwardOps ops_;
  Generation young_;  // Points to ops of the last two generations of ops_.
  Generation old_;    // Likewise.
  int64_t ops_generation_ = 0;
  int64_t runs_ = 0;
  std::vector<Candidate> found_;  // Scratch for Find.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_LINK_BACKWARD_H_
