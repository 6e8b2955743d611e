#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/append_format.h"
#include "base/error.h"
#include "base/team.h"
#include "base/threads.h"
#include "report/data/pack.h"
#include "report/missing_steps.h"

namespace oplens::report {
namespace {

// Divisors of the limit.
constexpr size_t kOfTable = 10;         ///< One table.
constexpr size_t kOfFurtherTables = 4;  ///< All tables by step and by other keys.
constexpr size_t kOfPyramids = 4;
constexpr size_t kOfSmallPage = 3;  ///< Pages up to this size get tables beyond their share.
constexpr size_t kOfCounters = 20;
constexpr size_t kOfLinks = 20;  ///< Reserved when host chunks are added.
/// Share of host events in windows before GPU events outside them, in tenths.
constexpr size_t kTenthsOfHost = 3;

/// Estimate of a block's overhead, with its number and its entry in the summary.
constexpr size_t kBlockBytes = 200;

std::string SizeText(size_t bytes) {
  if (bytes % 1'000'000 == 0) return fmt::format("{} MB", bytes / 1'000'000);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{} kB", (bytes + 999) / 1000);
}

std::string TooLarge(size_t limit) {
  return fmt::format(": the page would be larger than {} (--report-limit)", SizeText(limit));
}

std::string PackCounter(const Counter& counter) {
  std::string json = "{\"t\":[";
  const auto append = [&](const std::vector<int64_t>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) json.push_back(',');
      AppendJsonInteger(values[i], &json);
    }
  };
  append(counter.times_ns);
  json += "],\"v\":[";
  append(counter.values);
  return Deflate(json + "]}");
}

/// The lane and the event of both ends, as the page has them.
using PlacedLink = std::array<uint32_t, 4>;

std::string PackLinks(const std::vector<PlacedLink>& links) {
  std::string planes;
  planes.reserve(links.size() * sizeof(PlacedLink));
  std::vector<uint64_t> values(links.size());
  for (size_t field = 0; field < PlacedLink().size(); ++field) {
    for (size_t i = 0; i < links.size(); ++i) values[i] = links[i][field];
    AppendPlanes(values, sizeof(uint32_t), &planes);
  }
  return Deflate(planes);
}

}  // namespace

Page::Page(const PageContent& content, const PageShell& shell, const PathCutter& cutter)
    : content_(content),
      shell_(shell),
      cutter_(cutter),
      title_(EscapedForHtml(content.title)),
      fields_(Deflate(WriteFields(content))),
      limit_(content.limit_bytes) {
  Measure();
  if (size_ > limit_) {
    throw UsageError(
        fmt::format("--report-limit: the page takes {} bytes without any table: give "
                    "more than that",
                    size_));
  }
  used_ = size_;
  AddTables();
  AddTimelineFromAfar();
  AddFurtherTables();
  AddStrips();
  AddCounters();
  AddEvents(Lane::Kind::kStream, true, limit_);
  AddEvents(Lane::Kind::kThread, true, limit_ / 10 * kTenthsOfHost);
  AddEvents(Lane::Kind::kStream, false, limit_);
  AddEvents(Lane::Kind::kThread, false, limit_);
  AddLinks();
  FillWithTables();
  Measure();
  // Sizes were estimated: if they were too small, drop the last parts.
  while (size_ > limit_ && !parts_.empty()) {
    DropLinks();
    const size_t over = size_ - std::min(size_, limit_);
    for (size_t freed = 0; freed < over && !parts_.empty(); parts_.pop_back()) {
      freed += BytesOf(parts_.back());
    }
    Measure();
    used_ = size_;
    AddLinks();
    Measure();
  }
}

const std::string& Page::PackedOf(const Part& part) const {
  const Timeline& timeline = content_.timeline;
  switch (part.kind) {
    case Part::Kind::kLevel:
      return timeline.lanes[part.at].levels[part.second].packed;
    case Part::Kind::kEvents:
      return timeline.lanes[part.at].chunks[part.second].packed;
    case Part::Kind::kTable: {
      const std::string& packed = content_.tables->tables()[part.at].packed;
      return packed.empty() ? part.own : packed;
    }
    default:
      return part.own;
  }
}

