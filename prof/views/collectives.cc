#include "prof/views/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/views/collective_fields.h"
#include "prof/views/collective_matches.h"
#include "prof/views/collective_sums.h"
#include "prof/views/saved_partial.h"
#include "prof/views/tb_distributed.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kKeys[] = {"kind", "group", "size", "dtype", "rank", "step"};

std::optional<int64_t> Known(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

std::optional<double> AsDouble(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(static_cast<double>(value));
}

std::string_view WordOf(CollectiveTime time) {
  constexpr std::string_view kWords[] = {"kernel", "host", "enqueue"};
  return kWords[static_cast<size_t>(time)];
}

std::string_view WordOf(CollectiveMatch match) {
  constexpr std::string_view kWords[] = {"unmatched", "alone", "sequence", "order"};
  return kWords[static_cast<size_t>(match)];
}

std::string_view WordOf(ops::DType dtype) {
  return dtype == ops::DType::kUnknown ? std::string_view() : ops::DTypeWord(dtype);
}

/// How far its start is from the first event.
int64_t StartOf(const CollectiveRow& row) {
  int64_t since_ns = 0;
  return __builtin_sub_overflow(row.call->start_ns, row.recording->origin_ns, &since_ns) ? INT64_MAX
                                                                                         : since_ns;
}

std::vector<Cell> CellsOf(const CollectiveRow& row) {
  const CollectiveSet::Call& call = *row.call;
  const CollectiveShare& share = row.share;
  const int64_t group_size = row.group_size();
  const auto algo = GbPerSecond(AsDouble(call.size_bytes), share.transfer_ns);
  const auto factor = BusFactor(call.kind, group_size);
  return {Text(*row.rank),
          Integer(row.step()),
          Integer(StartOf(row)),
          Text(CollectiveWord(call.kind)),
          Text(row.group->name),
          Text(row.group->ranks),
          Integer(Known(group_size)),
          Integer(Known(call.sequence)),
          Text(WordOf(call.dtype)),
          Integer(Known(call.size_bytes)),
          Text(WordOf(call.time)),
          Integer(Known(call.latency_ns)),
          Integer(Known(row.wait_ns())),
          Integer(Known(share.transfer_ns)),
          Integer(Known(call.exposed_ns)),
          Decimal(algo),
          algo && factor ? Cell{*algo * *factor} : Cell{},
          Decimal(GbPerSecond(AsDouble(call.size_bytes), call.latency_ns)),
          Integer(int64_t{share.ranks}),
          Text(WordOf(share.match)),
          Integer(share.clock_ns),
          Integer(share.residual_ns)};
}

/// What calls that are alike have in common; what is not asked for is the same of all.
struct Key {
  std::string rank;
  std::optional<int64_t> step;
  CollectiveKind kind = CollectiveKind::kUnknown;
  CollectiveGroup group;
  int64_t group_size = -1;
  ops::DType dtype = ops::DType::kUnknown;
  int64_t size_bytes = -1;
};

class Collectives : public SavedPartial<Collectives> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->set_, &self->records_, &self->any_);
  }

  explicit Collectives(const ViewOptions& options) : by_(options.by) {
    for (const std::string& word : by_) {
      if (CollectiveKeyFields(word).empty()) {
        throw UsageError(
            fmt::format("--by {}: the view collectives takes {}", word, fmt::join(kKeys, ",")));
      }
    }
  }

  void Begin(const Run* run) override { records_ |= run == nullptr; }
  void End(const Run* run) override {
    if (run == nullptr) return;
    matches_.reset();
    set_.Add(*run);
    any_ |= !run->collectives().empty();
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Collectives&>(other);
    matches_.reset();
    set_.Merge(more.set_);
    records_ |= more.records_;
    any_ |= more.any_;
  }
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  bool IsBy(std::string_view word) const {
    return std::find(by_.begin(), by_.end(), word) != by_.end();
  }
  const CollectiveMatches& Matches() const {
    if (!matches_) matches_.emplace(set_);
    return *matches_;
  }
  Key KeyOf(const CollectiveRow& row) const;
  /// Orders by the keys in the order of --by.
  bool Before(const Key& a, const Key& b) const;
  void EmitSums(const Key& key, const CollectiveSums& sums, Sink* sink) const;

  std::vector<std::string> by_;
  CollectiveSet set_;
  mutable std::optional<CollectiveMatches> matches_;  // Made when all ranks are there.
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

