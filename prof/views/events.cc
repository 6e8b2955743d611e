#include "prof/views/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/model/recording_advice.h"
#include "prof/views/event_fields.h"
#include "prof/views/event_run.h"
#include "prof/views/event_sums.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kEventsOther = "(other)";

constexpr std::string_view kOwnEventWords[] = {"shape", "stack", "rank"};
constexpr EventRules kOwnEventRules{.by = kOwnEventWords};

/// A row with its keys; texts are views into the partial.
struct EventsRow {
  EventRow shown;
  std::string_view stack;
  std::string_view rank;
  std::pair<int64_t, int64_t> first;

  auto Keys() const { return std::tie(shown.device, shown.name, shown.shapes, stack, rank); }
};

int64_t Clamped(const Checked& sum) {
  return sum.Value().value_or(sum.Approximate().value_or(0) < 0 ? INT64_MIN : INT64_MAX);
}

/// `ns` since `origin_ns`, which is not later but in files that make no sense.
int64_t Since(int64_t origin_ns, int64_t ns) {
  int64_t since_ns = 0;
  return __builtin_sub_overflow(ns, origin_ns, &since_ns) ? ns : since_ns;
}

class Events : public SavedPartial<Events> {
 public:
  Events(const ViewOptions& options, const EventRules& rules)
      : rules_(rules), plan_(options, rules) {}

  void Begin(const Run* run) override;
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override { return FieldsOf(plan_); }
  void Emit(Sink* sink) const override;
  bool IsDocument() const override { return rules_.table != nullptr; }
  std::string Document() const override;
  std::vector<std::string> Notes() const override;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  // Groups that come once there are so many, or their texts take so much, count in one more.
  static constexpr size_t kMaxGroups = size_t{1} << 20;
  static constexpr size_t kMaxKeyBytes = size_t{256} << 20;

  /// What rows of groups have in common.
  struct Key {
    bool device = false;
    std::string texts;  ///< Name, shape, stack, rank, each ended by a 0.
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.device, a.texts) < std::tie(b.device, b.texts);
    }
  };
  /// A call that is a row of its own.
  struct Single {
    uint32_t name;  ///< Numbers of texts_.
    uint32_t rank;
    EventCall call;
  };

  void AddTo(Key key, const EventSums& sums);
  void TakeCalls(const Run& run, const EventRun& events, int64_t origin_ns);
  std::vector<EventsRow> Rows() const;
  std::vector<EventsRow> Totals(const std::vector<EventsRow>& rows) const;
  void Sort(std::vector<EventsRow>* rows) const;
  void EmitRow(const EventsRow& row, Sink* sink) const;

  const EventRules& rules_;
  EventPlan plan_;
  std::map<Key, EventSums> groups_;
  size_t key_bytes_ = 0;
  std::vector<Single> calls_;
  TextNumbers texts_;
  bool memory_ = false;
  int64_t ranks_without_trace_ = 0;
  std::map<Family, int64_t> ranks_without_calls_;
};

void Events::Begin(const Run* run) {
  if (run == nullptr) {
    ++ranks_without_trace_;
  } else if (run->calls().all().empty()) {
    ++ranks_without_calls_[run->trace().family];
  }
}

void Events::End(const Run* run) {
  if (run == nullptr) return;
  EventOptions options = rules_.run;
  options.by_shape = plan_.shape;
  options.by_stack = plan_.stack;
  const EventRun events(*run, options);
  memory_ = memory_ || events.has_memory();
  const int64_t origin_ns = run->origin_ns();
  if (plan_.call) return TakeCalls(*run, events, origin_ns);
  for (const EventRun::Group& group : events.groups()) {
    if (!rules_.device && group.device) continue;
    // Nothing of it was looked at.
    if (group.sums.calls == 0 && group.sums.device_total_ns == Checked(0)) continue;
    Key key;
    key.device = group.device;
    for (const uint32_t text : {group.name, group.shape, group.stack}) {
      (key.texts += events.TextOf(text)).push_back('\0');
    }
    if (plan_.rank) key.texts += run->rank();
    key.texts.push_back('\0');
    EventSums sums = group.sums;
    sums.first.first = Since(origin_ns, sums.first.first);
    AddTo(std::move(key), sums);
  }
}

void Events::TakeCalls(const Run& run, const EventRun& events, int64_t origin_ns) {
  const uint32_t rank = plan_.rank ? texts_.NumberOf(run.rank()) : 0;
  for (EventCall call : events.Calls()) {
    call.start_ns = Since(origin_ns, call.start_ns);
    calls_.push_back({texts_.NumberOf(events.TextOf(call.name)), rank, call});
  }
}

