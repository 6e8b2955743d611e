#include "report/summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prof/views/common/view.h"
#include "report/field_json.h"
#include "report/page_shell.h"

namespace oplens::report {
namespace {

using SummaryJson = nlohmann::ordered_json;

constexpr int kSummarySchema = 2;

SummaryJson Number(int64_t value) {
  constexpr int64_t kLargestExact = int64_t{1} << 53;
  if (value > kLargestExact || value < -kLargestExact) return std::to_string(value);
  return value;
}

SummaryJson SummaryNameOf(const std::optional<size_t>& block) {
  return block ? SummaryJson(ChunkId(*block)) : SummaryJson(nullptr);
}

/// The distinct fields of all tables, which share many of them.
class FieldList {
 public:
  /// The indices of `fields`.
  SummaryJson PlacesOf(const std::vector<prof::Field>& fields) {
    SummaryJson places = SummaryJson::array();
    for (const prof::Field& field : fields) {
      SummaryJson of = FieldJson(field);
      const auto [place, is_new] = places_.try_emplace(of.dump(), list_.size());
      if (is_new) list_.push_back(std::move(of));
      places.push_back(place->second);
    }
    return places;
  }

  SummaryJson Take() { return std::move(list_); }

 private:
  std::unordered_map<std::string, size_t> places_;
  SummaryJson list_ = SummaryJson::array();
};

class SummaryWriter {
 public:
  SummaryWriter(const PageContent& content, const Placement& placement)
      : content_(content), placement_(placement) {}

  SummaryJson Write(const std::vector<std::string>& left_out) const {
    SummaryJson summary;
    summary["schema"] = kSummarySchema;
    summary["program"] = content_.program;
    summary["title"] = content_.title;
    summary["inputs"] = content_.inputs;
    summary["made"] = nullptr;
    summary["compat"] = "oplens";
    summary["ranks"] = SummaryJson::array();
    for (const Rank& rank : content_.timeline.ranks) summary["ranks"].push_back(RankOf(rank));
    summary["fields"] = kFieldsId;
    FieldList fields;
    summary["views"] = Views(&fields);
    summary["timeline"] = TimelineOf();
    summary["notes"] = content_.notes;
    summary["left_out"] = left_out;
    return summary;
  }

  /// Those of all tables, on the page or not: a list that does not depend on what fits.
  SummaryJson Fields() const {
    FieldList fields;
    Views(&fields);
    return fields.Take();
  }

 private:
  static SummaryJson RankOf(const Rank& rank) {
    SummaryJson devices = SummaryJson::array();
    for (const Rank::Device& device : rank.devices) {
      devices.push_back({{"id", device.id}, {"name", device.name}});
    }
    SummaryJson steps = SummaryJson::array();
    for (const ShownStep& step : rank.steps) {
      steps.push_back({{"number", Number(step.number)},
                       {"start_ns", Number(step.start_ns)},
                       {"end_ns", Number(step.end_ns)},
                       {"host_start_ns", Number(step.host_start_ns)},
                       {"host_end_ns", Number(step.host_end_ns)},
                       {"complete", step.complete}});
    }
    SummaryJson json = {{"rank", rank.rank},
                        {"origin_ns", Number(rank.origin_ns)},
                        {"duration_ns", Number(rank.duration_ns)},
                        {"devices", std::move(devices)},
                        {"steps_from", rank.steps_from},
                        {"steps", std::move(steps)},
                        {"steps_left_out", rank.steps_left_out}};
    if (!rank.run.empty()) json["run"] = rank.run;
    return json;
  }

  SummaryJson Views(FieldList* fields) const {
    SummaryJson views = SummaryJson::array();
    const TablePlans& plans = *content_.plans;
    for (size_t i = 0; i < plans.plans.size(); ++i) {
      const prof::View& of = prof::Views()[plans.tables[i].view];
      const PageTable& table = content_.tables->tables()[i];
      const Placement::Table& placed = placement_.tables[i];
      SummaryJson entry;
      entry["fields"] = fields->PlacesOf(table.fields);
      entry["rows"] = placed.rows;
      entry["table"] = SummaryNameOf(placed.block);
      switch (plans.tables[i].kind) {
        case TableKind::kPlain: {
          SummaryJson view = {{"name", of.name}, {"help", of.help}};
          const auto notes = content_.view_notes.find(of.name);
          view["notes"] = notes == content_.view_notes.end() ? SummaryJson::array()
                                                             : SummaryJson(notes->second);
          view["rules"] = "oplens";
          view.update(entry);
          view["by_step"] = nullptr;
          view["groupings"] = SummaryJson::array();
          view["left_out"] = table.rows + table.left_out - placed.rows;
          views.push_back(std::move(view));
          break;
        }
        case TableKind::kByStep:
          if (placed.block) views.back()["by_step"] = std::move(entry);
          break;
        case TableKind::kGrouping:
          if (!placed.block) break;
          SummaryJson grouping = {{"by", plans.plans[i].options.by}};
          grouping.update(entry);
          views.back()["groupings"].push_back(std::move(grouping));
          break;
      }
    }
    return views;
  }