Key Collectives::KeyOf(const CollectiveRow& row) const {
  Key key;
  if (IsBy("rank")) key.rank = *row.rank;
  if (IsBy("step")) key.step = row.step();
  if (IsBy("kind")) key.kind = row.call->kind;
  if (IsBy("group")) {
    key.group = *row.group;
    key.group_size = row.group_size();
  }
  if (IsBy("dtype")) key.dtype = row.call->dtype;
  if (IsBy("size")) key.size_bytes = row.call->size_bytes;
  return key;
}

bool Collectives::Before(const Key& a, const Key& b) const {
  for (const std::string& word : by_) {
    if (word == "rank" && a.rank != b.rank) return RankBefore()(a.rank, b.rank);
    if (word == "step" && a.step != b.step) return a.step < b.step;
    if (word == "kind" && a.kind != b.kind) return a.kind < b.kind;
    if (word == "group" && a.group != b.group) return a.group < b.group;
    if (word == "group" && a.group_size != b.group_size) return a.group_size < b.group_size;
    if (word == "dtype" && a.dtype != b.dtype) return a.dtype < b.dtype;
    if (word == "size" && a.size_bytes != b.size_bytes) return a.size_bytes < b.size_bytes;
  }
  return false;
}

void Collectives::Emit(Sink* sink) const {
  const CollectiveMatches& matches = Matches();
  if (by_.empty()) {
    for (const CollectiveRow& row : matches.rows()) sink->Row(CellsOf(row));
    return;
  }
  const auto before = [this](const Key& a, const Key& b) { return Before(a, b); };
  std::map<Key, CollectiveSums, decltype(before)> groups(before);
  for (const CollectiveRow& row : matches.rows()) groups[KeyOf(row)].Add(row);
  for (const auto& [key, sums] : groups) EmitSums(key, sums, sink);
}

void Collectives::EmitSums(const Key& key, const CollectiveSums& sums, Sink* sink) const {
  std::vector<Cell> cells;
  for (const std::string& word : by_) {
    if (word == "rank") cells.push_back(Text(key.rank));
    if (word == "step") cells.push_back(Integer(key.step));
    if (word == "kind") cells.push_back(Text(CollectiveWord(key.kind)));
    if (word == "dtype") cells.push_back(Text(WordOf(key.dtype)));
    if (word == "size") cells.push_back(Integer(Known(key.size_bytes)));
    if (word != "group") continue;
    cells.push_back(Text(key.group.name));
    cells.push_back(Text(key.group.ranks));
    cells.push_back(Integer(Known(key.group_size)));
  }
  const auto of = [](int64_t count, int64_t value) { return count > 0 ? Cell{value} : Cell{}; };
  cells.push_back(Integer(sums.calls));
  cells.push_back(Integer(sums.matched));
  cells.push_back(of(sums.sized, sums.bytes));
  cells.push_back(of(sums.timed, sums.latency_ns));
  cells.push_back(of(sums.matched, sums.wait_ns()));
  cells.push_back(of(sums.matched, sums.transfer_ns));
  cells.push_back(of(sums.timed, sums.unmatched_ns));
  cells.push_back(of(sums.exposed, sums.exposed_ns));
  cells.push_back(Decimal(GbPerSecond(static_cast<double>(sums.algo_bytes), sums.algo_ns)));
  cells.push_back(Decimal(GbPerSecond(sums.bus_bytes, sums.bus_ns)));
  cells.push_back(Decimal(GbPerSecond(static_cast<double>(sums.seen_bytes), sums.seen_ns)));
  sink->Row(cells);
}

std::vector<std::string> Collectives::Notes() const {
  std::vector<std::string> notes;
  if (records_) {
    notes.emplace_back("collectives: records do not tell this: give the profile itself");
  }
  if (!any_) {
    if (!set_.ranks().empty()) notes.emplace_back("collectives: the profile holds none");
    return notes;
  }
  for (std::string& note : MatchNotes(set_, Matches())) notes.push_back("collectives: " + note);
  return notes;
}

}  // namespace

std::span<const Field> CollectivesFields() { return CollectiveCallFields(); }

std::span<const std::string_view> CollectiveKeys() { return kKeys; }

std::unique_ptr<Partial> MakeCollectives(const ViewOptions& options) {
  if (options.compat == Compat::kTensorBoard) return MakeTbCollectives(options);
  return std::make_unique<Collectives>(options);
}

}  // namespace oplens::prof