void Events::AddTo(Key key, const EventSums& sums) {
  const auto at = groups_.find(key);
  if (at != groups_.end()) {
    at->second.Add(sums);
  } else if (groups_.size() < kMaxGroups && key_bytes_ < kMaxKeyBytes) {
    key_bytes_ += key.texts.size();
    groups_.emplace(std::move(key), sums);
  } else {
    groups_[Key{key.device, std::string(kEventsOther) + std::string(4, '\0')}].Add(sums);
  }
}

void Events::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Events&>(other);
  for (const auto& [key, sums] : more.groups_) AddTo(key, sums);
  for (Single single : more.calls_) {
    single.name = texts_.NumberOf(more.texts_.TextOf(single.name));
    single.rank = texts_.NumberOf(more.texts_.TextOf(single.rank));
    calls_.push_back(single);
  }
  memory_ = memory_ || more.memory_;
  ranks_without_trace_ += more.ranks_without_trace_;
  for (const auto& [family, count] : more.ranks_without_calls_) {
    ranks_without_calls_[family] += count;
  }
}

// Single calls are of other rules alone, which are not saved.
template <typename Bytes, typename Self>
void Events::Transfer(Bytes* bytes, Self* self) {
  bytes->Counts(&self->ranks_without_trace_);
  bytes->Values(&self->ranks_without_calls_, &self->memory_);
  if constexpr (Bytes::kReads) {
    for (size_t left = bytes->Size(); left > 0; --left) {
      Key key;
      EventSums sums;
      bytes->Values(&key.device);
      bytes->Texts(&key.texts);
      bytes->Values(&sums);
      self->AddTo(std::move(key), sums);
    }
  } else {
    bytes->Number(self->groups_.size());
    for (const auto& [key, sums] : self->groups_) {
      bytes->Values(&key.device);
      bytes->Texts(&key.texts);
      bytes->Values(&sums);
    }
  }
}

std::vector<EventsRow> Events::Rows() const {
  std::vector<EventsRow> rows;
  rows.reserve(groups_.size() + calls_.size());
  for (const auto& [key, sums] : groups_) {
    std::string_view texts = key.texts;
    const auto next_text = [&] {
      const std::string_view text = texts.substr(0, texts.find('\0'));
      texts.remove_prefix(std::min(text.size() + 1, texts.size()));
      return text;
    };
    EventsRow row;
    EventRow& shown = row.shown;
    shown.name = next_text();
    shown.shapes = next_text();
    row.stack = next_text();
    row.rank = next_text();
    shown.device = key.device;
    shown.calls = sums.calls;
    shown.host_self_ns = Clamped(sums.host_self_ns);
    shown.host_total_ns = Clamped(sums.host_total_ns);
    shown.device_self_ns = Clamped(sums.device_self_ns);
    shown.device_total_ns = Clamped(sums.device_total_ns);
    shown.host_bytes = Clamped(sums.host_bytes);
    shown.host_self_bytes = Clamped(sums.host_self_bytes);
    shown.device_bytes = Clamped(sums.device_bytes);
    shown.device_self_bytes = Clamped(sums.device_self_bytes);
    row.first = sums.first;
    rows.push_back(row);
  }
  for (const Single& single : calls_) {
    EventsRow row;
    row.shown.name = texts_.TextOf(single.name);
    row.rank = texts_.TextOf(single.rank);
    row.shown.calls = 1;
    row.shown.host_total_ns = single.call.host_ns;
    row.shown.device_total_ns = single.call.device_ns;
    row.first = {single.call.start_ns, INT64_MAX - single.call.host_ns};
    rows.push_back(row);
  }
  if (plan_.total) rows = Totals(rows);
  Sort(&rows);
  return rows;
}

/// One row a rank, or one of all.
std::vector<EventsRow> Events::Totals(const std::vector<EventsRow>& rows) const {
  std::map<std::string_view, EventSums> sums;
  for (const EventsRow& row : rows) {
    EventSums& sum = sums[row.rank];
    sum.calls += row.shown.calls;
    sum.host_self_ns += row.shown.host_self_ns;
    sum.host_total_ns += row.shown.host_total_ns;
    sum.device_self_ns += row.shown.device_self_ns;
    sum.device_total_ns += row.shown.device_total_ns;
  }
  std::vector<EventsRow> totals;
  for (const auto& [rank, sum] : sums) {
    EventsRow row;
    row.shown.name = "Total";
    row.rank = rank;
    row.shown.calls = sum.calls;
    row.shown.host_self_ns = Clamped(sum.host_self_ns);
    row.shown.host_total_ns = Clamped(sum.host_total_ns);
    row.shown.device_self_ns = Clamped(sum.device_self_ns);
    row.shown.device_total_ns = Clamped(sum.device_total_ns);
    totals.push_back(row);
  }
  return totals;
}

