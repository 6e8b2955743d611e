#include "oplens/kernel_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "prof/table/cell.h"

namespace oplens::screen {
namespace {

using prof::Cell;

// Places of the fields of Columns(), in their order.
enum Place : size_t {
  kOp,
  kKernel,
  kLayer,
  kTime,
  kTc,
  kTcElig,
  kFlops,
  kBytes,
  kPctMath,
  kPctDram,
  kBound,
  kFamily,
};

// After so many names of a kind further ones are summed with none: memory stays bounded.
constexpr size_t kMostNames = size_t{1} << 18;
constexpr char kKernelTimesBetween = '\n';

constexpr std::string_view kBoundWords[TimesOf::kBounds] = {"math", "dram", "latency"};

std::string_view TextOf(const Cell& cell) {
  const auto* const text = std::get_if<std::string_view>(&cell.value);
  return text == nullptr ? std::string_view() : *text;
}

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* const whole = std::get_if<int64_t>(&cell.value)) {
    return static_cast<double>(*whole);
  }
  const auto* const decimal = std::get_if<double>(&cell.value);
  return decimal == nullptr ? std::nullopt : std::optional<double>(*decimal);
}

/// Adds a kernel: cells in the order of Columns().
void AddTo(TimesOf* times, std::span<const Cell> cells, int64_t ns) {
  ++times->kernels;
  times->total_ns += ns;
  if (const auto flops = NumberOf(cells[kFlops]); flops && ns > 0) {
    times->flops += *flops;
    times->flops_ns += ns;
  }
  if (const auto bytes = NumberOf(cells[kBytes]); bytes && ns > 0) {
    times->bytes += *bytes;
    times->bytes_ns += ns;
  }
  if (const auto tc = NumberOf(cells[kTc])) {
    times->tc_known_ns += ns;
    if (*tc > 0) times->tc_ns += ns;
  }
  const auto* const bound = std::ranges::find(kBoundWords, TextOf(cells[kBound]));
  if (bound == std::end(kBoundWords)) return;
  times->bound_ns[static_cast<size_t>(bound - kBoundWords)] += ns;
  times->roof_ns +=
      static_cast<double>(ns) / 100 *
      std::max(NumberOf(cells[kPctMath]).value_or(0), NumberOf(cells[kPctDram]).value_or(0));
}

void AddTo(TimesOf* times, const TimesOf& more) {
  times->kernels += more.kernels;
  times->communication_ns += more.communication_ns;
  times->total_ns += more.total_ns;
  times->flops += more.flops;
  times->flops_ns += more.flops_ns;
  times->bytes += more.bytes;
  times->bytes_ns += more.bytes_ns;
  times->tc_ns += more.tc_ns;
  times->tc_known_ns += more.tc_known_ns;
  for (size_t i = 0; i < TimesOf::kBounds; ++i) times->bound_ns[i] += more.bound_ns[i];
  times->roof_ns += more.roof_ns;
}

template <typename Map>
auto& EntryOf(Map* map, std::string_view key) {
  const auto found = map->find(key);
  if (found != map->end()) return found->second;
  return (*map)[std::string(map->size() < kMostNames ? key : std::string_view())];
}

int64_t BoundKnown(const TimesOf& times) {
  int64_t known_ns = 0;
  for (const int64_t ns : times.bound_ns) known_ns += ns;
  return known_ns;
}

bool IsWordCharacter(char c) { return IsLetter(c) || static_cast<unsigned char>(c) >= 0x80; }

/// `ns`: of which the amount is known.
std::optional<double> KernelTimesRate(double amount, int64_t ns, int64_t total_ns, double scale) {
  if (ns <= 0 || ns < total_ns - ns) return std::nullopt;
  return amount / static_cast<double>(ns) * scale;
}

Cost CostOf(std::string name, const TimesOf& times, double whole_ns) {
  Cost cost;
  cost.name = std::move(name);
  cost.kernels = times.kernels;
  cost.total_ns = static_cast<double>(times.total_ns);
  if (times.communication_ns > 0) {
    cost.communication_ns = static_cast<double>(times.communication_ns);
  }
  cost.share_pct = whole_ns > 0 ? 100 * cost.total_ns / whole_ns : 0;
  cost.tflops = times.Tflops();
  cost.gbps = times.Gbps();
  cost.tc_pct = times.TensorCorePct();
  cost.bound = times.Bound();
  cost.roof_pct = times.RoofPct();
  return cost;
}

}  // namespace

std::string FoldNumbers(std::string_view name) {
  std::string folded;
  for (size_t i = 0; i < name.size();) {
    if (!IsDigit(name[i])) {
      folded.push_back(name[i++]);
      continue;
    }
    size_t end = i;
    while (end < name.size() && IsDigit(name[end])) ++end;
    const bool within = (i > 0 && IsWordCharacter(name[i - 1])) ||
                        (end < name.size() && IsWordCharacter(name[end]));
    if (within) {
      folded.append(name.substr(i, end - i));
    } else {
      folded.push_back('*');
    }
    i = end;
  }
  return folded;
}