size_t Page::BytesOf(const Part& part) const {
  return Base64Length(PackedOf(part).size()) + kBlockBytes;
}

bool Page::Take(Part part, size_t most_bytes) {
  const size_t bytes = BytesOf(part);
  if (bytes > most_bytes || bytes > left()) return false;
  used_ += bytes;
  parts_.push_back(std::move(part));
  return true;
}

bool Page::MayShow(size_t place) const {
  const PageTable& table = content_.tables->tables()[place];
  return table.rows > 0 && (!content_.plans->tables[place].whole || table.left_out == 0);
}

std::string Page::PackRows(size_t place, size_t rows) const {
  std::string json;
  WriteColumns(content_.tables->tables()[place].columns, rows, &json);
  return Deflate(json);
}

void Page::AddTable(size_t place, size_t most_bytes, std::string packed) {
  const PageTable& table = content_.tables->tables()[place];
  const bool whole = content_.plans->tables[place].whole;
  if (!MayShow(place)) return;
  Part part;
  part.at = place;
  part.count = table.rows;
  most_bytes = std::min(most_bytes, left());
  if (!table.packed.empty()) {
    Take(std::move(part), most_bytes);
    return;
  }
  while (true) {
    part.own = packed.empty() ? PackRows(place, part.count) : std::exchange(packed, {});
    const size_t bytes = BytesOf(part);
    if (bytes <= most_bytes || whole) break;
    // Aim below the limit, so that the next try is the last.
    const double fits = 0.9 * static_cast<double>(most_bytes) / static_cast<double>(bytes);
    part.count = static_cast<size_t>(fits * static_cast<double>(part.count));
    if (part.count == 0) return;
  }
  Take(std::move(part), most_bytes);
}

bool Page::IsRepeated(size_t table) const {
  const std::vector<Rank>& ranks = content_.timeline.ranks;
  return content_.plans->tables[table].kind == TableKind::kByStep && ranks.size() == 1 &&
         ranks.front().steps.size() + ranks.front().steps_left_out <= 1;
}

void Page::AddTables() {
  const auto& tables = content_.plans->tables;
  const auto rows_of = [&](size_t i) { return content_.tables->tables()[i].rows; };
  std::vector<size_t> plain;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].kind == TableKind::kPlain && MayShow(i)) plain.push_back(i);
  }
  // All their rows are packed by threads, the longest first; few do not fit and are packed again.
  std::stable_sort(plain.begin(), plain.end(),
                   [&](size_t a, size_t b) { return rows_of(a) > rows_of(b); });
  std::vector<std::string> packed(tables.size());
  Team team(std::min(plain.size(), static_cast<size_t>(ThreadLimit() - 1)));
  team.Each(plain.size(),
            [&](size_t n) { packed[plain[n]] = PackRows(plain[n], rows_of(plain[n])); });
  std::sort(plain.begin(), plain.end());
  for (const bool whole : {false, true}) {
    for (const size_t i : plain) {
      if (tables[i].whole == whole) AddTable(i, limit_ / kOfTable, std::move(packed[i]));
    }
  }
}

/// Adds the signatures, then levels, the coarsest first.
void Page::AddTimelineFromAfar() {
  const Timeline& timeline = content_.timeline;
  if (timeline.lanes.empty()) return;
  Part signatures;
  signatures.kind = Part::Kind::kSignatures;
  std::string json;
  WriteColumns(timeline.signatures.Columns(&cutter_), timeline.signatures.size(), &json);
  signatures.own = Deflate(json);
  if (!Take(std::move(signatures), limit_)) return;
  size_t most_levels = 0;
  for (const Lane& lane : timeline.lanes) most_levels = std::max(most_levels, lane.levels.size());
  size_t most_bytes = limit_ / kOfPyramids;
  for (size_t from_last = 1; from_last <= most_levels; ++from_last) {
    for (size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
      if (timeline.lanes[lane].levels.size() < from_last) continue;
      Part level;
      level.kind = Part::Kind::kLevel;
      level.at = lane;
      level.second = timeline.lanes[lane].levels.size() - from_last;
      const size_t bytes = BytesOf(level);
      if (Take(std::move(level), most_bytes)) most_bytes -= bytes;
    }
  }
}

