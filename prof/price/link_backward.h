#ifndef OPLENS_PROF_PRICE_LINK_BACKWARD_H_
#define OPLENS_PROF_PRICE_LINK_BACKWARD_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/epochs.h"
#include "parse/model/kernel_record.h"
#include "parse/model/reason.h"
#include "prof/price/forward_op.h"

namespace oplens::prof {

/// A forward op, or why there is none.
struct ForwardMatch {
  const ForwardOp* op = nullptr;
  Reason reason = Reason::kNoForwardMatch;  ///< Valid when op is null; or kAmbiguousForward.
  /// Which run of the op: forward kernels of a number that a backward kernel has asked for already
  /// are another run (the next iteration). 0 when op is null.
  int64_t run = 0;
};

/// Finds the forward op of a backward kernel by one hash look-up.
///
/// Records with the number of a node (`nodes`): parse found the forward op by the ranges
/// (docs/correlation.md). It is what the record itself says of it, else the last forward kernel
/// with that number; where neither is there, none.
///
/// Records without: by sequence id. PyTorch numbers forward ops, and the autograd node of an op
/// carries its number: a backward kernel with sequence id N belongs to the last forward kernel
/// before it that has N among its own ids (seqId), else among the ids nested in it (altSeqId). Why
/// the last: the counter is read when an op is entered and advanced when its node is made, so ops
/// without a node share the number of the next op that has one.
///
/// The counter is per thread and restarts in every process, so look-ups are by process and number,
/// and remember one op a thread. Backward passes run on threads of their own, so a candidate of
/// another thread is the normal case.
///
///  1. Of a record with a phase, parse looked for the forward op and found none: no op had the
///     number, or ops of several threads had it, or only such that made no node. So only candidates
///     whose name fits the node (MmBackward0: mm) are left. Records of PyProf have no phase.
///  2. If all that are left are the same op (same annotation, layer, stack), that one; else the one
///     of the kernel's own thread; else those on the kernel's own GPU are left, if any, and if they
///     are the same op, that one; else, if those of them whose name fits the node are the same op,
///     that one.
///  3. Else none: kAmbiguousForward where candidates of several threads were there, else
///     kNoForwardMatch.
///
/// Memory: that of ForwardOps, and the last 65,536 to 131,072 numbers of ops.
class BackwardLinker {
 public:
  /// `epochs` must outlive this.
  explicit BackwardLinker(Epochs* epochs) : ops_(epochs) {}

  /// Remembers a forward kernel. Call it in the order of the records.
  void AddForward(const KernelRecord& record);

  /// The forward op of a backward kernel. It lives as long as a pin of the epochs that was taken
  /// before, at least until the next call.
  ForwardMatch Find(const KernelRecord& record);

 private:
  struct Key {
    int64_t process_id;
    int64_t seq_id;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Candidate {
    int64_t thread_id;
    int64_t device_id;
    const ForwardOp* op;
    uint32_t next;  // Of the same key, of another thread; kEnd: none.
    int64_t run = 0;
    bool asked_for = false;
  };
  /// The last op a key and thread.
  struct Table {
    std::unordered_map<Key, uint32_t, KeyHash> heads;
    std::vector<Candidate> candidates;
    void Put(const Key& key, const Candidate& candidate);
    /// Also marks them as asked for.
    void Append(const Key& key, std::vector<Candidate>* out);
  };
  struct Generation {
    Table own;                                                 // By seqId.
    Table nested;                                              // By altSeqId.
    std::unordered_map<Key, const ForwardOp*, KeyHash> nodes;  // By number of the node.
    size_t size() const { return own.candidates.size() + nested.candidates.size() + nodes.size(); }
  };
  static constexpr uint32_t kEnd = UINT32_MAX;

  void BeginGeneration();
  /// Drops the tables whose ops may be forgotten: first thing of every call.
  void FollowOps();
  ForwardMatch FindByNode(const KernelRecord& record);
  ForwardMatch FindByNumber(const KernelRecord& record);
  /// Of the candidates in found_.
  ForwardMatch Choose(const KernelRecord& record);

  ForwardOps ops_;
  Generation young_;  // Points to ops of the last two generations of ops_,
  Generation old_;    // and so does this.
  int64_t ops_generation_ = 0;
  int64_t runs_ = 0;
  std::vector<Candidate> found_;  // Scratch of Find.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_LINK_BACKWARD_H_
