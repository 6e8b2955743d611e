#include "prof/diff/place_diff.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/median.h"
#include "prof/verdicts/noise.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr Field kPlaceDiffKeyFields[] = {
    {"layer", "Layer", "", kText, Field::kShared, "layers around the call, outermost first",
     Fold::kKey},
    {"op", "Op", "", kText, 20, "op that launched it; for copies and memsets their kind",
     Fold::kKey},
    {"dir", "Direction", "", kText, 9, "fprop or bprop", Fold::kKey},
    {"shape", "Shape", "", kText, Field::kShared, "extents of the tensors among its arguments",
     Fold::kKey},
    {"work", "Work", "", kText, 13, "compute, communication, copy, fill or replay", Fold::kKey},
    {"kernel", "Kernel", "", kName, Field::kShared, "kernel that takes the most time", Fold::kKey},
};

enum FigurePlace : size_t { kTime, kLaunches, kTcTime, kTcKnown, kTcPct, kFlops, kBytes };

/// A figure of a row, and the member of PlaceSums whose mean it is; null for ratios of others.
struct PlaceFigure {
  Field field;
  int64_t PlaceSums::*sum = nullptr;
};

constexpr PlaceFigure kPlaceFigures[] = {
    {{"device_self_ns", "DevSelf(ns)", "ns", kDecimal, 13, "time on the GPU per step", Fold::kSum},
     &PlaceSums::time_ns},
    {{"launches", "Launches", "", kDecimal, 8, "kernels, copies and memsets per step", Fold::kSum},
     &PlaceSums::count},
    {{"tc_ns", "TC(ns)", "ns", kDecimal, 13, "part of the time in kernels that use Tensor Cores",
      Fold::kSum},
     &PlaceSums::tc_ns},
    {{"tc_known_ns", "TCKnown(ns)", "ns", kDecimal, 13,
      "part of the time in kernels for which that use is known", Fold::kSum},
     &PlaceSums::tc_known_ns},
    {AsRatio({"tc_self_pct", "TCSelf(%)", "%", kDecimal, 8, "tc_ns / tc_known_ns * 100"},
             {"tc_ns", "tc_known_ns", 100})},
    {{"flops", "FLOPs", "FLOP", kDecimal, 18, "per step, over the kernels whose FLOPs are known",
      Fold::kSum},
     &PlaceSums::flops},
    {{"bytes", "Bytes", "B", kDecimal, 16, "per step, over the kernels whose bytes are known",
      Fold::kSum},
     &PlaceSums::bytes},
};

/// Whether one side usually runs kernels that the other never runs.
bool OtherKernels(const SidePlace& base, const SidePlace& now) {
  const auto misses = [](const std::set<std::string_view>& usual,
                         const std::set<std::string_view>& all) {
    return std::any_of(usual.begin(), usual.end(),
                       [&](std::string_view kernel) { return all.count(kernel) == 0; });
  };
  return misses(base.usual_kernels, now.all_kernels) || misses(now.usual_kernels, base.all_kernels);
}

/// The values of a place by sample: 0 if it did not run.
std::vector<double> BySample(const Side& side, std::optional<size_t> place,
                             int64_t PlaceSums::*sum) {
  std::vector<double> values(side.samples().size(), 0);
  if (!place) return values;
  for (const PlaceSums& sums : side.places()[*place].sums) {
    values[sums.sample] = static_cast<double>(sums.*sum);
  }
  return values;
}

class Differ {
 public:
  Differ(const Side& base, const Side& now, const Alignment& alignment)
      : base_(base), now_(now), comparisons_(2 * alignment.pairs.size()) {}

  DiffRow RowOf(const PlacePair& pair) const {
    DiffRow row;
    FillKeys(pair, &row);
    row.figures.resize(std::size(kPlaceFigures));
    for (size_t i = 0; i < std::size(kPlaceFigures); ++i) {
      if (kPlaceFigures[i].sum != nullptr) FillFigure(pair, kPlaceFigures[i].sum, &row.figures[i]);
    }
    const std::vector<double> counts[] = {BySample(base_, pair.base, &PlaceSums::count),
                                          BySample(now_, pair.now, &PlaceSums::count)};
    Figure& time = row.figures[kTime];
    Judge(BySample(base_, pair.base, &PlaceSums::time_ns),
          BySample(now_, pair.now, &PlaceSums::time_ns), &time);
    Judge(counts[0], counts[1], &row.figures[kLaunches]);
    const auto percent = [&](auto side) -> std::optional<double> {
      const std::optional<double>& known = row.figures[kTcKnown].*side;
      if (!known || *known <= 0) return std::nullopt;
      return 100 * *(row.figures[kTcTime].*side) / *known;
    };
    row.figures[kTcPct].base = percent(&Figure::base);
    row.figures[kTcPct].now = percent(&Figure::now);
    row.figures[kTcPct].adds_up = false;
    time.change = ChangeOf(pair, row, counts[0], counts[1]);
    row.figures[kLaunches].change =
        row.figures[kLaunches].verdict == Verdict::kSame || row.figures[kLaunches].delta() == 0.0
            ? Change::kSame
            : Change::kCount;
    return row;
  }

