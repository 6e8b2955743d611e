#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/byte_map.h"
#include "base/error.h"
#include "base/saturating.h"
#include "prof/run/run.h"
#include "prof/views/collective_fields.h"
#include "prof/views/collective_list.h"
#include "prof/views/collective_notes.h"
#include "prof/views/collective_sums.h"
#include "prof/views/group_kinds.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kGroupKindKey = "group_kind";
constexpr std::string_view kCollectivesKeys[] = {"kind",  "group", kGroupKindKey, "size",
                                                 "dtype", "rank",  "step"};

std::optional<int64_t> CollectivesKnown(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

/// What calls that are alike have in common; what is not asked for is the same of all.
struct CollectivesKey {
  std::string rank;
  std::optional<int64_t> step;
  CollectiveKind kind = CollectiveKind::kUnknown;
  CollectiveGroup group;
  int64_t group_size = -1;
  GroupKind group_kind = GroupKind::kUnknown;  // Known when all calls are there, by the group.
  ops::DType dtype = ops::DType::kUnknown;
  int64_t size_bytes = -1;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rank, &self->step, &self->group, &self->group_size, &self->size_bytes);
    bytes->Word(&self->kind, static_cast<size_t>(CollectiveKind::kWait) + 1);
    bytes->Word(&self->dtype, static_cast<size_t>(ops::DType::kUnknown) + 1);
  }
};

/// Orders by the keys in the order of --by.
struct CollectivesKeyBefore {
  bool operator()(const CollectivesKey& a, const CollectivesKey& b) const;
  const std::vector<std::string>* by = nullptr;
  bool kinds_known = false;  // Of groups; until then each group is one for itself.
};

bool CollectivesKeyBefore::operator()(const CollectivesKey& a, const CollectivesKey& b) const {
  for (const std::string& word : *by) {
    if (word == "rank" && a.rank != b.rank) return RankBefore()(a.rank, b.rank);
    if (word == "step" && a.step != b.step) return a.step < b.step;
    if (word == "kind" && a.kind != b.kind) return a.kind < b.kind;
    if (word == "group" && a.group != b.group) return a.group < b.group;
    if (word == "group" && a.group_size != b.group_size) return a.group_size < b.group_size;
    if (word == kGroupKindKey && !kinds_known && a.group != b.group) return a.group < b.group;
    if (word == kGroupKindKey && a.group_kind != b.group_kind) return a.group_kind < b.group_kind;
    if (word == "dtype" && a.dtype != b.dtype) return a.dtype < b.dtype;
    if (word == "size" && a.size_bytes != b.size_bytes) return a.size_bytes < b.size_bytes;
  }
  return false;
}

class Collectives : public SavedPartial<Collectives> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->ranks_);
    bytes->Values(&self->runs_, &self->records_, &self->any_, &self->notes_);
    if (self->by_.empty()) {
      bytes->Values(&self->list_);
    } else {
      TransferMap(bytes, &self->groups_, [self](const auto& key, const auto& sums) {
        MergeInto(&self->groups_[key], sums);
      });
    }
    if (self->IsBy(kGroupKindKey)) bytes->Values(&self->kinds_);
  }

  explicit Collectives(const ViewOptions& options) : by_(options.by) {
    for (const std::string& word : by_) {
      if (CollectiveKeyFields(word).empty()) {
        throw UsageError(fmt::format("--by {}: the view collectives takes {}", word,
                                     fmt::join(kCollectivesKeys, ",")));
      }
    }
  }

  void Begin(const Run* run) override {
    (run == nullptr ? records_ : runs_) = true;
    if (run != nullptr && IsBy(kGroupKindKey)) kinds_.Add(run->trace());
  }
  void AddCalls(std::span<const CollectiveRow> calls) override {
    ++ranks_;
    notes_.Add(calls);
    any_ |= !calls.empty();
    if (by_.empty()) {
      list_.Add(calls);
      return;
    }
    if (IsBy(kGroupKindKey)) kinds_.AddCalls(calls);
    std::map<CallKey, CollectiveSums*> known;  // The names of groups may be long.
    for (const CollectiveRow& row : calls) {
      CollectiveSums*& sums = known[CallKeyOf(row)];
      if (sums == nullptr) sums = &groups_[KeyOf(row)];
      sums->Add(row);
    }
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Collectives&>(other);
    SaturatingAdd(&ranks_, more.ranks_);
    runs_ |= more.runs_;
    records_ |= more.records_;
    any_ |= more.any_;
    notes_.Merge(more.notes_);
    list_.Merge(more.list_);
    kinds_.Merge(more.kinds_);
    MergeInto(&groups_, more.groups_);
  }
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  bool IsBy(std::string_view word) const {
    return std::find(by_.begin(), by_.end(), word) != by_.end();
  }
  CollectivesKey KeyOf(const CollectiveRow& row) const;
  /// All that tells the key of a call of one rank.
  using CallKey = std::tuple<const CollectiveGroup*, int64_t, uint32_t,
                             const CollectiveSet::Recording*, CollectiveKind, ops::DType, int64_t>;
  CallKey CallKeyOf(const CollectiveRow& row) const;
  void EmitSums(const CollectivesKey& key, const CollectiveSums& sums, Sink* sink) const;

  std::vector<std::string> by_;
  CollectiveList list_;  // Without words of --by,
  std::map<CollectivesKey, CollectiveSums, CollectivesKeyBefore> groups_{
      CollectivesKeyBefore{&by_}};  // and with them.
  GroupKinds kinds_;                // With the word for them.
  CollectiveNotes notes_;
  int64_t ranks_ = 0;  // Whose calls are here.
  bool runs_ = false;
  bool records_ = false;
  bool any_ = false;
};