void Events::Sort(std::vector<EventsRow>* rows) const {
  if (!IsDocument()) {
    std::sort(rows->begin(), rows->end(), [](const EventsRow& a, const EventsRow& b) {
      const auto times = [](const EventsRow& row) {
        return std::pair(row.shown.device_self_ns, row.shown.host_self_ns);
      };
      if (times(a) != times(b)) return times(a) > times(b);
      return a.Keys() < b.Keys();
    });
    return;
  }
  std::sort(rows->begin(), rows->end(), [](const EventsRow& a, const EventsRow& b) {
    return a.first != b.first ? a.first < b.first : a.Keys() < b.Keys();
  });
  if (!plan_.sort.empty()) {
    std::stable_sort(rows->begin(), rows->end(), [&](const EventsRow& a, const EventsRow& b) {
      return rules_.before(a.shown, b.shown, plan_.sort);
    });
  }
  if (plan_.rank) {
    std::stable_sort(rows->begin(), rows->end(), [](const EventsRow& a, const EventsRow& b) {
      return RankBefore()(a.rank, b.rank);
    });
  }
}

void Events::Emit(Sink* sink) const {
  const std::vector<EventsRow> rows = Rows();
  const size_t limit = IsDocument() && plan_.top > 0 ? plan_.top : rows.size();
  for (size_t i = 0; i < std::min(limit, rows.size()); ++i) EmitRow(rows[i], sink);
}

void Events::EmitRow(const EventsRow& row, Sink* sink) const {
  const EventRow& shown = row.shown;
  const auto of_calls = [&](int64_t value) { return shown.device ? Cell{} : Integer(value); };
  // Of single calls the whole times are known alone.
  const auto self = [&](Cell cell) { return plan_.call ? Cell{} : cell; };
  const auto bytes = [&](int64_t value) {
    return memory_ && !plan_.call && !plan_.total ? of_calls(value) : Cell{};
  };
  std::vector<Cell> cells = {Text(shown.name), Text(shown.device ? "device" : "call")};
  if (plan_.shape) cells.push_back(Text(shown.shapes));
  if (plan_.stack) cells.push_back(Text(row.stack));
  if (plan_.rank) cells.push_back(Text(row.rank));
  for (const Cell& cell :
       {Integer(shown.calls), self(of_calls(shown.host_self_ns)), of_calls(shown.host_total_ns),
        self(Integer(shown.device_self_ns)), Integer(shown.device_total_ns),
        bytes(shown.host_self_bytes), bytes(shown.host_bytes), bytes(shown.device_self_bytes),
        bytes(shown.device_bytes)}) {
    cells.push_back(cell);
  }
  sink->Row(cells);
}

std::string Events::Document() const {
  if (!IsDocument()) return {};
  const std::vector<EventsRow> rows = Rows();
  std::string text;
  for (size_t begin = 0; begin < rows.size();) {
    const std::string_view rank = rows[begin].rank;
    std::vector<EventRow> table;
    size_t end = begin;
    for (; end < rows.size() && rows[end].rank == rank; ++end) {
      EventRow& shown = table.emplace_back(rows[end].shown);
      // What has no arguments has an empty list of them.
      if (plan_.shape && shown.shapes.empty()) shown.shapes = "[]";
      std::string_view stack = rows[end].stack;
      while (!stack.empty()) {
        const size_t comma = stack.rfind(',');
        shown.stack.push_back(comma == std::string_view::npos ? stack : stack.substr(comma + 1));
        stack = stack.substr(0, comma == std::string_view::npos ? 0 : comma);
      }
    }
    begin = end;
    const std::string header = plan_.rank ? fmt::format("rank {}", rank) : std::string();
    text += rules_.table(table, {memory_, plan_.top, header});
  }
  return text;
}

std::vector<std::string> Events::Notes() const {
  std::vector<std::string> notes;
  if (ranks_without_trace_ > 0) {
    notes.push_back(
        "events: records say nothing of the calls of operators; give the profile itself");
  }
  for (const auto& [family, count] : ranks_without_calls_) {
    notes.push_back(fmt::format("events: {} recorded no calls of operators; to record them: {}",
                                count == 1 ? "the profile" : "the profiles",
                                RecordingFlag(Lack::kOps, family)));
  }
  return notes;
}

constexpr std::string_view kEventsKeys[] = {"shape", "stack", "rank", "call", "total"};

}  // namespace

std::unique_ptr<Partial> MakeEventsOf(const ViewOptions& options, const EventRules& rules) {
  return std::make_unique<Events>(options, rules);
}

constexpr View kEventsView = {
    .name = "events",
    .help = "calls and device events by name, as PyTorch's profilers list them",
    .needs = {TracePart::kMemoryEvents},
    .fields = EventsFields,
    .make = [](const ViewOptions& options) { return MakeEventsOf(options, kOwnEventRules); },
    .by = kEventsKeys,
    .narrow = "calls,host_self_ns,host_total_ns,device_self_ns,device_total_ns",
    .keeps_document = true,
    .saved_form = 1};

}  // namespace oplens::prof