void Page::AddFurtherTables() {
  const auto& tables = content_.plans->tables;
  const size_t before = used_;
  for (const TableKind kind : {TableKind::kByStep, TableKind::kGrouping}) {
    for (size_t i = 0; i < tables.size(); ++i) {
      const size_t taken = used_ - before;
      if (tables[i].kind != kind || taken > limit_ / kOfFurtherTables || IsRepeated(i)) continue;
      AddTable(i, std::min(limit_ / kOfTable, limit_ / kOfFurtherTables - taken));
    }
  }
}

/// Adds tables that exceeded their share of the limit if the page is still small. It stays small,
/// because pages are passed on.
void Page::FillWithTables() {
  const size_t small = limit_ / kOfSmallPage;
  const Placement placement = Place();
  const auto& tables = content_.plans->tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].kind == TableKind::kPlain || placement.tables[i].block || used_ >= small ||
        IsRepeated(i)) {
      continue;
    }
    AddTable(i, std::min(left(), small - used_));
  }
}

void Page::AddStrips() {
  if (content_.timeline.strips.empty()) return;
  Part part;
  part.kind = Part::Kind::kStrips;
  part.count = content_.timeline.strips.size();
  part.own = Deflate(StripsJson(content_.timeline.strips));
  Take(std::move(part), limit_ / kOfCounters);
}

void Page::AddCounters() {
  for (size_t i = 0; i < content_.timeline.counters.size(); ++i) {
    Part part;
    part.kind = Part::Kind::kCounter;
    part.at = i;
    part.own = PackCounter(content_.timeline.counters[i]);
    Take(std::move(part), limit_ / kOfCounters);
  }
}

/// Adds the remaining chunks of events, only those in windows or all, by window and time.
void Page::AddEvents(Lane::Kind kind, bool windows, size_t most_bytes) {
  if (std::none_of(parts_.begin(), parts_.end(),
                   [](const Part& part) { return part.kind == Part::Kind::kSignatures; })) {
    return;
  }
  struct Candidate {
    size_t window;
    int64_t start_ns;
    size_t lane;
    size_t chunk;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  const Placement placement = Place();
  const std::vector<Lane>& lanes = content_.timeline.lanes;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].kind != kind) continue;
    for (size_t i = 0; i < lanes[lane].chunks.size(); ++i) {
      const EventChunk& chunk = lanes[lane].chunks[i];
      if (chunk.packed.empty() || placement.chunks[lane][i]) continue;
      if (windows && chunk.window == EventChunk::kNoWindow) continue;
      candidates.push_back({chunk.window, chunk.start_ns, lane, i});
    }
  }
  std::sort(candidates.begin(), candidates.end());
  for (const Candidate& candidate : candidates) {
    Part part;
    part.kind = Part::Kind::kEvents;
    part.at = candidate.lane;
    part.second = candidate.chunk;
    const size_t reserve = kind == Lane::Kind::kThread ? limit_ / kOfLinks : 0;
    const size_t bytes = BytesOf(part);
    if (!Take(std::move(part), std::min(most_bytes, left() - std::min(left(), reserve)))) return;
    most_bytes -= bytes;
  }
}

