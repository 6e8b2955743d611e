#include "parse/records/pyprof_sequence.h"

#include <algorithm>
#include <string_view>

#include "parse/join/for_each_op.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_texts.h"
#include "parse/join/surroundings.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"

namespace oplens::parse {
namespace {

/// Recurrent cells that PyTorch runs as separate kernels of one "forward" call.
bool IsRecurrentCell(std::string_view mod) {
  return mod == "LSTMCell" || mod == "GRUCell" || mod == "RNNCell";
}

}  // namespace

/// What PyProf carries from one kernel of a thread to the next.
class PyProfSequence::Follower {
 public:
  explicit Follower(const Joined& joined) : joined_(joined) {}

  OfKernel Next(const Surroundings& around) {
    NumbersOf(joined_, around, &numbers_);
    if (numbers_.empty()) return {};
    int64_t current = numbers_.front();
    if (!around.backward) {
      const auto later = std::upper_bound(numbers_.begin(), numbers_.end(), number_);
      current = later == numbers_.end() ? number_ : *later;
    }
    ops_.clear();
    ForEachOp(joined_, around, [this](StringId op, StringId) { ops_.push_back(op); });
    const bool same_op = any_ && ops_ == previous_ops_;
    const bool again = same_op && (current == number_ || IsRecurrentForward(around));
    sub_sequence_ = again ? sub_sequence_ + 1 : 0;
    any_ = true;
    number_ = current;
    previous_ops_.swap(ops_);
    const auto chosen = std::lower_bound(numbers_.begin(), numbers_.end(), current);
    const bool is_own = chosen != numbers_.end() && *chosen == current;
    return {is_own ? static_cast<uint32_t>(chosen - numbers_.begin()) : kNone, sub_sequence_};
  }

 private:
  bool IsRecurrentForward(const Surroundings& around) const {
    const auto ops = joined_.RangesOf(around, Around::kOps);
    if (ops.empty()) return false;
    const RangeTexts::Text& text = joined_.calls().OpOf(ops.front());
    const StringPool& strings = joined_.trace().strings;
    return strings.View(text.op) == "forward" && IsRecurrentCell(strings.View(text.mod));
  }

  const Joined& joined_;
  bool any_ = false;
  int64_t number_ = -1;
  uint32_t sub_sequence_ = 0;
  std::vector<StringId> previous_ops_;
  std::vector<StringId> ops_;     // Of the kernel at hand.
  std::vector<int64_t> numbers_;  // The same.
};

PyProfSequence::PyProfSequence(const Joined& joined) : kernels_(joined.trace().kernels.size()) {
  for (size_t thread = 0; thread < joined.trace().threads.size(); ++thread) {
    Follower follower(joined);
    for (const WorkIndex work : joined.work().Of(static_cast<ThreadIndex>(thread))) {
      if (!joined.work().IsKernel(work)) continue;
      kernels_[work] = follower.Next(*joined.AroundOf(work));
    }
  }
}

void PyProfSequence::NumbersOf(const Joined& joined, const Surroundings& around,
                               std::vector<int64_t>* numbers) {
  numbers->clear();
  for (const uint32_t range : joined.RangesOf(around, Around::kSequences)) {
    numbers->push_back(joined.calls().SequenceOf(range).seq);
  }
  numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
  if (numbers->size() > 1 && numbers->front() == 0) numbers->erase(numbers->begin());
}

}  // namespace oplens::parse
