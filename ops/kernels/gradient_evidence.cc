#include "ops/kernels/gradient_evidence.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "base/ascii.h"

namespace oplens::ops {
namespace {

// ---- evidence: log-odds of wgrad against dgrad ----

double LogOdds(double probability) { return std::log(probability / (1 - probability)); }

double Probability(double log_odds) { return 1 / (1 + std::exp(-std::abs(log_odds))); }

struct WordRule {
  std::string_view text;
  double toward_wgrad;  // 1 or -1
};

// cuDNN and others name the gradient.
constexpr WordRule kGradientEvidenceWords[] = {
    {"wgrad", 1},  {"Wgrad", 1},  {"BackwardFilter", 1}, {"bwd_weight", 1}, {"backward_weight", 1},
    {"dgrad", -1}, {"Dgrad", -1}, {"BackwardData", -1},  {"bwd_data", -1},  {"backward_input", -1},
};

double FromWords(std::string_view name) {
  for (const WordRule& rule : kGradientEvidenceWords) {
    if (name.find(rule.text) != std::string_view::npos) return rule.toward_wgrad * LogOdds(.99);
  }
  return 0;
}

int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Whether tiles covering an output of rows x columns make up the grid. grid.z is the batch or the
// splits of the sum, which some kernels fold into x and y.
bool GradientEvidenceCovers(const Tile& tile, const Dim3& grid, int64_t rows, int64_t columns,
                            int64_t batch) {
  const Checked plane = Checked(grid.x) * grid.y;
  const Checked all = plane * grid.z;
  for (const auto& [a, b] : {std::pair(tile.a, tile.b), std::pair(tile.b, tile.a)}) {
    const Checked tiles = Checked(CeilDivide(rows, a)) * CeilDivide(columns, b);
    if (tiles == plane || tiles * batch == all) return true;
  }
  return false;
}

double FromTile(const MatrixProduct& p, const InstanceKernel& kernel) {
  if (p.m <= 0 || p.n <= 0 || p.k <= 0) return 0;
  const std::optional<Tile> tile = TileOf(kernel.long_name);
  if (!tile) return 0;
  const bool dgrad = GradientEvidenceCovers(*tile, kernel.grid, p.m, p.k, p.batch);
  const bool wgrad = GradientEvidenceCovers(*tile, kernel.grid, p.k, p.n, p.batch);
  if (dgrad == wgrad) return 0;
  return (wgrad ? 1 : -1) * LogOdds(.97);
}

// For a weight stored as [outputs, inputs] (row-major framework, column-major BLAS) dgrad is "nn"
// and wgrad "nt". Operands of other products may be views, so their layout says less.
double FromLayout(bool right_transposed, std::string_view name) {
  const double weight = LogOdds(right_transposed ? .9 : .6);
  const auto ends = [&](std::string_view layout) {
    if (name.ends_with(layout)) return true;
    const size_t at = name.find(layout);
    return at != std::string_view::npos && name.substr(at + layout.size()).starts_with('_');
  };
  if (ends("_nt")) return weight;
  return ends("_nn") ? -weight : 0;
}

// Split-K pays for sums much longer than the output: over rows in wgrad, over outputs in dgrad.
double FromSplit(const MatrixProduct& p, const InstanceKernel& kernel) {
  constexpr int64_t kMuch = 8;
  const bool split =
      kernel.grid.z > p.batch || kernel.long_name.find("splitK") != std::string_view::npos;
  if (!split) return 0;
  if (p.m / kMuch > std::max(p.n, p.k)) return LogOdds(.75);
  return p.n / kMuch > std::max(p.m, p.k) ? -LogOdds(.75) : 0;
}

double EvidenceFor(const MatrixProduct* product, const InstanceKernel& kernel) {
  const double words = FromWords(kernel.long_name);
  if (words != 0) return words;
  if (product == nullptr) return FromLayout(false, kernel.long_name);
  // The implicit GEMM of a convolution has sizes that depend on the algorithm.
  if (product->kind != MatrixProduct::Kind::kGemm) return 0;
  return FromTile(*product, kernel) + FromLayout(product->right_transposed, kernel.long_name) +
         FromSplit(*product, kernel);
}

// ---- groups: launches of one kernel ----

struct GradientEvidenceGroup {
  std::vector<size_t> kernels;
  double evidence = 0;
  bool named = false;  // By words; then it computes no other gradient.
};

std::vector<GradientEvidenceGroup> GroupsOf(const MatrixProduct* product,
                                            std::span<const InstanceKernel> kernels) {
  std::vector<GradientEvidenceGroup> groups;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const GradientEvidenceGroup& group) {
          const InstanceKernel& other = kernels[group.kernels.front()];
          return other.long_name == kernels[i].long_name && other.grid == kernels[i].grid;
        });
    if (same != groups.end()) {
      same->kernels.push_back(i);
    } else {
      groups.push_back(
          {{i}, EvidenceFor(product, kernels[i]), FromWords(kernels[i].long_name) != 0});
    }
  }
  return groups;
}

