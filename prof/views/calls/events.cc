#include "prof/views/calls/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/views/calls/event_run.h"
#include "prof/views/calls/event_sums.h"
#include "prof/views/common/bounded_partial.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr std::string_view kEventsOther = "(other)";

constexpr std::string_view kEventKeys[] = {"shape", "stack", "rank", "overload", "call", "total"};
constexpr std::string_view kOwnEventWords[] = {"shape", "stack", "rank"};
constexpr EventRules kOwnEventRules{.by = kOwnEventWords};

/// Indices of a row's texts.
enum EventText : size_t {
  kEventName,
  kEventShape,
  kEventStack,
  kEventRank,
  kEventOverload,    // Of other rules only, like the next.
  kEventAnnotation,  // "" or not.
  kEventTexts
};
constexpr size_t kOwnEventTexts = kEventOverload;

/// A row with its keys; texts point into the partial.
struct EventsRow {
  EventRow sums;
  std::array<std::string_view, kEventTexts> texts;
  FirstEvent first;
  // Whether these are known.
  bool self = true;
  bool memory = true;

  auto Keys() const { return std::tie(sums.device, texts); }
  Cell OfCalls(int64_t value) const { return sums.device ? Cell{} : Integer(value); }
  Cell Bytes(int64_t value) const { return memory ? OfCalls(value) : Cell{}; }
};

constexpr Column<EventsRow> kEventColumns[] = {
    TextColumn<kEventName>{"name", "Name", Field::kShared,
                           "operator of a call; kernel, copy or memset of a device event"},
    {{"kind", "Kind", "", kText, 6, "call or device", Fold::kKey},
     [](const EventsRow& row) { return Text(row.sums.device ? "device" : "call"); }},
    TextColumn<kEventShape, true>{
        "shape", "Shape", Field::kShared,
        "extents of the arguments: [[2, 3], []]; [] for what is not a tensor"},
    TextColumn<kEventStack, true>{"stack", "Stack", Field::kShared,
                                  "call stack, outermost frame first"},
    TextColumn<kEventRank, true>{"rank", "Rank", 6, kRankField.help},
    TextColumn<kEventOverload, true>{"overload", "Overload", Field::kShared,
                                     "overload of the operator, with --compat torch"},
    FigureColumn<&EventRow::calls>{"calls", "Calls", "", 8, "number of calls or device events"},
    {{"host_self_ns", "HostSelf(ns)", "ns", kInteger, 13,
      "host time of its calls, without the time in which calls inside ran", Fold::kSum},
     [](const EventsRow& row) { return row.self ? row.OfCalls(row.sums.host_self_ns) : Cell{}; }},
    {{"host_total_ns", "HostTotal(ns)", "ns", kInteger, 13,
      "host time of its calls: the sum of their lengths"},
     [](const EventsRow& row) { return row.OfCalls(row.sums.host_total_ns); }},
    {{"device_self_ns", "DevSelf(ns)", "ns", kInteger, 13,
      "sum of the durations of the device events that its calls launched themselves; for device "
      "events their own"},
     [](const EventsRow& row) { return row.self ? Integer(row.sums.device_self_ns) : Cell{}; }},
    {{"device_total_ns", "DevTotal(ns)", "ns", kInteger, 13,
      "device_self_ns including calls inside, for each call"},
     [](const EventsRow& row) { return Integer(row.sums.device_total_ns); }},
    {{"host_self_bytes", "HostSelf(B)", "B", kInteger, 13,
      "host memory allocated minus freed in its calls, without calls inside", Fold::kSum},
     [](const EventsRow& row) { return row.Bytes(row.sums.host_self_bytes); }},
    {{"host_total_bytes", "HostTotal(B)", "B", kInteger, 13,
      "host_self_bytes including calls inside, for each call"},
     [](const EventsRow& row) { return row.Bytes(row.sums.host_bytes); }},
    {{"device_self_bytes", "DevSelf(B)", "B", kInteger, 13,
      "device memory allocated minus freed in its calls, without calls inside", Fold::kSum},
     [](const EventsRow& row) { return row.Bytes(row.sums.device_self_bytes); }},
    {{"device_total_bytes", "DevTotal(B)", "B", kInteger, 13,
      "device_self_bytes including calls inside, for each call"},
     [](const EventsRow& row) { return row.Bytes(row.sums.device_bytes); }},
};

