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
#include "prof/run/run.h"
#include "prof/views/collectives/collective_list.h"
#include "prof/views/collectives/collective_notes.h"
#include "prof/views/collectives/collective_sums.h"
#include "prof/views/collectives/group_kinds.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/saved_partial.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kGroupKindKey = "group_kind";
constexpr std::string_view kCollectivesKeys[] = {"kind",  "group", kGroupKindKey, "size",
                                                 "dtype", "rank",  "step"};
/// Kinds of groups are known from the trace too.
constexpr std::string_view kCollectivesKeysOfCalls[] = {"kind",  "group", "size",
                                                        "dtype", "rank",  "step"};

/// What a row's calls have in common; keys that --by does not name keep their defaults.
struct CollectivesKey {
  RankName rank;
  std::optional<int64_t> step;
  CollectiveKind kind = CollectiveKind::kUnknown;
  CollectiveGroup group;
  int64_t group_size = -1;
  GroupKind group_kind = GroupKind::kUnknown;  // From the group, once all calls are there.
  ops::DType dtype = ops::DType::kUnknown;
  int64_t size_bytes = -1;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rank, &self->step, &self->group, &self->group_size, &self->size_bytes);
    bytes->Word(&self->kind, static_cast<size_t>(CollectiveKind::kWait) + 1);
    bytes->Word(&self->dtype, static_cast<size_t>(ops::DType::kUnknown) + 1);
  }
};

/// Compares keys in the order of --by.
struct CollectivesKeyBefore {
  bool operator()(const CollectivesKey& a, const CollectivesKey& b) const;
  const std::vector<std::string>* by = nullptr;
  bool kinds_known = false;  // Kinds of groups; until then every group is its own kind.
};

bool CollectivesKeyBefore::operator()(const CollectivesKey& a, const CollectivesKey& b) const {
  for (const std::string& word : *by) {
    if (word == "rank" && a.rank != b.rank) return a.rank < b.rank;
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

using CollectivesRow = GroupRow<CollectivesKey, CollectiveSums>;

/// A sum over `count` calls; unknown if there are none.
template <auto count, auto sum>
Cell KnownOf(const CollectivesRow& row) {
  return row.sums.*count > 0 ? CellOf(row.sums.*sum) : Cell{};
}

constexpr struct {
  std::string_view word;  ///< Word of --by.
  Column<CollectivesRow> column;
} kCollectivesKeyColumns[] = {
    {"rank", {kRankField, [](const CollectivesRow& row) { return CellOf(row.key.rank); }}},
    {"step", {kStepField, [](const CollectivesRow& row) { return Integer(row.key.step); }}},
    {"kind",
     {kCollectiveKindField,
      [](const CollectivesRow& row) { return Text(CollectiveWord(row.key.kind)); }}},
    {"group",
     {kCollectiveGroupField, [](const CollectivesRow& row) { return Text(row.key.group.name); }}},
    {"group",
     {kCollectiveRanksField, [](const CollectivesRow& row) { return Text(row.key.group.ranks); }}},
    {"group",
     {kCollectiveGroupSizeField,
      [](const CollectivesRow& row) { return Integer(CollectiveKnown(row.key.group_size)); }}},
    {kGroupKindKey,
     {kCollectiveGroupKindField,
      [](const CollectivesRow& row) { return Text(GroupKindWord(row.key.group_kind)); }}},
    {"dtype",
     {kCollectiveDtypeField,
      [](const CollectivesRow& row) { return Text(ShownDType(row.key.dtype)); }}},
    {"size",
     {kCollectiveSizeField,
      [](const CollectivesRow& row) { return Integer(CollectiveKnown(row.key.size_bytes)); }}},
};

constexpr Column<CollectivesRow> kCollectivesColumns[] = {
    FigureColumn<&CollectiveSums::calls>{"calls", "Calls", "", 7,
                                         "number of calls, each on one rank"},
    FigureColumn<&CollectiveSums::matched>{"matched_calls", "Matched", "", 7,
                                           "calls whose wait is known"},
    {{"total_bytes", "Bytes(B)", "B", FieldType::kInteger, 13,
      "sum of the known sizes; unknown if none is known", Fold::kSum},
     KnownOf<&CollectiveSums::sized, &CollectiveSums::bytes>},
    {{"latency_ns", "Latency(ns)", "ns", FieldType::kInteger, 13,
      "sum of the known latencies = wait_ns + transfer_ns + unmatched_ns", Fold::kSum},
     KnownOf<&CollectiveSums::timed, &CollectiveSums::latency_ns>},
    {{"wait_ns", "Wait(ns)", "ns", FieldType::kInteger, 13,
      "wait of the matched calls; unknown if there are none", Fold::kSum},
     KnownOf<&CollectiveSums::matched, &CollectiveSums::wait_ns>},
    {{"transfer_ns", "Transfer(ns)", "ns", FieldType::kInteger, 13,
      "transfer time of the matched calls; unknown if there are none", Fold::kSum},
     KnownOf<&CollectiveSums::matched, &CollectiveSums::transfer_ns>},
    {{"unmatched_ns", "Unmatched(ns)", "ns", FieldType::kInteger, 13,
      "sum of the latencies of the other calls", Fold::kSum},
     KnownOf<&CollectiveSums::timed, &CollectiveSums::unmatched_ns>},
    {{"exposed_ns", "Exposed(ns)", "ns", FieldType::kInteger, 13,
      "sum of the known times in which the rank computes nothing", Fold::kSum},
     KnownOf<&CollectiveSums::exposed, &CollectiveSums::exposed_ns>},
    {{"algo_gbps", "Algo(GB/s)", "GB/s", FieldType::kDecimal, 10,
      "bytes / transfer time of the matched calls of known size"},
     [](const CollectivesRow& row) {
       return Decimal(GbPerSecond(static_cast<double>(row.sums.algo_bytes), row.sums.algo_ns));
     }},
    {{"bus_gbps", "Bus(GB/s)", "GB/s", FieldType::kDecimal, 10,
      "algo_gbps with the bytes of each call times its factor (prof -h --view collectives)"},
     [](const CollectivesRow& row) {
       return Decimal(GbPerSecond(row.sums.bus_bytes(), row.sums.bus_ns));
     }},
    {{"seen_gbps", "Seen(GB/s)", "GB/s", FieldType::kDecimal, 10,
      "bytes / latency of the calls of known size and latency"},
     [](const CollectivesRow& row) {
       return Decimal(GbPerSecond(static_cast<double>(row.sums.seen_bytes), row.sums.seen_ns));
     }},
};

/// Keys in the order of --by, then figures.
Columns<CollectivesRow> CollectivesColumns(const std::vector<std::string>& by) {
  Columns<CollectivesRow> columns;
  for (const std::string& word : by) {
    for (const auto& key : kCollectivesKeyColumns) {
      if (key.word == word) columns.push_back(&key.column);
    }
  }
  for (const Column<CollectivesRow>& column : kCollectivesColumns) columns.push_back(&column);
  return columns;
}

class Collectives : public SavedPartial<Collectives> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_, &self->runs_, &self->records_, &self->any_, &self->notes_);
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
      if (std::ranges::find(kCollectivesKeys, word) == std::end(kCollectivesKeys)) {
        throw UsageError(fmt::format("--by {}: the view collectives takes {}", word,
                                     fmt::join(kCollectivesKeys, ",")));
      }
    }
  }

  void Begin(const Run* run) override {
    (run == nullptr ? records_ : runs_) |= true;
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
    std::map<CallKey, CollectiveSums*>
        known;  // Avoids comparing names of groups, which may be long.
    for (const CollectiveRow& row : calls) {
      CollectiveSums*& sums = known[CallKeyOf(row)];
      if (sums == nullptr) sums = &groups_[KeyOf(row)];
      sums->Add(row);
    }
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Collectives&>(other);
    MergeInto(&ranks_, more.ranks_);
    MergeInto(&runs_, more.runs_);
    MergeInto(&records_, more.records_);
    MergeInto(&any_, more.any_);
    MergeInto(&notes_, more.notes_);
    MergeInto(&list_, more.list_);
    MergeInto(&kinds_, more.kinds_);
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
  /// The parts of a call of one rank that determine its key.
  using CallKey = std::tuple<const CollectiveGroup*, int64_t, uint32_t,
                             const CollectiveSet::Recording*, CollectiveKind, ops::DType, int64_t>;
  CallKey CallKeyOf(const CollectiveRow& row) const;

  std::vector<std::string> by_;
  CollectiveList list_;  // Without words of --by,
  std::map<CollectivesKey, CollectiveSums, CollectivesKeyBefore> groups_{
      CollectivesKeyBefore{&by_}};  // and with them.
  GroupKinds kinds_;                // For the key group_kind.
  CollectiveNotes notes_;
  Count ranks_;  // Ranks with calls here.
  Any runs_;
  Any records_;
  Any any_;
};