std::string_view TimesOf::Bound() const {
  const int64_t known_ns = BoundKnown(*this);
  if (known_ns <= 0 || known_ns < total_ns / 2) return {};
  const auto* const most = std::max_element(bound_ns.begin(), bound_ns.end());
  if (*most < known_ns / 5 * 4) return "mixed";
  return kBoundWords[static_cast<size_t>(most - bound_ns.begin())];
}

std::optional<double> TimesOf::RoofPct() const {
  if (Bound().empty()) return std::nullopt;
  return 100 * roof_ns / static_cast<double>(BoundKnown(*this));
}

std::optional<double> TimesOf::Tflops() const {
  constexpr double kPerNsInTera = 1e-3;
  return KernelTimesRate(flops, flops_ns, total_ns, kPerNsInTera);
}

std::optional<double> TimesOf::Gbps() const {
  return KernelTimesRate(bytes, bytes_ns, total_ns, 1);
}

std::optional<double> TimesOf::TensorCorePct() const {
  constexpr double kPercent = 100;
  return KernelTimesRate(static_cast<double>(tc_ns), tc_known_ns, total_ns, kPercent);
}

void KernelTimes::Begin(std::string_view, std::vector<prof::Field>) {}

void KernelTimes::Row(std::span<const Cell> cells) {
  const auto* const told = std::get_if<int64_t>(&cells[kTime].value);
  const int64_t ns = told == nullptr ? 0 : std::max(*told, int64_t{0});
  ++kernel_count_;
  total_ns_ += ns;
  const std::string_view op = TextOf(cells[kOp]);
  const std::string_view kernel = TextOf(cells[kKernel]);
  AddTo(&EntryOf(&ops_, op), cells, ns);
  AddTo(&EntryOf(&kernels_, kernel), cells, ns);
  EntryOf(&EntryOf(&ops_of_kernels_, kernel), op) += ns;
  if (!op.empty()) op_known_ns_ += ns;
  if (NumberOf(cells[kFlops])) flops_known_ns_ += ns;
  const std::string_view eligible = TextOf(cells[kTcElig]);
  if (eligible != "?") tc_judged_ns_ += ns;
  if (eligible == "1" && NumberOf(cells[kTc]).value_or(1) == 0) missed_tc_ns_ += ns;
  const std::string_view family = TextOf(cells[kFamily]);
  const bool collective = family == "collective" || family == "p2p";
  if (collective) AddTo(&collectives_, cells, ns);
  const auto* const layer = std::get_if<Cell::Texts>(&cells[kLayer].value);
  if (layer == nullptr || layer->texts.empty()) return;
  path_.clear();
  for (const std::string_view name : layer->texts) {
    if (!path_.empty()) path_.push_back(kKernelTimesBetween);
    path_.append(name);
  }
  TimesOf& times = EntryOf(&layers_, path_);
  if (collective) {
    times.communication_ns += ns;
  } else {
    AddTo(&times, cells, ns);
  }
}

std::string KernelTimes::MainOpOf(std::string_view kernel) const {
  const auto found = ops_of_kernels_.find(kernel);
  if (found == ops_of_kernels_.end()) return {};
  std::string_view most;
  int64_t most_ns = -1;
  for (const auto& [op, ns] : found->second) {
    if (ns < most_ns || (ns == most_ns && op >= most)) continue;
    most = op;
    most_ns = ns;
  }
  return std::string(most);
}

Costs KernelTimes::Layers(size_t most, double whole_ns) const {
  struct Alike {
    TimesOf times;
    size_t count = 0;
    std::string_view largest;
    int64_t largest_ns = -1;
  };
  std::map<std::string, Alike> folded;
  for (const auto& [path, times] : layers_) {
    const size_t last = path.rfind(kKernelTimesBetween);
    const std::string_view name = std::string_view(path).substr(last + 1);
    Alike& alike = folded[FoldNumbers(name)];
    AddTo(&alike.times, times);
    ++alike.count;
    const bool larger = times.total_ns > alike.largest_ns ||
                        (times.total_ns == alike.largest_ns && path < alike.largest);
    if (larger) {
      alike.largest = path;
      alike.largest_ns = times.total_ns;
    }
  }
  std::vector<std::pair<const std::string*, const Alike*>> order;
  order.reserve(folded.size());
  for (const auto& [name, alike] : folded) order.emplace_back(&name, &alike);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second->times.total_ns > b.second->times.total_ns;
  });
  Costs costs;
  for (const auto& [name, alike] : order) {
    Cost cost = CostOf(*name, alike->times, whole_ns);
    if (costs.rows.size() == most) {
      ++costs.others;
      costs.others_pct += cost.share_pct;
      continue;
    }
    std::string path(alike->largest);
    cost.alike = alike->count;
    if (alike->count == 1) {
      cost.name = path.substr(path.rfind(kKernelTimesBetween) + 1);
    } else {
      cost.largest_pct = whole_ns > 0 ? 100 * static_cast<double>(alike->largest_ns) / whole_ns : 0;
    }
    std::replace(path.begin(), path.end(), kKernelTimesBetween, '/');
    cost.largest = std::move(path);
    costs.rows.push_back(std::move(cost));
  }
  if (!costs.rows.empty() && collectives_.kernels > 0) {
    costs.collectives = CostOf("(collectives)", collectives_, whole_ns);
  }
  return costs;
}

}  // namespace oplens::screen