int64_t Clamped(const Checked& sum) {
  return sum.Value().value_or(sum.Approximate().value_or(0) < 0 ? INT64_MIN : INT64_MAX);
}

template <size_t... i>
void ClampAll(const EventSums& sums, EventRow* row, std::index_sequence<i...> /*members*/) {
  using Sums = EventFigures<Checked>;
  using Row = EventFigures<int64_t>;
  ((row->*std::get<i>(Row::kMembers) = Clamped(sums.*std::get<i>(Sums::kMembers))), ...);
}

EventRow RowOf(const EventSums& sums) {
  EventRow row;
  row.calls = sums.calls;
  constexpr size_t kFigures = std::tuple_size_v<decltype(EventFigures<Checked>::kMembers)>;
  ClampAll(sums, &row, std::make_index_sequence<kFigures>());
  return row;
}

/// `ns` - `origin_ns`, which is negative only in broken files.
int64_t Since(int64_t origin_ns, int64_t ns) {
  int64_t since_ns = 0;
  return __builtin_sub_overflow(ns, origin_ns, &since_ns) ? ns : since_ns;
}

struct EventKey {
  bool device = false;
  std::string texts;  ///< Each terminated by a 0.
  friend auto operator<=>(const EventKey&, const EventKey&) = default;

  size_t TextBytes() const { return texts.size(); }
  EventKey Other() const {
    return {device, std::string(kEventsOther) + std::string(kOwnEventTexts, '\0')};
  }
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->device);
    bytes->Texts(&self->texts);
  }
};

struct EventNotes : CallNotes {
  using CallNotes::CallNotes;

  Any memory;
  static constexpr auto kMembers =
      std::tuple_cat(CallNotes::kMembers, std::tuple{&EventNotes::memory});
};

class Events : public BoundedPartial<EventKey, EventSums, EventsRow, EventNotes> {
 public:
  Events(const ViewOptions& options, const EventRules& rules);

  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  void Emit(Sink* sink) const override;
  bool IsDocument() const override { return rules_.table != nullptr; }
  std::string Document() const override;

 private:
  /// A call that is its own row; only under other rules, which are not saved.
  struct Single {
    uint32_t name;  ///< Numbers of texts_.
    uint32_t rank;
    EventCall call;
  };

  bool TakeFound(const Run& run);
  void TakeCalls(const Run& run, const EventRun& events, int64_t origin_ns);
  std::vector<EventsRow> Rows() const;
  static std::vector<EventsRow> Totals(const std::vector<EventsRow>& rows);
  void Sort(std::vector<EventsRow>* rows) const;

  const EventRules& rules_;
  std::string sort_;  // A word of EventRules::before; "": none.
  size_t top_;
  std::vector<Single> calls_;
  TextNumbers texts_;
  // Of events that other rules found, which are not saved.
  std::map<EventKey, EventTimesUs> us_;
  EventTableFacts facts_;
};

Events::Events(const ViewOptions& options, const EventRules& rules)
    : BoundedPartial("events", options, kEventKeys, kEventColumns, ByOrder::kOfColumns),
      rules_(rules),
      sort_(rules.table != nullptr ? options.sort : std::string()),
      top_(options.top) {
  for (const std::string& word : options.by) {
    if (std::find(rules.by.begin(), rules.by.end(), word) != rules.by.end()) continue;
    throw UsageError(
        fmt::format("--by {}: the view events takes shape, stack and rank; with "
                    "--compat torch overload too; with --compat torch-legacy rank, call and total",
                    word));
  }
  if (By("call") && By("total")) {
    throw UsageError("--by: the view events takes call or total, not both");
  }
}

