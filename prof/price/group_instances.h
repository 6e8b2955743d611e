#ifndef OPLENS_PROF_PRICE_GROUP_INSTANCES_H_
#define OPLENS_PROF_PRICE_GROUP_INSTANCES_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "prof/price/given_work.h"
#include "prof/price/op_instance.h"
#include "prof/price/share_instance.h"

namespace oplens::prof {

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