/// Adds the links between events on the page, by their places on their lanes.
void Page::AddLinks() {
  const std::vector<Lane>& lanes = content_.timeline.lanes;
  const Placement placement = Place();
  // Index of each chunk's first event. A trace has fewer than 2^32 of any kind.
  std::vector<std::vector<uint32_t>> firsts(lanes.size());
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    uint32_t next = 0;
    for (size_t i = 0; i < lanes[lane].chunks.size(); ++i) {
      firsts[lane].push_back(next);
      if (placement.chunks[lane][i]) next += static_cast<uint32_t>(lanes[lane].chunks[i].count);
    }
  }
  const auto kept = [&](const Link::End& end) {
    return placement.chunks[end.lane][end.chunk].has_value();
  };
  for (const Link::Kind kind :
       {Link::Kind::kLaunch, Link::Kind::kBackward, Link::Kind::kCritical}) {
    const auto is_placed = [&](const Link& link) {
      return link.kind == kind && kept(link.from) && kept(link.to);
    };
    const auto event_of = [&](const Link::End& end) {
      return firsts[end.lane][end.chunk] + end.place;
    };
    std::vector<PlacedLink> links;
    // Of a million kernels there are as many.
    links.reserve(static_cast<size_t>(std::ranges::count_if(content_.timeline.links, is_placed)));
    for (const Link& link : content_.timeline.links) {
      if (!is_placed(link)) continue;
      links.push_back({link.from.lane, event_of(link.from), link.to.lane, event_of(link.to)});
    }
    if (links.empty()) continue;
    std::sort(links.begin(), links.end());
    Part part;
    part.kind = Part::Kind::kLinks;
    part.at = static_cast<size_t>(kind);
    part.count = links.size();
    part.own = PackLinks(links);
    Take(std::move(part), limit_);
  }
}

void Page::DropLinks() {
  std::erase_if(parts_, [](const Part& part) { return part.kind == Part::Kind::kLinks; });
}

Placement Page::Place() const {
  Placement placement;
  placement.tables.resize(content_.plans->tables.size());
  placement.counters.resize(content_.timeline.counters.size());
  for (const Lane& lane : content_.timeline.lanes) {
    placement.levels.emplace_back(lane.levels.size());
    placement.chunks.emplace_back(lane.chunks.size());
  }
  for (size_t block = 0; block < parts_.size(); ++block) {
    const Part& part = parts_[block];
    switch (part.kind) {
      case Part::Kind::kTable:
        placement.tables[part.at] = {block, part.count};
        break;
      case Part::Kind::kSignatures:
        placement.signatures = block;
        break;
      case Part::Kind::kLevel:
        placement.levels[part.at][part.second] = block;
        break;
      case Part::Kind::kStrips:
        placement.strips = block;
        break;
      case Part::Kind::kCounter:
        placement.counters[part.at] = block;
        break;
      case Part::Kind::kEvents:
        placement.chunks[part.at][part.second] = block;
        break;
      case Part::Kind::kLinks:
        placement.links.push_back({block, part.count, static_cast<Link::Kind>(part.at)});
        break;
    }
  }
  return placement;
}

void Page::Measure() {
  const Placement placement = Place();
  SayWhatIsLeftOut(placement);
  summary_ = WriteSummary(content_, placement, left_out_);
  size_ = shell_.size() + title_.size() + JsonBlockBytes("summary", summary_) +
          ChunkBytes(kFieldsId, fields_);
  for (size_t block = 0; block < parts_.size(); ++block) {
    size_ += ChunkBytes(ChunkId(block), PackedOf(parts_[block]));
  }
}

void Page::SayWhatIsLeftOut(const Placement& placement) {
  left_out_.clear();
  const std::string why = TooLarge(limit_);
  const auto say = [&](const std::string& what) { left_out_.push_back(what + why); };
  std::string further;
  for (size_t i = 0; i < placement.tables.size(); ++i) {
    const PageTable& table = content_.tables->tables()[i];
    const size_t all = table.rows + table.left_out;
    if (placement.tables[i].rows == all || IsRepeated(i)) continue;
    const prof::ViewPlan& plan = content_.plans->plans[i];
    if (content_.plans->tables[i].kind == TableKind::kPlain) {
      say(fmt::format("{} of the {} rows of {}", all - placement.tables[i].rows, all,
                      plan.view->name));
    } else {
      // Tables by rank and step: the last key, because the view's own may precede it.
      const bool by_step = content_.plans->tables[i].kind == TableKind::kByStep;
      AppendFormat(&further, "{}{} by {}", further.empty() ? "" : ", ", plan.view->name,
                   by_step ? plan.options.by.back() : plan.options.by.front());
    }
  }
  if (!further.empty()) say("tables (" + further + ")");
  SayOfTimeline(placement);
}