void Events::End(const Run* run) {
  if (run == nullptr || TakeFound(*run)) return;
  EventOptions options = rules_.run;
  options.by_shape = By("shape");
  options.by_stack = By("stack");
  const EventRun events(*run, options);
  notes_.memory.Add(events.has_memory());
  const int64_t origin_ns = run->origin_ns();
  if (By("call")) return TakeCalls(*run, events, origin_ns);
  for (const EventRun::Group& group : events.groups()) {
    if (!rules_.device && group.device) continue;
    // All of it was left out.
    if (group.sums.calls == 0 && group.sums.device_total_ns == Checked(0)) continue;
    EventKey key;
    key.device = group.device;
    for (const uint32_t text : {group.name, group.shape, group.stack}) {
      AppendKeyText(events.TextOf(text), &key.texts);
    }
    AppendKeyText(By("rank") ? run->rank() : std::string_view(), &key.texts);
    EventSums sums = group.sums;
    sums.first.start_ns = Since(origin_ns, sums.first.start_ns);
    Take(key, sums);
  }
}

bool Events::TakeFound(const Run& run) {
  if (rules_.find == nullptr) return false;
  FindEvents find{By("shape"), By("stack"), By("overload"), false, {}};
  const int64_t origin_ns = run.origin_ns();
  const bool found = rules_.find(run, &find, [&](const FoundEvents& events) {
    EventKey key;
    key.device = events.device;
    for (const std::string_view text : {events.name, events.shape, events.stack}) {
      AppendKeyText(text, &key.texts);
    }
    AppendKeyText(By("rank") ? run.rank() : std::string_view(), &key.texts);
    AppendKeyText(events.overload, &key.texts);
    AppendKeyText(events.annotation ? "annotation" : "", &key.texts);
    EventSums sums = events.sums;
    sums.first.start_ns = Since(origin_ns, sums.first.start_ns);
    Take(key, sums);
    us_[key] += events.us;
  });
  if (found) notes_.memory.Add(find.has_memory);
  facts_.Merge(find.facts);
  return found;
}

void Events::TakeCalls(const Run& run, const EventRun& events, int64_t origin_ns) {
  const uint32_t rank = By("rank") ? texts_.NumberOf(run.rank()) : 0;
  for (EventCall call : events.Calls()) {
    call.start_ns = Since(origin_ns, call.start_ns);
    calls_.push_back({texts_.NumberOf(events.TextOf(call.name)), rank, call});
  }
}

void Events::Merge(const Partial& other) {
  BoundedPartial::Merge(other);
  const auto& more = dynamic_cast<const Events&>(other);
  for (const auto& [key, us] : more.us_) us_[key] += us;
  facts_.Merge(more.facts_);
  for (Single single : more.calls_) {
    single.name = texts_.NumberOf(more.texts_.TextOf(single.name));
    single.rank = texts_.NumberOf(more.texts_.TextOf(single.rank));
    calls_.push_back(single);
  }
}

std::vector<EventsRow> Events::Rows() const {
  std::vector<EventsRow> rows;
  rows.reserve(groups_.size() + calls_.size());
  for (const auto& [key, group] : groups_.index()) {
    EventsRow& row = rows.emplace_back();
    row.sums = RowOf(groups_[group]);
    row.sums.device = key.device;
    std::string_view rest = key.texts;
    for (std::string_view& text : row.texts) text = TakeKeyText(&rest);
    row.first = groups_[group].first;
    const auto us = us_.find(key);
    if (us != us_.end()) row.sums.us = us->second;
  }
  for (const Single& single : calls_) {
    EventsRow& row = rows.emplace_back();
    row.texts[kEventName] = texts_.TextOf(single.name);
    row.texts[kEventRank] = texts_.TextOf(single.rank);
    row.sums.calls = 1;
    row.sums.host_total_ns = single.call.host_ns;
    row.sums.device_total_ns = single.call.device_ns;
    row.first = {single.call.start_ns, INT64_MAX - single.call.host_ns};
  }
  if (By("total")) rows = Totals(rows);
  for (EventsRow& row : rows) {
    row.sums.name = row.texts[kEventName];
    row.sums.shapes = row.texts[kEventShape];
    row.sums.overload = row.texts[kEventOverload];
    row.sums.annotation = !row.texts[kEventAnnotation].empty();
    // Single calls have total times only.
    row.self = !By("call");
    row.memory = notes_.memory && row.self && !By("total");
  }
  Sort(&rows);
  return rows;
}