  SummaryJson TimelineOf() const {
    SummaryJson fields = SummaryJson::array();
    for (const Signatures::Field& field : Signatures::Fields()) {
      fields.push_back({{"key", field.key},
                        {"header", field.header},
                        {"unit", field.unit},
                        {"type", field.type},
                        {"fold", "key"},
                        {"help", field.help}});
    }
    SummaryJson timeline = {{"signatures", SummaryNameOf(placement_.signatures)},
                            {"signature_fields", std::move(fields)}};
    SummaryJson& lanes = timeline["lanes"] = SummaryJson::array();
    for (size_t i = 0; i < content_.timeline.lanes.size(); ++i) {
      lanes.push_back(LaneOf(content_.timeline.lanes[i], i));
    }
    SummaryJson& links = timeline["links"] = SummaryJson::array();
    for (const Placement::Links& of : placement_.links) {
      links.push_back(
          {{"chunk", ChunkId(of.block)}, {"count", of.count}, {"kind", LinkWord(of.kind)}});
    }
    timeline["strips"] = SummaryNameOf(placement_.strips);
    SummaryJson& counters = timeline["counters"] = SummaryJson::array();
    for (size_t i = 0; i < content_.timeline.counters.size(); ++i) {
      const Counter& counter = content_.timeline.counters[i];
      if (!placement_.counters[i]) continue;
      counters.push_back({{"name", counter.name},
                          {"rank", counter.rank},
                          {"unit", counter.unit},
                          {"device", counter.device},
                          {"chunk", SummaryNameOf(placement_.counters[i])},
                          {"points", counter.times_ns.size()},
                          {"recorded", counter.recorded}});
    }
    return timeline;
  }

  SummaryJson LaneOf(const Lane& lane, size_t place) const {
    const bool stream = lane.kind == Lane::Kind::kStream;
    const auto of = [](bool has, int64_t value) {
      return has ? SummaryJson(value) : SummaryJson(nullptr);
    };
    SummaryJson json = {{"rank", lane.rank},
                        {"kind", stream ? "stream" : "thread"},
                        {"device", of(stream, lane.device)},
                        {"stream", of(stream, lane.stream)},
                        {"process", of(!stream, lane.process)},
                        {"thread", of(!stream, lane.thread)},
                        {"name", lane.name},
                        {"depth", lane.depth},
                        {"events", lane.events},
                        {"start_ns", Number(lane.start_ns)},
                        {"end_ns", Number(lane.end_ns)}};
    SummaryJson& levels = json["levels"] = SummaryJson::array();
    for (size_t i = 0; i < lane.levels.size(); ++i) {
      if (!placement_.levels[place][i]) continue;
      const Level& level = lane.levels[i];
      levels.push_back({{"bucket_ns", Number(level.bucket_ns)},
                        {"start_ns", Number(level.start_ns)},
                        {"count", level.count},
                        {"chunk", SummaryNameOf(placement_.levels[place][i])}});
    }
    SummaryJson& chunks = json["chunks"] = SummaryJson::array();
    for (size_t i = 0; i < lane.chunks.size(); ++i) {
      if (!placement_.chunks[place][i]) continue;
      const EventChunk& chunk = lane.chunks[i];
      chunks.push_back({{"start_ns", Number(chunk.start_ns)},
                        {"end_ns", Number(chunk.end_ns)},
                        {"count", chunk.count},
                        {"chunk", SummaryNameOf(placement_.chunks[place][i])},
                        {"wide", chunk.wide}});
    }
    SummaryJson& missing = json["missing"] = SummaryJson::array();
    for (const auto& [start_ns, end_ns] : MissingOf(lane, placement_.chunks[place])) {
      missing.push_back({{"start_ns", Number(start_ns)}, {"end_ns", Number(end_ns)}});
    }
    return json;
  }

  const PageContent& content_;
  const Placement& placement_;
};

}  // namespace

std::vector<std::pair<int64_t, int64_t>> MissingOf(const Lane& lane,
                                                   const std::vector<std::optional<size_t>>& kept) {
  size_t events = 0;
  for (size_t i = 0; i < lane.chunks.size(); ++i) {
    if (kept[i]) events += lane.chunks[i].count;
  }
  std::vector<std::pair<int64_t, int64_t>> missing;
  if (events == lane.events) return missing;
  int64_t known_to = lane.start_ns;
  for (size_t i = 0; i < lane.chunks.size(); ++i) {
    if (!kept[i]) continue;
    const EventChunk& chunk = lane.chunks[i];
    if (chunk.covers_from_ns > known_to) missing.emplace_back(known_to, chunk.covers_from_ns);
    known_to = std::max(known_to, chunk.covers_to_ns);
  }
  if (known_to < lane.end_ns || missing.empty()) missing.emplace_back(known_to, lane.end_ns);
  return missing;
}

std::string WriteFields(const PageContent& content) {
  Placement nothing;
  nothing.tables.resize(content.plans->tables.size());
  return SummaryWriter(content, nothing)
      .Fields()
      .dump(-1, ' ', false, SummaryJson::error_handler_t::replace);
}

std::string WriteSummary(const PageContent& content, const Placement& placement,
                         const std::vector<std::string>& left_out) {
  const SummaryJson summary = SummaryWriter(content, placement).Write(left_out);
  return SafeJson(summary.dump(-1, ' ', false, SummaryJson::error_handler_t::replace));
}

}  // namespace oplens::report
