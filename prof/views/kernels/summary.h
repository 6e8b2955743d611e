#ifndef OPLENS_PROF_VIEWS_KERNELS_SUMMARY_H_
#define OPLENS_PROF_VIEWS_KERNELS_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/id_map.h"
#include "prof/price/kernel_sink.h"
#include "prof/table/sink_chain.h"
#include "prof/views/common/bounded_groups.h"
#include "prof/views/common/repetition.h"
#include "prof/views/kernels/summary_columns.h"
#include "prof/where/row_filter.h"

namespace oplens::prof {

/// Groups kernels by some of their columns and sums over each group: one row a group once all have
/// come. Memory grows with the groups, not with the rows
/// (but for the first RepetitionFinder::kMaxKernels): about 400 bytes and the texts of its keys a
/// group. Each row takes constant time.
class Summary : public KernelSink {
 public:
  /// Number of the group of kernels that came once there were too many.
  static constexpr uint32_t kOther = BoundedGroups<GroupSums>::kOther;

  /// What another keeps of groups, by their numbers.
  class Details {
   public:
    virtual ~Details() = default;
    /// Appends the cells of a row that shows these groups as one.
    virtual void Append(std::span<const uint32_t> groups, std::vector<Cell>* cells) const = 0;
  };

  /// What bounds memory. Kernels of groups that come once there are so many count in one more
  /// group, "(other)".
  using Limits = GroupLimits;

  /// `plan` must outlive this object.
  explicit Summary(const SummaryPlan* plan) : Summary(plan, Limits()) {}
  Summary(const SummaryPlan* plan, Limits limits);

  /// Looks for what repeats together with others that get the same kernels: before the first one.
  void ShareRepetition(std::shared_ptr<RepetitionFinder> finder, size_t place) {
    repetition_ = std::move(finder);
    repetition_place_ = place;
  }

  /// Adds a kernel to its group.
  void Add(const PricedKernel& row) override;
  /// Adds work that is no kernel: it has no part in what repeats.
  void AddWork(const PricedKernel& work);
  /// Adds a copy or fill to its group, of a plan whose keys are those of copies.
  void AddCopy(const CopyRow& copy);
  /// The number of the group that the last kernel was added to.
  uint32_t last_group() const { return added_to_; }
  /// All replays are one group, "(graph replay)", whatever the keys: its times are spans.
  bool AddReplay(const PricedKernel& row) override;

  /// Writes the groups: the first `top` of them in the order asked for (0: all),
  /// then "(N more)", the sum of the others but "(graph replay)", which is never left out, then
  /// "(other)". Equal ones and those whose cell is
  /// unknown come by time, largest first, the unknown ones behind the others; of equal times by
  /// their keys.
  /// `details`: of further cells behind those of the plan; null for none.
  void Write(const RowOrder& order, size_t top, Sink* sink, const Details* details = nullptr);

  /// Only groups that match are written, and counted in "(N more)". `condition`: read with the
  /// fields of the plan and, behind them, those of the details; null for none.
  void ShowOnly(std::shared_ptr<const Condition> condition) { condition_ = std::move(condition); }
  /// After Write(): how many groups there are, and how many match.
  const MatchCount& matched() const { return matched_; }

  /// After the last kernel of a rank: finds its steps where none is named. Write() does it else.
  void FindSteps();
  /// Takes over the groups of another summary of the same plan, whose steps are found.
  /// Answers the own number of each of its groups.
  std::vector<uint32_t> Merge(const Summary& other);

  /// After FindSteps().
  void Save(ByteWriter* bytes) const;
  /// Takes over the groups of one of the same plan that was saved. Answers the own number of each.
  std::vector<uint32_t> Load(ByteReader* bytes);

  /// After Write(): what a reader of the rows must know.
  std::vector<std::string> Notes() const;

  size_t group_count() const { return groups_.size(); }

 private:
  /// Fills key_ with the values of the columns.
  template <typename Item>
  void EncodeKey(const Columns<Item>& columns, const Item& item);
  void SaveKey(std::string_view key, ByteWriter* bytes) const;
  /// Fills key_.
  void LoadKey(ByteReader* bytes);
  /// Adds to the group of key_.
  void AddToGroup(const PricedKernel& work);
  void CountStep(int64_t step);
  /// Where no step is named: takes the sequence of kernels that repeats.
  void FindRepeatedSteps();
  // Shown are groups_, and one more where there are replays.
  size_t shown_groups() const { return groups_.size() + (replays_.kernels > 0 ? 1 : 0); }
  bool IsReplay(size_t group) const { return group == groups_.size(); }
  const GroupSums& SumsOf(uint32_t group) const {
    return IsReplay(group) ? replays_ : groups_[group];
  }
  /// The order of keys: the first value that is another decides, unknown ones come last.
  bool KeyBefore(std::string_view a, std::string_view b) const;
  /// The groups that match.
  std::vector<uint32_t> Sorted(const RowOrder& order);
  SummaryRow RowOf(uint32_t group) const;
  /// Fills cells_ with those of a row that shows these groups.
  void FillCells(const SummaryRow& row, std::span<const uint32_t> groups);
  SummaryRow FoldedRow(const GroupSums& sums, std::string_view label, int64_t steps,
                       RowKind kind) const;
  SummaryRow ReplayRow() const;
  /// Whether each group is of one step, or of none that is known.
  bool ByStep() const { return step_key_.has_value(); }
  /// Of the groups that are printed as one.
  int64_t StepsOf(std::span<const uint32_t> groups) const;

  const SummaryPlan& plan_;
  BoundedGroups<GroupSums> groups_;
  GroupSums replays_;
  GroupSums all_;
  std::string key_;      // Of the row at hand.
  std::string scratch_;  // Of EncodeKey().
  std::string formed_;   // The same.
  std::vector<Cell> cells_;
  uint32_t added_to_ = kOther;
  const Details* details_ = nullptr;  // While Write() runs.
  std::shared_ptr<const Condition> condition_;
  MatchCount matched_;
  IdMap steps_;
  std::vector<int64_t> step_numbers_;  // The keys of steps_.
  std::optional<int64_t> last_step_;
  bool too_many_steps_ = false;
  int64_t step_count_ = 0;
  std::optional<size_t> step_key_;  // Place of `step` among the keys.
  std::shared_ptr<RepetitionFinder> repetition_ = std::make_shared<RepetitionFinder>();
  size_t repetition_place_ = 0;
  std::optional<Repetition> repeated_;
  bool steps_found_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_SUMMARY_H_