std::vector<Field> Collectives::Fields() const {
  const auto all = CollectiveCallFields();
  if (by_.empty()) return {all.begin(), all.end()};
  std::vector<Field> fields;
  for (const std::string& word : by_) {
    for (const Field& field : CollectiveKeyFields(word)) fields.push_back(field);
  }
  const auto sums = CollectiveSumFields();
  fields.insert(fields.end(), sums.begin(), sums.end());
  return fields;
}

CollectivesKey Collectives::KeyOf(const CollectiveRow& row) const {
  CollectivesKey key;
  if (IsBy("rank")) key.rank = *row.rank;
  if (IsBy("step")) key.step = row.step();
  if (IsBy("kind")) key.kind = row.call.kind;
  if (IsBy("group") || IsBy(kGroupKindKey)) key.group = *row.group;
  if (IsBy("group")) key.group_size = row.group_size();
  if (IsBy("dtype")) key.dtype = row.call.dtype;
  if (IsBy("size")) key.size_bytes = row.call.size_bytes;
  return key;
}

Collectives::CallKey Collectives::CallKeyOf(const CollectiveRow& row) const {
  const CollectiveSet::Call& call = row.call;
  const bool step = IsBy("step");
  return {row.group,
          row.group_size(),
          step ? call.step : 0,
          step ? row.recording : nullptr,
          call.kind,
          call.dtype,
          IsBy("size") ? call.size_bytes : 0};
}

void Collectives::Emit(Sink* sink) const {
  if (by_.empty()) list_.Emit(sink);
  if (!IsBy(kGroupKindKey)) {
    for (const auto& [key, sums] : groups_) EmitSums(key, sums, sink);
    return;
  }
  std::map<CollectivesKey, CollectiveSums, CollectivesKeyBefore> groups(
      CollectivesKeyBefore{&by_, true});
  for (const auto& [key, sums] : groups_) {
    CollectivesKey known = key;
    known.group_kind = kinds_.Of(key.group);
    MergeInto(&groups[known], sums);
  }
  for (const auto& [key, sums] : groups) EmitSums(key, sums, sink);
}

void Collectives::EmitSums(const CollectivesKey& key, const CollectiveSums& sums,
                           Sink* sink) const {
  std::vector<Cell> cells;
  for (const std::string& word : by_) {
    if (word == "rank") cells.push_back(Text(key.rank));
    if (word == "step") cells.push_back(Integer(key.step));
    if (word == "kind") cells.push_back(Text(CollectiveWord(key.kind)));
    if (word == kGroupKindKey) cells.push_back(Text(GroupKindWord(key.group_kind)));
    if (word == "dtype") cells.push_back(Text(ShownDType(key.dtype)));
    if (word == "size") cells.push_back(Integer(CollectivesKnown(key.size_bytes)));
    if (word != "group") continue;
    cells.push_back(Text(key.group.name));
    cells.push_back(Text(key.group.ranks));
    cells.push_back(Integer(CollectivesKnown(key.group_size)));
  }
  const auto of = [](int64_t count, int64_t value) { return count > 0 ? Cell{value} : Cell{}; };
  cells.push_back(Cell{int64_t{sums.calls}});
  cells.push_back(Cell{int64_t{sums.matched}});
  cells.push_back(of(sums.sized, sums.bytes));
  cells.push_back(of(sums.timed, sums.latency_ns));
  cells.push_back(of(sums.matched, sums.wait_ns));
  cells.push_back(of(sums.matched, sums.transfer_ns));
  cells.push_back(of(sums.timed, sums.unmatched_ns));
  cells.push_back(of(sums.exposed, sums.exposed_ns));
  cells.push_back(Decimal(GbPerSecond(static_cast<double>(sums.algo_bytes), sums.algo_ns)));
  cells.push_back(Decimal(GbPerSecond(sums.bus_bytes(), sums.bus_ns)));
  cells.push_back(Decimal(GbPerSecond(static_cast<double>(sums.seen_bytes), sums.seen_ns)));
  sink->Row(cells);
}

std::vector<std::string> Collectives::Notes() const {
  std::vector<std::string> notes;
  if (records_) {
    notes.emplace_back("collectives: records do not tell this: give the profile itself");
  }
  if (!any_) {
    if (runs_) notes.emplace_back("collectives: the profile holds none");
    return notes;
  }
  for (std::string& note : notes_.Sentences("collectives", static_cast<size_t>(ranks_)))
    notes.push_back(std::move(note));
  return notes;
}

}  // namespace

constexpr View kCollectivesView = {
    .name = "collectives",
    .help = "each call of a collective: size, waiting, transfer, bandwidth",
    .fields = CollectiveCallFields,
    .make = MakePartial<Collectives>,
    .by = kCollectivesKeys,
    .narrow = "latency_ns,wait_ns,transfer_ns,bus_gbps",
    .important =
        "kind,latency_ns,bus_gbps,size_bytes,wait_ns,rank,step,transfer_ns,start_ns,group,match",
    .may_be_empty = true,
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof
