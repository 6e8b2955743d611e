#ifndef OPLENS_PROF_PRICE_GROUP_INSTANCES_H_
#define OPLENS_PROF_PRICE_GROUP_INSTANCES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/recent_map.h"
#include "ops/kernels/share_work.h"
#include "ops/op_model.h"
#include "prof/price/waiting_row.h"

namespace oplens::prof {

/// Identifies one call of an op. Annotations and forward ops, nodes and sequence ids are numbered
/// separately; `by` says which are meant.
struct CallKey {
  enum class By : uint8_t {
    kRange,     ///< An annotation and the start of its range.
    kNode,      ///< A forward op and its node's number.
    kSequence,  ///< A forward op and a sequence id, which may repeat.
  };
  By by = By::kRange;
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int64_t number = 0;  ///< Start of the range, node number or sequence id.
  int64_t what = 0;    ///< Annotation::id or ForwardOp::id.
  int64_t run = 0;     ///< Run of the node or forward op; for a graph replay its time.
  friend bool operator==(const CallKey&, const CallKey&) = default;
};

/// The key of a row's call. nullopt: no price, or only the order of rows tells calls apart.
std::optional<CallKey> CallKeyOf(const WaitingRow& row);
/// The key of a call that encloses `key`'s.
CallKey EnclosingKey(const CallKey& key, const OuterCall& outer);

/// Identifies what a host thread launches on a stream.
struct LaunchStream {
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int64_t stream_id = 0;
  friend bool operator==(const LaunchStream&, const LaunchStream&) = default;
};

LaunchStream LaunchStreamOf(const KernelRecord& record);

struct CallKeyHash {
  size_t operator()(const CallKey& key) const;
};
struct LaunchStreamHash {
  size_t operator()(const LaunchStream& key) const;
};

/// The kernels of one op call so far.
struct OpInstance {
  const ops::PricedOp* price = nullptr;  ///< Valid while one of the rows waits.
  int64_t annotation_id = 0;             ///< The annotation priced.
  Direction direction = Direction::kForward;
  std::vector<WaitingRow*> rows;
  int64_t number = 0;       ///< From 1, over all instances.
  size_t left = 0;          ///< Rows that still wait.
  size_t products = 0;      ///< Matrix products among the rows; backward calls only.
  int64_t last_number = 0;  ///< Number of the last row.
  bool closed = false;
  // Where it is found while open; one of these.
  std::optional<CallKey> key;
  std::optional<LaunchStream> stream;
};

/// Whether the kernel is a matrix product, by name or a user's rule.
bool IsProduct(const WaitingRow& row);

/// Divides the work of op calls among their kernels and fills the dependent fields of the rows.
///
/// Memory: caches the last 16,384 calls of one kernel, about 4 MB.
class InstanceSharer {
 public:
  /// `covered`: the work done by calls nested in it.
  void Share(const OpInstance& instance, ops::CoveredWork covered);

 private:
  /// A call of one kernel, with all that its cost depends on.
  struct SoloKey {
    int64_t annotation_id;
    int64_t kernel_id;
    Direction direction;
    std::optional<ops::Part> part;
    friend bool operator==(const SoloKey&, const SoloKey&) = default;
  };
  struct SoloKeyHash {
    size_t operator()(const SoloKey& key) const;
  };

  /// Fills shares_.
  void Compute(const OpInstance& instance, ops::CoveredWork covered);

  std::unordered_map<SoloKey, ops::KernelShare, SoloKeyHash> solo_;
  std::vector<ops::InstanceKernel> kernels_;  // Scratch.
  std::vector<ops::KernelShare> shares_;      // Scratch.
};

/// Remembers charged work so that none is counted twice: closed calls, and work of calls done by
/// nested ones.
///
/// Memory: the last 32,768 to 65,536 calls, about 5 MB.
class GivenWork {
 public:
  /// Marks all work of a call as charged.
  void Spend(const CallKey& key) { calls_[key].spent = true; }
  bool IsSpent(const CallKey& key) const;

  /// Records what the row's call does of its enclosing calls. By the row's `outer`.
  void Cover(const WaitingRow& row, const CallKey& key);
  /// The part of the call's work done by nested calls.
  ops::CoveredWork CoveredOf(const CallKey& key) const;

 private:
  struct Given {
    bool spent = false;
    ops::CoveredWork covered;
  };
  static constexpr size_t kMaxCalls = 32768;

  RecentMap<CallKey, Given, CallKeyHash> calls_{kMaxCalls};
};

/// Groups kernels into op calls (instances) and divides each call's work among its kernels when the
/// call is closed. Kernels belong to one call by
///  - the forward op, for backward kernels with one: same process, thread, sequence id and run of
///    the forward op. A kernel of the same name and grid as an earlier one starts a new call (a
///    second backward pass over one forward pass) if kernels of other calls came in between on its
///    thread and stream, or if it is a matrix product and the call already has one per gradient;
///  - the start of the priced range, if recorded: same process, thread and start;
///  - otherwise (PyProf's files) their order: successive kernels on one thread and stream with the
///    same annotations, stack, sequence ids and direction. In the forward direction a repeated
///    kernel name starts a new call: loops over equal calls are more common than calls that launch
///    a kernel twice.
///
/// Work of nested calls is not charged again (ops::CoveredBy). A call is closed kWindow rows after
/// its last kernel; later kernels have unknown cost (kUnknownRole), so nothing is counted twice.
///
/// Memory: GivenWork's and InstanceSharer's, and the waiting rows.
class InstanceGrouper {
 public:
  static constexpr int64_t kWindow = 64;

  /// `before`: instances numbered so far.
  explicit InstanceGrouper(int64_t before) : count_(before) {}

  /// Adds the next row (record, row and resolution filled) and sets its number, turn and instance.
  void Enter(WaitingRow* row);
  /// Whether more kernels may join the row's call.
  bool IsOpen(const WaitingRow& row) const;
  /// Closes the row's call if open, which sets the costs of all its rows. Call once per row.
  void Leave(const WaitingRow& row);

  int64_t count() const { return count_; }

 private:
  /// The last call on a stream and its turn.
  struct StreamEnd {
    int64_t instance = 0;  // Number; 0: a row without one.
    int64_t turn = 0;
  };

  OpInstance* New(const WaitingRow& row);
  void JoinByKey(WaitingRow* row, const CallKey& key);
  void JoinByOrder(WaitingRow* row);
  void TakeTurn(WaitingRow* row);
  /// Whether fewer than kWindow rows followed its last kernel.
  bool MayGrow(const OpInstance& instance) const;
  /// Whether a backward row that matches the open call starts the next one.
  bool BeginsAgain(const OpInstance& instance, const WaitingRow& row) const;
  /// `comes_again`: the next row starts another call with the same key.
  void Close(OpInstance* instance, bool comes_again = false);

  std::vector<std::unique_ptr<OpInstance>> all_;  // In use or free.
  std::vector<OpInstance*> free_;
  std::unordered_map<CallKey, OpInstance*, CallKeyHash> open_;
  std::unordered_map<LaunchStream, OpInstance*, LaunchStreamHash>
      last_;  // Open instances without a key.
  std::unordered_map<LaunchStream, StreamEnd, LaunchStreamHash> ends_;
  GivenWork given_;
  InstanceSharer sharer_;
  int64_t next_number_ = 1;  // Number of the next row.
  int64_t count_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_GROUP_INSTANCES_H_