GradientGuess Guess(double evidence) {
  return {evidence > 0 ? Part::kWgrad : Part::kDgrad, Probability(evidence)};
}

// "128x64", "128x64x32": exactly two or three numbers.
std::optional<Tile> TileOfWord(std::string_view word) {
  constexpr std::string_view kSize = "tilesize";
  if (word.starts_with(kSize)) word.remove_prefix(kSize.size());
  int64_t extents[3] = {};
  size_t count = 0;
  const char* at = word.data();
  const char* const end = word.data() + word.size();
  while (count < 3) {
    const auto [next, error] = std::from_chars(at, end, extents[count]);
    if (error != std::errc() || next == at) return std::nullopt;
    ++count;
    at = next;
    if (at == end) break;
    if (*at != 'x') return std::nullopt;
    ++at;
  }
  if (at != end || count < 2 || extents[0] < 8 || extents[1] < 8) return std::nullopt;
  if (extents[0] > 1024 || extents[1] > 1024) return std::nullopt;
  return Tile{extents[0], extents[1]};
}

}  // namespace

std::optional<Tile> TileOf(std::string_view kernel_name) {
  constexpr size_t kReach = 1024;
  std::string_view rest = kernel_name.substr(0, kReach);
  constexpr std::string_view kBreaks = "_<>(), :";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(kBreaks), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (!word.empty() && (IsDigit(word.front()) || word.front() == 't')) {
      if (const std::optional<Tile> tile = TileOfWord(word)) return tile;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::vector<GradientGuess> GuessGradients(const MatrixProduct* product,
                                          std::span<const InstanceKernel> kernels) {
  std::vector<GradientGuess> guesses(kernels.size());
  const std::vector<GradientEvidenceGroup> groups = GroupsOf(product, kernels);
  if (groups.empty()) return guesses;
  const auto give = [&](const GradientEvidenceGroup& group, GradientGuess guess) {
    for (const size_t kernel : group.kernels) guesses[kernel] = guess;
  };
  if (groups.size() == 1) {
    const GradientEvidenceGroup& group = groups.front();
    const size_t launches = group.kernels.size();
    if (group.evidence != 0) {
      give(group, Guess(group.evidence));
    } else if (launches == 1) {
      // A first layer needs no dgrad, but nearly every layer needs wgrad.
      give(group, {Part::kWgrad, .9});
    } else if (launches == 2) {
      guesses[group.kernels[0]] = {Part::kDgrad, .55};
      guesses[group.kernels[1]] = {Part::kWgrad, .55};
    } else {
      give(group, {Part::kBackward, .5});
    }
    return guesses;
  }
  // At least one group per gradient, by the extreme evidence; on a tie the earlier one is dgrad.
  // Names are stronger: a split of one gradient over several kernels is no second gradient.
  const auto less = [](const GradientEvidenceGroup& a, const GradientEvidenceGroup& b) {
    return a.evidence < b.evidence;
  };
  const auto dgrad = std::min_element(groups.begin(), groups.end(), less);
  auto wgrad = groups.begin();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (wgrad == dgrad || group->evidence >= wgrad->evidence) wgrad = group;
  }
  if (wgrad == dgrad) wgrad = std::next(dgrad) != groups.end() ? std::next(dgrad) : groups.begin();
  if ((dgrad->named && dgrad->evidence > 0) || (wgrad->named && wgrad->evidence < 0)) {
    for (const GradientEvidenceGroup& group : groups) give(group, Guess(group.evidence));
    return guesses;
  }
  const double apart = wgrad->evidence - dgrad->evidence + LogOdds(.55) * (dgrad < wgrad ? 1 : -1);
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group == dgrad) {
      give(*group, {Part::kDgrad, Probability(apart)});
    } else if (group == wgrad) {
      give(*group, {Part::kWgrad, Probability(apart)});
    } else {
      give(*group, Guess(group->evidence));
    }
  }
  return guesses;
}

std::optional<GradientGuess> GradientOfInner(const MatrixProduct& forward,
                                             const MatrixProduct& inner) {
  const auto fits = [&](int64_t sum, int64_t rows, int64_t columns) {
    return inner.k == sum &&
           ((inner.m == rows && inner.n == columns) || (inner.m == columns && inner.n == rows));
  };
  const bool dgrad = fits(forward.n, forward.m, forward.k);
  const bool wgrad = fits(forward.m, forward.n, forward.k);
  if (!dgrad && !wgrad) return std::nullopt;
  if (dgrad && wgrad) return GradientGuess{Part::kBackward, .5};
  return GradientGuess{wgrad ? Part::kWgrad : Part::kDgrad, .99};
}

std::string_view ConfidenceWord(double confidence) {
  if (confidence >= .95) return "high";
  return confidence >= .8 ? "medium" : "low";
}

}  // namespace oplens::ops