/// One row per rank, or one for all ranks.
std::vector<EventsRow> Events::Totals(const std::vector<EventsRow>& rows) {
  std::map<std::string_view, EventSums> sums;
  for (const EventsRow& row : rows) {
    EventSums& sum = sums[row.texts[kEventRank]];
    sum.calls += row.sums.calls;
    sum.host_self_ns += row.sums.host_self_ns;
    sum.host_total_ns += row.sums.host_total_ns;
    sum.device_self_ns += row.sums.device_self_ns;
    sum.device_total_ns += row.sums.device_total_ns;
  }
  std::vector<EventsRow> totals;
  for (const auto& [rank, sum] : sums) {
    EventsRow& row = totals.emplace_back();
    row.sums = RowOf(sum);
    row.texts[kEventName] = "Total";
    row.texts[kEventRank] = rank;
  }
  return totals;
}

void Events::Sort(std::vector<EventsRow>* rows) const {
  if (!IsDocument()) {
    std::sort(rows->begin(), rows->end(), [](const EventsRow& a, const EventsRow& b) {
      const auto times = [](const EventsRow& row) {
        return std::pair(row.sums.device_self_ns, row.sums.host_self_ns);
      };
      if (times(a) != times(b)) return times(a) > times(b);
      return a.Keys() < b.Keys();
    });
    return;
  }
  std::sort(rows->begin(), rows->end(), [](const EventsRow& a, const EventsRow& b) {
    return a.first != b.first ? a.first < b.first : a.Keys() < b.Keys();
  });
  if (!sort_.empty()) {
    std::stable_sort(rows->begin(), rows->end(), [&](const EventsRow& a, const EventsRow& b) {
      return rules_.before(a.sums, b.sums, sort_);
    });
  }
  if (By("rank")) {
    std::stable_sort(rows->begin(), rows->end(), [](const EventsRow& a, const EventsRow& b) {
      return RankBefore()(a.texts[kEventRank], b.texts[kEventRank]);
    });
  }
}

void Events::Emit(Sink* sink) const {
  TableOf<EventsRow> table(columns_, sink);
  const std::vector<EventsRow> rows = Rows();
  const size_t limit = IsDocument() && top_ > 0 ? top_ : rows.size();
  for (size_t i = 0; i < std::min(limit, rows.size()); ++i) table.Add(rows[i]);
}

std::string Events::Document() const {
  if (!IsDocument()) return {};
  const std::vector<EventsRow> rows = Rows();
  std::string text;
  for (size_t begin = 0; begin < rows.size();) {
    const std::string_view rank = rows[begin].texts[kEventRank];
    std::vector<EventRow> table;
    size_t end = begin;
    for (; end < rows.size() && rows[end].texts[kEventRank] == rank; ++end) {
      EventRow& shown = table.emplace_back(rows[end].sums);
      // A call without arguments has an empty list.
      if (By("shape") && shown.shapes.empty()) shown.shapes = "[]";
      std::string_view stack = rows[end].texts[kEventStack];
      while (!stack.empty()) {
        const size_t comma = stack.rfind(facts_.frame_separator);
        shown.stack.push_back(comma == std::string_view::npos ? stack : stack.substr(comma + 1));
        stack = stack.substr(0, comma == std::string_view::npos ? 0 : comma);
      }
    }
    begin = end;
    const std::string header = By("rank") ? fmt::format("rank {}", rank) : std::string();
    text += rules_.table(table, {facts_, notes_.memory, top_, header});
  }
  return text;
}

}  // namespace

std::unique_ptr<Partial> MakeEventsOf(const ViewOptions& options, const EventRules& rules) {
  return std::make_unique<Events>(options, rules);
}

extern constexpr View kEventsView = {
    .name = "events",
    .help = "calls and device events by name, as PyTorch's profilers list them",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kEventColumns>,
    .make = [](const ViewOptions& options) { return MakeEventsOf(options, kOwnEventRules); },
    .by = kEventKeys,
    .narrow = "calls,host_self_ns,host_total_ns,device_self_ns,device_total_ns",
    .keeps_document = true,
    .saved_form = 1};

}  // namespace oplens::prof
