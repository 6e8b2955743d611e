#ifndef OPLENS_PROF_PRICE_ROW_QUEUE_H_
#define OPLENS_PROF_PRICE_ROW_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ops/kernels/share_work.h"
#include "ops/op_model.h"
#include "parse/model/kernel_record.h"
#include "prof/price/op_resolver.h"
#include "prof/price/row.h"

namespace oplens::prof {

struct OpInstance;

/// A row that waits for the other kernels of its op call, with all that its views point to.
struct WaitingRow {
  std::string line;
  RecordReader reader;
  KernelRecord record;
  Row row;
  Resolution resolution;
  int64_t number = 0;  ///< Its place in the queue's order, from 1.
  int64_t turn = 0;    ///< The same for rows of one call that follow each other on a stream.
  OpInstance* instance = nullptr;
};

/// Groups the kernels of one op call (an instance) and shares the call's work over them, keeping
/// the order of the rows.
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
/// A call is closed, and its rows may leave, once kWindow rows came after its last kernel. A kernel
/// that comes later yet has an unknown cost (kUnknownRole), so that nothing is counted twice.
class RowQueue {
 public:
  /// An empty row to fill. It is the caller's until Push or Recycle.
  std::unique_ptr<WaitingRow> NewRow();
  /// Appends a row whose record, row and resolution are filled.
  void Push(std::unique_ptr<WaitingRow> row);
  /// Appends a graph replay, which is no call of an op.
  void PushReplay(std::unique_ptr<WaitingRow> row);
  /// The first row, with its cost, if its call is closed or too much waits; else null.
  std::unique_ptr<WaitingRow> PopReady();
  /// The first row whether its call is closed or not: at the end of the input. Null when empty.
  std::unique_ptr<WaitingRow> PopFirst();
  /// Takes a row's buffers back.
  void Recycle(std::unique_ptr<WaitingRow> row);

  /// Number of the first waiting row; that of the next one to come when none waits.
  int64_t FirstNumber() const { return waiting_.empty() ? next_number_ : waiting_.front()->number; }
  int64_t NextNumber() const { return next_number_; }
  /// Forgets what is keyed by texts of the resolver: call it before the resolver forgets texts.
  void ForgetTexts();

  static constexpr int64_t kWindow = 64;
  static constexpr size_t kMaxRows = 4096;
  static constexpr size_t kMaxBytes = size_t{8} << 20;

  /// `instances_before`: the number of calls that are numbered already.
  explicit RowQueue(int64_t instances_before = 0);
  ~RowQueue();

  int64_t instance_count() const { return instance_count_; }

 private:
  /// Names one call: a thread, and the beginning of the range or the sequence id on it.
  struct CallKey {
    int64_t process_id = 0;
    int64_t thread_id = 0;
    int64_t number = 0;
    const void* what = nullptr;  // The annotation, or the forward op.
    int64_t run = 0;             // Of the forward op, or of a replayed graph: when.
    friend bool operator==(const CallKey&, const CallKey&) = default;
  };
  struct StreamKey {
    int64_t process_id;
    int64_t thread_id;
    int64_t stream_id;
    friend bool operator==(const StreamKey&, const StreamKey&) = default;
  };
  /// A call of one kernel: what it costs depends on nothing else.
  struct SoloKey {
    const ops::PricedOp* price;
    const void* kernel;
    Direction direction;
    std::optional<ops::Part> part;
    friend bool operator==(const SoloKey&, const SoloKey&) = default;
  };
  /// The last call of a stream and its turn.
  struct StreamEnd {
    const OpInstance* instance = nullptr;
    int64_t turn = 0;
  };
  struct KeyHash {
    size_t operator()(const SoloKey& key) const;
    size_t operator()(const CallKey& key) const;
    size_t operator()(const StreamKey& key) const;
  };
  friend struct OpInstance;

  static bool FindCallKey(const WaitingRow& row, CallKey* key);
  OpInstance* NewInstance(const WaitingRow& row);
  void JoinByKey(WaitingRow* row, const CallKey& key);
  void JoinByOrder(WaitingRow* row);
  /// Whether fewer than kWindow rows came after its last kernel.
  bool MayGrow(const OpInstance& instance) const;
  /// `comes_again`: the next row begins another call of the same key.
  void Close(OpInstance* instance, bool comes_again = false);
  void Spend(const CallKey& key);
  /// Remembers what of the calls around the row's call this one does.
  void Cover(const WaitingRow& row, const CallKey& key);
  ops::CoveredWork CoveredOf(const CallKey& key) const;
  /// Whether a backward row that would join a call begins the next one.
  bool BeginsAgain(const OpInstance& instance, const WaitingRow& row) const;
  static StreamKey StreamOf(const KernelRecord& record);
  void Share(OpInstance* instance, ops::CoveredWork covered);
  void ShareSolo(OpInstance* instance);

  std::deque<std::unique_ptr<WaitingRow>> waiting_;
  std::vector<std::unique_ptr<WaitingRow>> free_rows_;
  std::vector<std::unique_ptr<OpInstance>> instances_;  // All, in use or free.
  std::vector<OpInstance*> free_instances_;
  std::unordered_map<CallKey, OpInstance*, KeyHash> open_;
  std::unordered_map<StreamKey, OpInstance*, KeyHash> last_;  // Open unkeyed call of each stream.
  /// Closed calls: their work is given away, so a kernel that comes late must not get it again. The
  /// last 32768 to 65536 calls.
  std::unordered_set<CallKey, KeyHash> spent_;
  std::unordered_set<CallKey, KeyHash> older_spent_;
  /// Calls around charged ones; bounded like the spent ones.
  std::unordered_map<CallKey, ops::CoveredWork, KeyHash> covered_;
  std::unordered_map<CallKey, ops::CoveredWork, KeyHash> older_covered_;
  std::unordered_map<StreamKey, StreamEnd, KeyHash> ends_;
  std::unordered_map<SoloKey, ops::KernelShare, KeyHash> solo_;
  std::vector<ops::InstanceKernel> kernels_;  // Scratch of Share.
  std::vector<ops::KernelShare> shares_;
  int64_t next_number_ = 1;
  int64_t instance_count_ = 0;
  size_t waiting_bytes_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PRICE_ROW_QUEUE_H_