std::vector<Field> Collectives::Fields() const {
  const auto all = CollectiveCallFields();
  if (by_.empty()) return {all.begin(), all.end()};
  return FieldsOf(CollectivesColumns(by_));
}

CollectivesKey Collectives::KeyOf(const CollectiveRow& row) const {
  CollectivesKey key;
  if (IsBy("rank")) key.rank = RankName(*row.rank);
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
  if (by_.empty()) return list_.Emit(sink);
  TableOf<CollectivesRow> table(CollectivesColumns(by_), sink);
  if (!IsBy(kGroupKindKey)) {
    for (const auto& [key, sums] : groups_) table.Add({key, sums});
    return;
  }
  std::map<CollectivesKey, CollectiveSums, CollectivesKeyBefore> groups(
      CollectivesKeyBefore{&by_, true});
  for (const auto& [key, sums] : groups_) {
    CollectivesKey known = key;
    known.group_kind = kinds_.Of(key.group);
    MergeInto(&groups[known], sums);
  }
  for (const auto& [key, sums] : groups) table.Add({key, sums});
}

std::vector<std::string> Collectives::Notes() const {
  std::vector<std::string> notes;
  if (records_) {
    notes.emplace_back("collectives: records do not hold this: give the profile itself");
  }
  if (!any_) {
    if (runs_) notes.emplace_back("collectives: the profile holds none");
    return notes;
  }
  return notes_.SentencesBehind(std::move(notes), "collectives",
                                static_cast<size_t>(int64_t{ranks_}));
}

}  // namespace

extern constexpr View kCollectivesView = {
    .name = "collectives",
    .help = "each call of a collective: size, wait, transfer, bandwidth",
    .fields = CollectiveCallFields,
    .make = MakePartial<Collectives>,
    .by = kCollectivesKeys,
    .by_of_calls = kCollectivesKeysOfCalls,
    .narrow = "exposed_ns,latency_ns,wait_ns,transfer_ns,bus_gbps",
    .important =
        "kind,exposed_ns,latency_ns,bus_gbps,size_bytes,wait_ns,rank,step,transfer_ns,start_ns,"
        "group,match",
    .may_be_empty = true,
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof
