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

/// Groups kernels by some of their columns and sums each group: one row per group once all kernels
/// have come. Memory grows with the groups, not the kernels (except the first
/// RepetitionFinder::kMaxKernels): about 300 bytes and the key texts per group, which groups of
/// several steps share. Constant time per kernel.
class Summary : public KernelSink {
 public:
  /// Number of the group of kernels that exceed the limits.
  static constexpr uint32_t kOther = BoundedGroups<GroupSums>::kOther;

  /// What another object keeps per group, by the groups' numbers.
  class Details {
   public:
    virtual ~Details() = default;
    /// Appends the cells of a row that shows these groups as one.
    virtual void Append(std::span<const uint32_t> groups, std::vector<Cell>* cells) const = 0;
  };

  /// Bounds on memory. Kernels of groups beyond them count in one more group, "(other)".
  using Limits = GroupLimits;

  /// `plan` must outlive this object.
  explicit Summary(const SummaryPlan* plan) : Summary(plan, Limits()) {}
  Summary(const SummaryPlan* plan, Limits limits);

  /// Shares a finder with other users of the same kernels. Call before the first kernel.
  void ShareRepetition(std::shared_ptr<RepetitionFinder> finder, size_t place) {
    repetition_ = std::move(finder);
    repetition_place_ = place;
  }

  /// With more groups than this it keeps none: cut(). Call before the first kernel.
  void KeepAtMost(size_t groups) { most_groups_ = groups; }

  void Add(const PricedKernel& row) override;
  /// Adds work that is no kernel: it is ignored when looking for repetitions.
  void AddWork(const PricedKernel& work);
  /// Adds a copy or memset to its group. Precondition: the plan's keys are of copies.
  void AddCopy(const CopyRow& copy);
  uint32_t last_group() const { return added_to_; }

  // Instead of Add(), for kernels whose sums are made once for several summaries:
  /// The number of the kernel's group, created on demand.
  uint32_t GroupOf(const PricedKernel& row);
  /// The number of what the kernel's group has besides its step. Precondition: ByStep().
  uint32_t StemOf(const PricedKernel& row);
  /// As AddWork(), for a kernel of this stem.
  void AddWorkOf(uint32_t stem, const PricedKernel& work);
  /// Counts the kernel's step, or looks for repetitions; after GroupOf() or AddWork(). Returns what
  /// RepetitionFinder::Add() does, kNone if it was not asked.
  uint32_t Follow(const PricedKernel& row);
  /// Likewise for a kernel of a kind that Follow() returned; `last`: in the last place.
  void FollowAlike(const PricedKernel& row, uint32_t kind, bool last);
  /// Adds the sums of kernels of a group.
  void AddSums(uint32_t group, const GroupSums& sums);
  /// Whether `step` is a key: each group is of one step, or of no known step.
  bool ByStep() const { return step_key_.has_value(); }

  /// All replays form one group, "(graph replay)", whatever the keys: their times are spans.
  bool AddReplay(const PricedKernel& row) override;

  /// Writes the first `top` groups (0: all) in `order`, then "(N more)", the sum of the rest, then
  /// "(other)". "(graph replay)" is never folded into "(N more)". Ties and groups with unknown
  /// cells come by time, largest first, unknown ones last; equal times by key. `details`: cells
  /// appended to the plan's; null for none.
  void Write(const RowOrder& order, size_t top, Sink* sink, const Details* details = nullptr);

  /// Writes only groups that match, and counts only these in "(N more)". `condition`: read with the
  /// fields of the plan, then those of the details; null for none.
  void ShowOnly(std::shared_ptr<const Condition> condition) { condition_ = std::move(condition); }
  /// After Write(): the number of groups and of matching groups.
  const MatchCount& matched() const { return matched_; }

  /// Call after the last kernel of a rank: finds its steps if none is named. Otherwise Write() does
  /// it.
  void FindSteps();
  /// Adds the groups of another summary of the same plan, after its FindSteps(). Returns the number
  /// here of each of its groups.
  std::vector<uint32_t> Merge(const Summary& other);

  /// Precondition: FindSteps() was called.
  void Save(ByteWriter* bytes) const;
  /// Adds the groups of a saved summary of the same plan. Returns the number here of each.
  std::vector<uint32_t> Load(ByteReader* bytes);

  /// After Write(): what a reader of the rows must know.
  std::vector<std::string> Notes() const;

  size_t group_count() const { return groups_.size(); }
  /// Whether there were more groups than KeepAtMost() allows: all is in kOther, and Write() must
  /// not be called.
  bool cut() const { return cut_; }

 private:
  struct NoSums {};
  class KeyReader;

  /// Sets values_ from the columns.
  template <typename Item>
  void EncodeValues(const Columns<Item>& columns, const Item& item);
  void SaveKey(std::string_view key, ByteWriter* bytes) const;
  /// Sets values_; returns the step.
  std::optional<int64_t> LoadKey(ByteReader* bytes);
  /// The values of a key, and the step.
  std::pair<std::string_view, std::optional<int64_t>> SplitKey(std::string_view key) const;
  void AddToGroup(uint32_t group, const PricedKernel& work);
  void CountStep(int64_t step);
  // The number of a group, created on demand:
  /// with values_ and, if that is a key, the step;
  uint32_t NumberOf(std::optional<int64_t> step);
  /// of a stem. Precondition: ByStep().
  uint32_t NumberOf(uint32_t stem, std::optional<int64_t> step);
  uint32_t NumberOfKey(std::string_view key, size_t key_bytes);
  void Cut();
  /// If no step is named, uses the sequence of kernels that repeats.
  void FindRepeatedSteps();
  // Shown are groups_, and one more if there are replays.
  size_t shown_groups() const { return groups_.size() + (replays_.kernels > 0 ? 1 : 0); }
  bool IsReplay(size_t group) const { return group == groups_.size(); }
  const GroupSums& SumsOf(uint32_t group) const {
    return IsReplay(group) ? replays_ : groups_[group];
  }
  /// Compares keys by the first differing value; unknown values come last.
  bool KeyBefore(std::string_view a, std::string_view b) const;
  /// The groups that match, in `order`.
  std::vector<uint32_t> Sorted(const RowOrder& order);
  SummaryRow RowOf(uint32_t group) const;
  /// Sets cells_ to a row that shows these groups.
  void FillCells(const SummaryRow& row, std::span<const uint32_t> groups);
  SummaryRow FoldedRow(const GroupSums& sums, std::string_view label, int64_t steps,
                       RowKind kind) const;
  SummaryRow ReplayRow() const;
  /// Number of steps of groups that are printed as one.
  int64_t StepsOf(std::span<const uint32_t> groups) const;

  const SummaryPlan& plan_;
  BoundedGroups<GroupSums> groups_;
  size_t most_groups_ = SIZE_MAX;
  bool cut_ = false;
  GroupSums replays_;
  GroupSums all_;
  // Of the current row: its keys but the step. They are the key of a group, unless `step` is one: a
  // run has many steps, so then the key is the number of their stem and the bytes of a known step.
  std::string values_;
  BoundedGroups<NoSums> stems_;
  std::string scratch_;  // Of EncodeValues().
  std::string formed_;   // Of EncodeValues().
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
  std::optional<size_t> step_key_;  // Index of `step` among the keys.
  std::shared_ptr<RepetitionFinder> repetition_ = std::make_shared<RepetitionFinder>();
  size_t repetition_place_ = 0;
  std::optional<Repetition> repeated_;
  bool steps_found_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_SUMMARY_H_