 private:
  void FillKeys(const PlacePair& pair, DiffRow* row) const {
    const auto texts = [](const SidePlace& place) {
      std::vector<std::string> keys;
      for (const std::string_view key : place.keys) keys.emplace_back(key);
      keys[SidePlace::kKernel] = place.main_kernel;
      return keys;
    };
    if (pair.base) row->base_keys = texts(base_.places()[*pair.base]);
    if (!pair.now) {
      row->keys = std::exchange(row->base_keys, {});
      return;
    }
    row->keys = texts(now_.places()[*pair.now]);
    if (row->base_keys == row->keys) row->base_keys.clear();
  }

  void FillFigure(const PlacePair& pair, int64_t PlaceSums::*sum, Figure* to) const {
    const auto mean = [sum](const Side& side, size_t place) {
      double all = 0;
      for (const PlaceSums& sums : side.places()[place].sums) {
        all += static_cast<double>(sums.*sum);
      }
      return all / static_cast<double>(side.samples().size());
    };
    if (pair.base) to->base = mean(base_, *pair.base);
    if (pair.now) to->now = mean(now_, *pair.now);
  }

  void Judge(const std::vector<double>& base, const std::vector<double>& now,
             Figure* figure) const {
    const Noise noise = NoiseOf(base, now, comparisons_);
    figure->band = noise.band;
    figure->verdict = noise.verdict;
  }

  Change ChangeOf(const PlacePair& pair, const DiffRow& row, const std::vector<double>& base_counts,
                  const std::vector<double>& now_counts) const {
    const Figure& time = row.figures[kTime];
    const Figure& launches = row.figures[kLaunches];
    // Rare work may be missing by chance.
    const bool by_chance =
        time.verdict == Verdict::kSame && launches.verdict == Verdict::kSame && time.delta() != 0.0;
    if (!pair.base || !pair.now) {
      if (by_chance) return Change::kSame;
      return pair.now ? Change::kAdded : Change::kRemoved;
    }
    const SidePlace& base = base_.places()[*pair.base];
    const SidePlace& now = now_.places()[*pair.now];
    if (base.keys[SidePlace::kShape] != now.keys[SidePlace::kShape]) {
      return by_chance ? Change::kSame : Change::kShape;
    }
    if (OtherKernels(base, now)) return Change::kKernel;
    if (launches.verdict != Verdict::kSame && MedianOf(base_counts) != MedianOf(now_counts)) {
      return Change::kCount;
    }
    const double delta = time.delta().value_or(0);
    if (time.verdict == Verdict::kSame || delta == 0) return Change::kSame;
    return delta > 0 ? Change::kSlower : Change::kFaster;
  }

  const Side& base_;
  const Side& now_;
  size_t comparisons_;
};

}  // namespace

PlaceDiff DiffPlaces(const Side& base, const Side& now, Alignment alignment) {
  PlaceDiff diff;
  diff.table.view = "operators";
  diff.table.keys.assign(std::begin(kPlaceDiffKeyFields), std::end(kPlaceDiffKeyFields));
  for (const PlaceFigure& figure : kPlaceFigures) diff.table.figures.push_back(figure.field);
  diff.table.shown_figures = 1;
  diff.table.main = kTime;
  diff.table.explains_total = true;
  const Differ differ(base, now, alignment);
  std::vector<DiffRow> rows;
  rows.reserve(alignment.pairs.size());
  for (const PlacePair& pair : alignment.pairs) rows.push_back(differ.RowOf(pair));
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const double delta_a = std::abs(rows[a].figures[kTime].delta().value_or(0));
    const double delta_b = std::abs(rows[b].figures[kTime].delta().value_or(0));
    if (delta_a != delta_b) return delta_a > delta_b;
    return std::tie(rows[a].keys, rows[a].base_keys) < std::tie(rows[b].keys, rows[b].base_keys);
  });
  for (const size_t i : order) {
    if (rows[i].figures[kTime].change == Change::kShape) ++diff.other_shapes;
    diff.table.rows.push_back(std::move(rows[i]));
    diff.pairs.push_back(alignment.pairs[i]);
  }
  return diff;
}

}  // namespace oplens::prof
