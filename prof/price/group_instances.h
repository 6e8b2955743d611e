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

/// Names one call of an op. Numbers of annotations and of forward ops are apart, as are those of
/// nodes and sequence ids: `by` says which are meant.
struct CallKey {
  enum class By : uint8_t {
    kRange,     ///< The range of an annotation and when it began.
    kNode,      ///< A forward op and the number of its node.
    kSequence,  ///< A forward op and a sequence id, which may come again.
  };
  By by = By::kRange;
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int64_t number = 0;  ///< Start of the range, number of the node or sequence id.
  int64_t what = 0;    ///< Annotation::id or ForwardOp::id.
  int64_t run = 0;     ///< Of the node or forward op; of a replayed graph: when.
  friend bool operator==(const CallKey&, const CallKey&) = default;
};

/// Of the call that a row is of. nullopt: the row has no price, or only the order of the rows tells
/// what is one call.
std::optional<CallKey> CallKeyOf(const WaitingRow& row);
/// Of a call around the one of `key`.
CallKey AroundKey(const CallKey& key, const OuterCall& outer);

/// What a host thread launches on a stream.
struct StreamKey {
  int64_t process_id = 0;
  int64_t thread_id = 0;
  int64_t stream_id = 0;
  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

StreamKey StreamKeyOf(const KernelRecord& record);

struct CallKeyHash {
  size_t operator()(const CallKey& key) const;
};
struct StreamKeyHash {
  size_t operator()(const StreamKey& key) const;
};

/// The kernels of one op call that came so far.
struct OpInstance {
  const ops::PricedOp* price = nullptr;  ///< Lives as long as one of the rows waits.
  int64_t annotation_id = 0;             ///< Of the annotation that it is the price of.
  Direction direction = Direction::kForward;
  std::vector<WaitingRow*> rows;
  int64_t number = 0;       ///< Over all, from 1.
  size_t left = 0;          ///< Rows that wait.
  size_t products = 0;      ///< Matrix products among its rows; counted for backward calls.
  int64_t last_number = 0;  ///< Of its last row.
  bool closed = false;
  // Where it is found while it is open: one of these.
  std::optional<CallKey> key;
  std::optional<StreamKey> stream;
};

/// Whether the kernel is a matrix product, by its name or a rule of the user.
bool IsProduct(const WaitingRow& row);

/// Shares the work of op calls over their kernels, and fills what of their rows depends on it.
///
/// Memory: what calls of one kernel cost is remembered for the last 16,384 at most, some 4 MB.
class InstanceSharer {
 public:
  /// `covered`: what of its work calls inside it do.
  void Share(const OpInstance& instance, ops::CoveredWork covered);

 private:
  /// A call of one kernel: what it costs depends on nothing else.
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

/// Remembers which work kernels were charged already, so that none is counted twice: calls that are
/// closed, and what calls inside others did of their work.
///
/// Memory: the last 32,768 to 65,536 calls, some 5 MB.
class GivenWork {
 public:
  /// All of a call's work is given away.
  void Spend(const CallKey& key) { calls_[key].spent = true; }
  bool IsSpent(const CallKey& key) const;

  /// What of the calls around a row's call that one does. Needs the row's resolution.outer.
  void Cover(const WaitingRow& row, const CallKey& key);
  /// What calls inside this one do of it.
  ops::CoveredWork CoveredOf(const CallKey& key) const;

 private:
  struct Given {
    bool spent = false;
    ops::CoveredWork covered;
  };
  static constexpr size_t kMaxCalls = 32768;

  RecentMap<CallKey, Given, CallKeyHash> calls_{kMaxCalls};
};

/// Groups kernels into calls of ops (instances), and shares the work of each call over its kernels
/// when it is closed.
///
/// Which kernels are one call:
///  - a backward kernel with a forward op: same process, thread, sequence id and run of the forward
///    op. A kernel of the same name and grid as one before begins a new call (a second backward
///    pass over one forward pass) if kernels of other calls came in between on its thread and
///    stream, or if it is a matrix product and the call has one for each gradient already;
///  - a record that says when the priced range began: same process, thread and beginning;
///  - else (PyProf's files) there is nothing that names a call: kernels that follow each other on
///    one thread and stream with the same annotations, stack, sequence ids and direction. In the
///    forward direction a kernel name that was there already begins a new call, since a loop over
///    equal calls is more common than a call that launches one kernel twice.
/// Work that calls nested in a call were given is not given to the call again (ops::CoveredBy).
/// A call is closed once kWindow rows came after its last kernel. A kernel that comes later yet has
/// an unknown cost (kUnknownRole), so that nothing is counted twice.
///
/// Memory: that of GivenWork and InstanceSharer, and of the rows that wait.
class InstanceGrouper {
 public:
  static constexpr int64_t kWindow = 64;

  /// `before`: how many are numbered already.
  explicit InstanceGrouper(int64_t before) : count_(before) {}

  /// Takes in the next row, whose record, row and resolution are filled: sets its number, turn and
  /// instance.
  void Enter(WaitingRow* row);
  /// Whether another kernel may yet join the row's call.
  bool IsOpen(const WaitingRow& row) const;
  /// Closes the row's call if it is open, which gives all its rows their costs. The row must not be
  /// asked for again.
  void Leave(const WaitingRow& row);

  int64_t count() const { return count_; }

 private:
  /// The last call of a stream and its turn.
  struct StreamEnd {
    int64_t instance = 0;  // Its number; 0: a row without one.
    int64_t turn = 0;
  };

  OpInstance* New(const WaitingRow& row);
  void JoinByKey(WaitingRow* row, const CallKey& key);
  void JoinByOrder(WaitingRow* row);
  /// Sets the row's turn.
  void TakeTurn(WaitingRow* row);
  /// Whether fewer than kWindow rows came after its last kernel.
  bool MayGrow(const OpInstance& instance) const;
  /// Whether a backward row that would join a call begins the next one.
  bool BeginsAgain(const OpInstance& instance, const WaitingRow& row) const;
  /// `comes_again`: the next row begins another call of the same key.
  void Close(OpInstance* instance, bool comes_again = false);

  std::vector<std::unique_ptr<OpInstance>> all_;  // In use or free.
  std::vector<OpInstance*> free_;
  std::unordered_map<CallKey, OpInstance*, CallKeyHash> open_;
  std::unordered_map<StreamKey, OpInstance*, StreamKeyHash> last_;  // Open one without a key.
  std::unordered_map<StreamKey, StreamEnd, StreamKeyHash> ends_;
  GivenWork given_;
  InstanceSharer sharer_;
  int64_t next_number_ = 1;  // Of rows.
  int64_t count_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_GROUP_INSTANCES_H_
