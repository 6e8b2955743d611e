#include "prof/diff/diff.h"

#include <algorithm>
#include <cmath>

namespace oplens::prof {
namespace {

/// Combines several rows of a side.
class Folded {
 public:
  explicit Folded(Fold fold) : fold_(fold) {}
  void Add(const std::optional<double>& value) {
    if (!value) return;
    if (!sum_) {
      sum_ = value;
    } else if (fold_ == Fold::kMin) {
      sum_ = std::min(*sum_, *value);
    } else if (fold_ == Fold::kMax) {
      sum_ = std::max(*sum_, *value);
    } else if (fold_ == Fold::kSum) {
      *sum_ += *value;
    } else {
      single_ = false;
    }
  }
  /// Unknown if the rows do not combine to one value.
  std::optional<double> value() const { return single_ ? sum_ : std::nullopt; }

 private:
  Fold fold_;
  std::optional<double> sum_;
  bool single_ = true;
};

}  // namespace

std::string_view WordOf(Change change) {
  constexpr std::string_view kWords[] = {"same",   "added", "removed", "slower",
                                         "faster", "count", "shape",   "kernel"};
  return kWords[static_cast<size_t>(change)];
}

std::optional<double> Figure::delta() const {
  if ((!base && !now) || (!adds_up && (!base || !now))) return std::nullopt;
  return now.value_or(0) - base.value_or(0);
}

std::optional<double> Figure::delta_pct() const {
  if (!base || *base == 0 || !delta()) return std::nullopt;
  return 100 * *delta() / std::abs(*base);
}

std::optional<size_t> DiffTable::FigureOf(std::string_view key) const {
  for (size_t i = 0; i < figures.size(); ++i) {
    if (figures[i].key == key) return i;
  }
  return std::nullopt;
}

const DiffTable* Diff::TableOf(std::string_view view) const {
  for (const DiffTable& table : tables) {
    if (table.view == view) return &table;
  }
  return nullptr;
}

RowSum SumOf(const DiffTable& table, size_t figure, const std::vector<const DiffRow*>& rows) {
  RowSum sum;
  sum.rows = rows.size();
  const FieldRatio ratio = table.figures[figure].ratio;
  sum.figure.adds_up = table.figures[figure].fold == Fold::kSum;
  if (!ratio.empty() && rows.size() != 1) {
    const std::optional<size_t> over = table.FigureOf(ratio.over);
    std::optional<double> above_base;
    std::optional<double> above_now;
    for (std::string_view parts = ratio.of; !parts.empty();) {
      const size_t end = std::min(parts.find('+'), parts.size());
      const std::optional<size_t> place = table.FigureOf(parts.substr(0, end));
      parts.remove_prefix(std::min(end + 1, parts.size()));
      if (!place || !over) return sum;
      const Figure one = SumOf(table, *place, rows).figure;
      if (one.base) above_base = above_base.value_or(0) + *one.base;
      if (one.now) above_now = above_now.value_or(0) + *one.now;
    }
    if (!over) return sum;
    const Figure below = SumOf(table, *over, rows).figure;
    const auto quotient = [&](const std::optional<double>& a, const std::optional<double>& b) {
      return a && b && *b != 0 ? std::optional(*a * ratio.times / *b) : std::nullopt;
    };
    sum.figure.base = quotient(above_base, below.base);
    sum.figure.now = quotient(above_now, below.now);
    return sum;
  }
  Folded base(table.figures[figure].fold);
  Folded now(table.figures[figure].fold);
  double squares = 0;
  bool has_band = !rows.empty();
  bool changed = false;
  bool same = !rows.empty();
  for (const DiffRow* row : rows) {
    const Figure& one = row->figures[figure];
    base.Add(one.base);
    now.Add(one.now);
    has_band = has_band && (one.band || one.delta() == 0.0);
    squares += one.band.value_or(0) * one.band.value_or(0);
    changed = changed || one.verdict == Verdict::kChanged;
    same = same && one.verdict == Verdict::kSame;
  }
  Figure& figure_of_all = sum.figure;
  figure_of_all.base = base.value();
  figure_of_all.now = now.value();
  if (rows.size() == 1) {
    figure_of_all = rows.front()->figures[figure];
    return sum;
  }
  if (has_band) figure_of_all.band = std::sqrt(squares);
  const std::optional<double> delta = figure_of_all.delta();
  if (delta && *delta == 0.0) {
    figure_of_all.verdict = Verdict::kSame;
  } else if (delta && has_band) {
    figure_of_all.verdict =
        std::abs(*delta) > *figure_of_all.band ? Verdict::kChanged : Verdict::kSame;
  } else if (same || changed) {
    figure_of_all.verdict = changed ? Verdict::kChanged : Verdict::kSame;
  }
  if (delta && figure_of_all.verdict != Verdict::kSame && *delta != 0) {
    figure_of_all.change = *delta > 0 ? Change::kSlower : Change::kFaster;
  }
  return sum;
}

}  // namespace oplens::prof
