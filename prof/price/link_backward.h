#ifndef OPLENS_PROF_PRICE_LINK_BACKWARD_H_
#define OPLENS_PROF_PRICE_LINK_BACKWARD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text_cache.h"
#include "parse/model/kernel_record.h"
#include "parse/model/reason.h"

namespace oplens::prof {

/// What a backward kernel takes from the forward op of its sequence id: fields of the forward
/// kernel's record, same meaning, and the names of its sequence markers without the numbers.
struct ForwardOp {
  std::vector<std::string_view> markers;
  std::vector<std::string_view> layer;
  std::vector<std::string_view> trace;
  std::vector<std::string_view> mod;
  std::vector<std::string_view> op;
  std::vector<std::string_view> seq_names;  ///< "mm" of "mm, seq = 72".
  std::string_view flat;  ///< All of the above as one text: equal texts, equal ops.
};

/// Whether one of the sequence markers of a backward kernel ("MmBackward0, seq = 72") names the
/// node that an op of this name made.
bool FitsNode(std::string_view op, const std::vector<std::string_view>& node_texts);

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
class BackwardLinker {
 public:
  /// Remembers a forward kernel. Call it in the order of the records.
  void AddForward(const KernelRecord& record);

  /// The forward op of a backward kernel. The op and its texts live until the second Advance()
  /// from now.
  ForwardMatch Find(const KernelRecord& record);

  /// Whether Advance() is due to keep memory at some 2 x 20 MB.
  bool IsFull() const;
  /// Forgets the ops not seen or asked for since the Advance() before.
  void Advance();

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
  };
  static constexpr uint32_t kEnd = UINT32_MAX;

  /// Of a forward kernel, or of the forward op that a backward kernel's record describes.
  /// `ops`: how many of its annotations count, from the outermost.
  const ForwardOp* Intern(const KernelRecord& record, bool described, size_t ops = SIZE_MAX);
  const ForwardOp* FindByNode(const KernelRecord& record);
  ForwardMatch Choose(const KernelRecord& record);

  TextCache<ForwardOp> ops_;
  Generation young_;
  Generation old_;
  int64_t runs_ = 0;
  std::string key_;               // Scratch of Intern.
  std::vector<Candidate> found_;  // Scratch of Find.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_LINK_BACKWARD_H_
