#include "oplens/kernel_times.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "ops/kernels/kernel_family.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"
#include "prof/price/kernel_facts.h"

namespace oplens::screen {
namespace {

// Beyond this many names of a kind, further names are summed as "", which bounds memory.
constexpr size_t kMostNames = size_t{1} << 18;
constexpr char kKernelTimesBetween = '\n';

constexpr ops::Bound kBoundsOfTimes[RoofTimes::kBounds] = {ops::Bound::kMath, ops::Bound::kDram,
                                                           ops::Bound::kLatency};

int64_t NsOf(const prof::PricedKernel& kernel) {
  return kernel.record->timed() ? kernel.record->duration_ns : 0;
}

template <typename Map>
auto& EntryOf(Map* map, std::string_view key) {
  const auto found = map->find(key);
  if (found != map->end()) return found->second;
  return (*map)[std::string(map->size() < kMostNames ? key : std::string_view())];
}

int64_t BoundKnown(const RoofTimes& times) {
  int64_t known_ns = 0;
  for (const int64_t ns : times.bound_ns) known_ns += ns;
  return known_ns;
}

bool IsWordCharacter(char c) { return IsLetter(c) || static_cast<unsigned char>(c) >= 0x80; }

Cost CostOf(std::string name, const RoofTimes& times, double whole_ns) {
  const prof::GroupSums& sums = times.sums;
  Cost cost;
  cost.name = std::move(name);
  cost.kernels = sums.kernels;
  cost.total_ns = static_cast<double>(sums.total_ns);
  if (times.communication_ns > 0) {
    cost.communication_ns = static_cast<double>(times.communication_ns);
  }
  cost.share_pct = whole_ns > 0 ? 100 * cost.total_ns / whole_ns : 0;
  const auto known = [&](std::optional<double> figure, int64_t known_ns) {
    return ShowsRate(sums.PercentOfTotal(known_ns)) ? figure : std::nullopt;
  };
  cost.tflops = known(sums.TeraflopsPerSecond(), sums.rated_flops_ns);
  cost.gbps = known(sums.GigabytesPerSecond(), sums.rated_bytes_ns);
  cost.tc_pct = known(sums.TensorCorePercent(), sums.tensor_core_known_ns);
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

void RoofTimes::Add(const prof::PricedKernel& kernel) {
  sums.Add(kernel);
  const ops::Roofline& roofline = prof::FiguresOf(kernel).roofline;
  const auto* const bound = std::ranges::find(kBoundsOfTimes, roofline.bound);
  if (bound == std::end(kBoundsOfTimes)) return;
  bound_ns[static_cast<size_t>(bound - kBoundsOfTimes)] += NsOf(kernel);
  roof_ns += static_cast<double>(NsOf(kernel)) / 100 *
             std::max(roofline.percent_of_math.value_or(0), roofline.percent_of_dram.value_or(0));
}

void RoofTimes::Add(const RoofTimes& more) {
  sums.Merge(more.sums);
  communication_ns += more.communication_ns;
  for (size_t i = 0; i < kBounds; ++i) bound_ns[i] += more.bound_ns[i];
  roof_ns += more.roof_ns;
}

std::string_view RoofTimes::Bound() const {
  const int64_t known_ns = BoundKnown(*this);
  if (known_ns <= 0 || known_ns < sums.total_ns / 2) return {};
  const auto* const most = std::max_element(bound_ns.begin(), bound_ns.end());
  if (*most < known_ns / 5 * 4) return "mixed";
  return ops::BoundWord(kBoundsOfTimes[static_cast<size_t>(most - bound_ns.begin())]);
}

std::optional<double> RoofTimes::RoofPct() const {
  if (Bound().empty()) return std::nullopt;
  return 100 * roof_ns / static_cast<double>(BoundKnown(*this));
}

void KernelTimes::Add(const prof::PricedKernel& kernel) {
  const int64_t ns = NsOf(kernel);
  const std::string_view name = kernel.record->short_name;
  all_.Add(kernel);
  EntryOf(&ops_, kernel.op).Add(kernel);
  EntryOf(&kernels_, name).Add(kernel);
  EntryOf(&EntryOf(&ops_of_kernels_, name), kernel.op) += ns;
  if (!kernel.op.empty()) op_known_ns_ += ns;
  const ops::TensorCoreFitness fitness = prof::FiguresOf(kernel).tensor_core.fitness;
  if (fitness != ops::TensorCoreFitness::kUnknown) tc_judged_ns_ += ns;
  if (fitness == ops::TensorCoreFitness::kYes &&
      prof::TensorCoreUseOf(kernel) == ops::TensorCoreUse::kNo) {
    missed_tc_ns_ += ns;
  }
  const auto family = prof::FamilyOf(kernel);
  const bool collective =
      family == ops::KernelFamily::kCollective || family == ops::KernelFamily::kP2p;
  if (collective) collectives_.Add(kernel);
  if (kernel.layer.empty()) return;
  path_.clear();
  for (const std::string_view layer : kernel.layer) {
    if (!path_.empty()) path_.push_back(kKernelTimesBetween);
    path_.append(layer);
  }
  RoofTimes& times = EntryOf(&layers_, path_);
  if (collective) {
    times.communication_ns += ns;
  } else {
    times.Add(kernel);
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
    RoofTimes times;
    size_t count = 0;
    std::string_view largest;
    int64_t largest_ns = -1;
  };
  std::map<std::string, Alike> folded;
  for (const auto& [path, times] : layers_) {
    const size_t last = path.rfind(kKernelTimesBetween);
    const std::string_view name = std::string_view(path).substr(last + 1);
    Alike& alike = folded[FoldNumbers(name)];
    alike.times.Add(times);
    ++alike.count;
    const bool larger = times.sums.total_ns > alike.largest_ns ||
                        (times.sums.total_ns == alike.largest_ns && path < alike.largest);
    if (larger) {
      alike.largest = path;
      alike.largest_ns = times.sums.total_ns;
    }
  }
  std::vector<std::pair<const std::string*, const Alike*>> order;
  order.reserve(folded.size());
  for (const auto& [name, alike] : folded) order.emplace_back(&name, &alike);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second->times.sums.total_ns > b.second->times.sums.total_ns;
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
  if (!costs.rows.empty() && collectives_.sums.kernels > 0) {
    costs.collectives = CostOf("(collectives)", collectives_, whole_ns);
  }
  return costs;
}

}  // namespace oplens::screen