void Page::SayOfTimeline(const Placement& placement) {
  const Timeline& timeline = content_.timeline;
  const std::string why = TooLarge(limit_);
  size_t steps = 0;
  for (const Rank& rank : timeline.ranks) steps += rank.steps_left_out;
  if (steps > 0) left_out_.push_back(fmt::format("the times of {} steps", steps) + why);
  if (timeline.lanes_left_out > 0) {
    left_out_.push_back(
        fmt::format("the {} lanes with the fewest events", timeline.lanes_left_out) + why);
  }
  size_t levels = 0;
  size_t events[2] = {};
  size_t kept[2] = {};
  for (size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const size_t kind = static_cast<size_t>(timeline.lanes[lane].kind);
    events[kind] += timeline.lanes[lane].events;
    for (const auto& level : placement.levels[lane]) levels += level ? 0u : 1u;
    for (size_t i = 0; i < timeline.lanes[lane].chunks.size(); ++i) {
      if (placement.chunks[lane][i]) kept[kind] += timeline.lanes[lane].chunks[i].count;
    }
  }
  if (levels > 0) left_out_.push_back(fmt::format("{} levels of the timeline", levels) + why);
  const size_t device = static_cast<size_t>(Lane::Kind::kStream);
  if (kept[device] < events[device]) {
    left_out_.push_back(
        fmt::format("{} of the {} events of GPUs", events[device] - kept[device], events[device]) +
        why);
  }
  size_t counters = 0;
  for (size_t i = 0; i < timeline.counters.size(); ++i) {
    const Counter& counter = timeline.counters[i];
    if (!placement.counters[i]) {
      ++counters;
    } else if (counter.recorded > counter.times_ns.size()) {
      left_out_.push_back(
          fmt::format("{} of the {} points of {}: the least and the largest of each stretch of "
                      "time are on the page",
                      counter.recorded - counter.times_ns.size(), counter.recorded, counter.name));
    }
  }
  if (counters > 0) left_out_.push_back(fmt::format("{} counters", counters) + why);
  const size_t host = static_cast<size_t>(Lane::Kind::kThread);
  SayOfHost(placement, events[host], kept[host]);
}

void Page::SayOfHost(const Placement& placement, size_t events, size_t kept) {
  if (!content_.host) {
    left_out_.push_back("events of the host: --no-host");
    return;
  }
  if (kept == events) return;
  std::string lacking;
  std::string first;
  std::string why = fmt::format("as far as there is room for them on a page of {} (--report-limit)",
                                SizeText(limit_));
  if (content_.timeline.host.size() == 1) {
    const HostRequest& wish = content_.timeline.host.front();
    lacking = StepsWithoutHost(content_.timeline, placement, wish);
    if (!lacking.empty()) lacking.insert(0, ", of ");
    for (const int64_t step : wish.steps) {
      AppendFormat(&first, "{}{}", first.empty() ? " (" : ", ", step);
    }
    if (!first.empty()) first += ')';
    if (wish.most_events > 0) {
      why = fmt::format("at most {} events on a page of {} (--report-limit)", wish.most_events,
                        SizeText(limit_));
    }
  }
  left_out_.push_back(
      fmt::format("{} of the {} events of the host{}: those of the first, the median and the "
                  "longest step{} come first, then further steps in the order of time, {}",
                  events - kept, events, lacking, first, why));
}

void Page::Write(Output* output) const {
  output->Write(shell_.head);
  output->Write(title_);
  output->Write(shell_.middle);
  WriteBlocks(output);
  output->Write(shell_.tail);
}

void Page::WriteBlocks(Output* output) const {
  WriteJsonBlock("summary", summary_, output);
  WriteChunk(kFieldsId, fields_, output);
  for (size_t block = 0; block < parts_.size(); ++block) {
    WriteChunk(ChunkId(block), PackedOf(parts_[block]), output);
  }
}

}  // namespace oplens::report
