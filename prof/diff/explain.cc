#include "prof/diff/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/median.h"
#include "prof/verdicts/noise.h"
#include "prof/views/kernels/places.h"

namespace oplens::prof {
namespace {

/// A part of a step in the view overview, and what an increase means.
struct Part {
  std::string_view field;
  std::string_view cause;
  std::string_view sentence;
};
constexpr std::string_view kKernelPart = "kernel_ns";
constexpr Part kExplainParts[] = {
    {"comm_ns", "exposed communication", "communication while nothing is computed"},
    {"memcpy_ns", "copies alone", "copies while no kernel runs"},
    {"memset_ns", "fills alone", "fills while no kernel runs"},
    {"runtime_ns", "idle: API calls", "the GPU waits while the host is in CUDA calls"},
    {"dataloader_ns", "idle: DataLoader", "the GPU waits for the DataLoader"},
    {"cpu_ns", "idle: host ops", "the GPU waits while the host runs ops and annotated code"},
    {"other_ns", "idle: nothing recorded", "the GPU waits, and nothing was recorded of the host"},
};

struct RowCause {
  Change change;
  std::string_view cause;
  std::string_view sentence;
};
constexpr RowCause kRowCauses[] = {
    {Change::kAdded, "new work", "what the base does not run"},
    {Change::kRemoved, "work gone", "what the new run does not run"},
    {Change::kCount, "other counts", "calls that run more or less often in a step"},
    {Change::kShape, "other shapes", "calls on tensors of other shapes"},
    {Change::kKernel, "other kernels", "other kernels for the same calls on the same shapes"},
    {Change::kSlower, "kernels slower", "the same kernels for the same work take longer"},
    {Change::kFaster, "kernels faster", "the same kernels for the same work take less"},
    {Change::kSame, "noise of kernels", "rows within the noise of their steps"},
};
constexpr std::string_view kTensorCoresLost = "Tensor Cores lost";
constexpr std::string_view kTensorCoresGained = "Tensor Cores gained";
constexpr std::string_view kOverlap = "overlap of kernels";
constexpr std::string_view kUnknown = "not explained";

/// Computes, and so is in the kernels part of the view overview.
bool IsKernelPart(const DiffRow& row) {
  const std::string& work = row.keys[SidePlace::kWork];
  return work == kComputeWork || work == kReplayWork;
}

std::string ExplainPlaceText(const DiffRow& row) {
  std::string text = row.keys[SidePlace::kOp];
  if (text.empty()) text = row.keys[SidePlace::kKernel].substr(0, 60);
  const std::string& layer = row.keys[SidePlace::kLayer];
  if (!row.keys[SidePlace::kDir].empty()) text += " (" + row.keys[SidePlace::kDir] + ")";
  return layer.empty() ? text : fmt::format("{} of {}", text, layer);
}

/// How rows of kernels with the same work changed together: by one factor, or where memory limits
/// them.
std::string HowSlower(const PlaceDiff& places, Change change) {
  struct Row {
    double ratio;
    double time_ns;
  };
  std::vector<Row> rows;
  double changed_ns = 0;
  double unchanged_ns = 0;
  double memory_ns = 0;  // Change in rows limited by memory.
  double priced_ns = 0;  // Change in rows of known FLOPs and bytes.
  for (const DiffRow& row : places.table.rows) {
    const Figure& time = row.figures[0];
    if (!IsKernelPart(row) || !time.base || !time.now || *time.base <= 0) continue;
    if (time.change == Change::kSame) unchanged_ns += *time.base;
    if (time.change != change) continue;
    changed_ns += *time.base;
    rows.push_back({*time.now / *time.base, *time.base});
    const double flops = row.figures[5].now.value_or(0);
    const double bytes = row.figures[6].now.value_or(0);
    if (bytes <= 0) continue;
    const double delta = std::abs(time.delta().value_or(0));
    priced_ns += delta;
    // Every GPU of the last ten years can do more FLOPs than this per byte of memory traffic.
    constexpr double kLowIntensity = 10;
    if (flops < kLowIntensity * bytes) memory_ns += delta;
  }
  if (rows.empty()) return {};
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.ratio < b.ratio; });
  double middle_ns = 0;
  double ratio = rows.back().ratio;
  for (const Row& row : rows) {
    middle_ns += row.time_ns;
    if (middle_ns < changed_ns / 2) continue;
    ratio = row.ratio;
    break;
  }
  double near_ns = 0;
  for (const Row& row : rows) {
    if (std::abs(row.ratio - ratio) <= 0.02 * ratio) near_ns += row.time_ns;
  }
  constexpr double kVisible = 0.02;
  if (rows.size() >= 5 && std::abs(ratio - 1) > kVisible && near_ns >= 0.8 * changed_ns &&
      changed_ns >= 4 * unchanged_ns) {
    return fmt::format("; nearly all by the same factor of {:.2f}, as the clock of the GPU does",
                       ratio);
  }
  if (rows.size() >= 5 && priced_ns > 0 && memory_ns >= 0.8 * priced_ns) {
    return "; nearly all in kernels that memory limits (under 10 FLOPs a byte)";
  }
  return {};
}

Verdict Together(Verdict a, Verdict b) {
  if (a == Verdict::kChanged || b == Verdict::kChanged) return Verdict::kChanged;
  return a == Verdict::kUnknown || b == Verdict::kUnknown ? Verdict::kUnknown : Verdict::kSame;
}

struct RowSum {
  double delta_ns = 0;
  size_t rows = 0;
  const DiffRow* largest = nullptr;
  Verdict verdict = Verdict::kSame;
  std::string_view sentence;
  Change change = Change::kSame;
};

std::pair<std::string_view, const RowCause*> ExplainCauseOf(const DiffRow& row) {
  const Change change = row.figures[0].change;
  const auto* rule = std::find_if(std::begin(kRowCauses), std::end(kRowCauses),
                                  [&](const RowCause& one) { return one.change == change; });
  if (change == Change::kKernel) {
    const std::optional<double> base = row.figures[4].base;
    const std::optional<double> now = row.figures[4].now;
    constexpr double kMostly = 50;
    if (base && now && *base > kMostly && *now < kMostly) return {kTensorCoresLost, rule};
    if (base && now && *base<kMostly&& * now> kMostly) return {kTensorCoresGained, rule};
  }
  return {rule->cause, rule};
}

std::map<std::string_view, RowSum> SumRows(const PlaceDiff& places, bool kernels_only) {
  std::map<std::string_view, RowSum> sums;
  for (const DiffRow& row : places.table.rows) {
    if (kernels_only && !IsKernelPart(row)) continue;
    const Figure& time = row.figures[0];
    const auto [cause, rule] = ExplainCauseOf(row);
    RowSum& sum = sums[cause];
    const double delta = time.delta().value_or(0);
    // Rows are sorted by the size of their change.
    if (sum.largest == nullptr) sum.largest = &row;
    sum.delta_ns += delta;
    ++sum.rows;
    sum.sentence = rule->sentence;
    sum.change = rule->change;
    if (delta != 0) sum.verdict = Together(sum.verdict, time.verdict);
  }
  return sums;
}

void AddRowCauses(const PlaceDiff& places, bool kernels_only, std::vector<Cause>* causes) {
  for (const auto& [word, sum] : SumRows(places, kernels_only)) {
    const bool noise = sum.change == Change::kSame;
    if (noise && sum.delta_ns == 0) continue;
    Cause& cause = causes->emplace_back();
    cause.cause = word;
    cause.delta_ns = sum.delta_ns;
    cause.verdict = noise ? Verdict::kSame : sum.verdict;
    cause.sentence = fmt::format("{} ({} row{})", sum.sentence, sum.rows, sum.rows == 1 ? "" : "s");
    if (noise) continue;
    cause.sentence += fmt::format(", most of it {}: {}", ExplainPlaceText(*sum.largest),
                                  TimeText(sum.largest->figures[0].delta().value_or(0)));
    if (sum.change == Change::kSlower || sum.change == Change::kFaster) {
      cause.sentence += HowSlower(places, sum.change);
    }
  }
}

}  // namespace

std::string TimeText(double duration_ns) {
  struct Unit {
    double ns;
    std::string_view word;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  const double size = std::abs(duration_ns);
  for (const Unit& unit : kUnits) {
    if (size >= unit.ns * 0.99995)
      return fmt::format("{:.4g} {}", duration_ns / unit.ns, unit.word);
  }
  return fmt::format("{:.4g} ns", duration_ns);
}

Figure TotalOf(const Side& base, const Side& now) {
  const auto lengths = [](const Side& side) {
    std::vector<double> values;
    if (side.has_steps()) {
      for (const Side::Sample& sample : side.samples()) values.push_back(sample.total_ns);
      return values;
    }
    values.resize(side.samples().size(), 0);
    for (const SidePlace& place : side.places()) {
      for (const PlaceSums& sums : place.sums) {
        values[sums.sample] += static_cast<double>(sums.time_ns);
      }
    }
    return values;
  };
  const std::vector<double> base_ns = lengths(base);
  const std::vector<double> now_ns = lengths(now);
  Figure total;
  if (!base_ns.empty()) total.base = MeanOf(base_ns);
  if (!now_ns.empty()) total.now = MeanOf(now_ns);
  if (base_ns.empty() || now_ns.empty()) return total;
  const Noise noise = NoiseOfSteps(base_ns, now_ns);
  total.band = noise.band;
  total.verdict = noise.verdict;
  const double delta = total.delta().value_or(0);
  if (total.verdict != Verdict::kSame && delta != 0) {
    total.change = delta > 0 ? Change::kSlower : Change::kFaster;
  }
  return total;
}

std::vector<Cause> CausesOf(const Side& base, const Side& now, const PlaceDiff& places) {
  std::vector<Cause> causes;
  double left_ns = TotalOf(base, now).delta().value_or(0);
  const bool has_steps = base.has_steps() && now.has_steps();
  AddRowCauses(places, has_steps, &causes);
  double rows_ns = 0;
  for (const Cause& cause : causes) rows_ns += cause.delta_ns;
  left_ns -= rows_ns;
  if (has_steps) {
    const auto judge = [&](std::string_view field) {
      const std::vector<double> base_ns = base.PartOf(field);
      const std::vector<double> now_ns = now.PartOf(field);
      const double delta_ns = MeanOf(now_ns) - MeanOf(base_ns);
      const Noise noise =
          base_ns.empty() || now_ns.empty()
              ? Noise{}
              : NoiseOf(base_ns, now_ns, std::size(kExplainParts) + 1, kTotalFalseAlarm);
      return std::pair(delta_ns, noise.verdict);
    };
    const double overlap_ns = judge(kKernelPart).first - rows_ns;
    if (std::abs(overlap_ns) >= 0.5) {
      causes.push_back({std::string(kOverlap), overlap_ns,
                        overlap_ns > 0 ? "kernels run less at once, or in another step"
                                       : "kernels run more at once, or in another step",
                        Verdict::kUnknown});
    }
    left_ns -= overlap_ns;
    for (const Part& part : kExplainParts) {
      const auto [delta_ns, verdict] = judge(part.field);
      left_ns -= delta_ns;
      if (delta_ns == 0) continue;
      causes.push_back({std::string(part.cause), delta_ns, std::string(part.sentence), verdict});
    }
  }
  // Ignore rounding of sums of doubles.
  if (std::abs(left_ns) >= 0.5) {
    causes.push_back({std::string(kUnknown), left_ns,
                      "parts of the step that one of the recordings does not tell",
                      Verdict::kUnknown});
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    return std::abs(a.delta_ns) > std::abs(b.delta_ns);
  });
  return causes;
}

std::string VerdictOf(const Diff& diff) {
  const Figure& total = diff.total;
  if (!total.base || !total.now) return "nothing can be said: one of the runs has no step";
  const double delta = *total.delta();
  if (delta == 0 && diff.causes.empty()) {
    return fmt::format("no change: a step takes {}", TimeText(*total.now));
  }
  if (total.verdict == Verdict::kSame) {
    std::string text =
        fmt::format("no change beyond the noise: a step takes {} ({}{}{})", TimeText(*total.now),
                    delta > 0 ? "+" : "", TimeText(delta),
                    total.band ? fmt::format(", noise {}", TimeText(*total.band)) : std::string());
    const auto changed =
        std::find_if(diff.causes.begin(), diff.causes.end(),
                     [](const Cause& cause) { return cause.verdict == Verdict::kChanged; });
    if (changed != diff.causes.end()) {
      text += fmt::format("; but of its parts {} changed by {}", changed->cause,
                          TimeText(changed->delta_ns));
    }
    return text;
  }
  std::string text =
      fmt::format("{} by {} a step", delta > 0 ? "slower" : "faster", TimeText(std::abs(delta)));
  if (total.delta_pct()) text += fmt::format(" ({:+.1f} %)", *total.delta_pct());
  const auto with = std::find_if(diff.causes.begin(), diff.causes.end(), [&](const Cause& cause) {
    return (cause.delta_ns > 0) == (delta > 0);
  });
  if (with != diff.causes.end()) {
    text += fmt::format(", mostly {}: {}{}", with->cause, with->delta_ns > 0 ? "+" : "",
                        TimeText(with->delta_ns));
  }
  if (total.verdict == Verdict::kUnknown) {
    text += fmt::format("; {} and {} steps are too few to tell that from noise", diff.base_steps,
                        diff.new_steps);
  }
  return text;
}

std::string LateSteps(const Side& base, const Side& now) {
  if (!base.has_steps() || !now.has_steps()) return {};
  double most_ns = 0;
  std::vector<double> lengths_ns;
  for (const Side::Sample& sample : base.samples()) {
    most_ns = std::max(most_ns, sample.total_ns);
    lengths_ns.push_back(sample.total_ns);
  }
  const double spread_ns = most_ns - MedianOf(lengths_ns);
  std::vector<size_t> late;
  for (size_t i = 0; i < now.samples().size(); ++i) {
    if (now.samples()[i].total_ns > most_ns + spread_ns) late.push_back(i);
  }
  const size_t steps = now.samples().size();
  if (late.size() < 2 || 2 * late.size() >= steps || base.samples().size() < kFewSteps) return {};
  std::string text =
      fmt::format("{} of {} steps take longer than any of the base", late.size(), steps);
  const size_t period = late[1] - late[0];
  bool regular = late.size() > 2 && period > 1;
  for (size_t i = 2; i < late.size(); ++i) regular = regular && late[i] - late[i - 1] == period;
  if (regular) text += fmt::format(": one in {}", period);
  return text;
}

namespace {

/// Facts of the view setup that decide whether times can be compared.
constexpr std::string_view kDeciding[] = {"gpu",       "gpus",       "sms",
                                          "clock_mhz", "world_size", "step_source"};
/// Facts reported elsewhere, or different in every recording.
constexpr std::string_view kPassedOver[] = {"steps", "clock_step_ns"};

bool IsAmong(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "step 0 takes 3.1 times the median", if the first step is much longer.
std::string WarmUp(const Side& side) {
  constexpr double kMuch = 1.5;
  constexpr size_t kLeast = 3;
  if (!side.has_steps() || side.samples().size() < kLeast) return {};
  std::vector<double> others;
  for (size_t i = 1; i < side.samples().size(); ++i) others.push_back(side.samples()[i].total_ns);
  const double median = MedianOf(others);
  const Side::Sample& first = side.samples().front();
  if (median <= 0 || first.total_ns < kMuch * median) return {};
  return fmt::format("step {} takes {:.1f} times the median", first.step, first.total_ns / median);
}

/// The sizes in which shapes differ, such as "32 -> 64", with the number of rows.
std::string ExtentsOf(const PlaceDiff& places) {
  const auto numbers = [](std::string_view text) {
    std::vector<std::string> found;
    std::string number;
    for (const char c : text) {
      if (IsDigit(c)) {
        number += c;
      } else if (!number.empty()) {
        found.push_back(std::exchange(number, {}));
      }
    }
    if (!number.empty()) found.push_back(number);
    return found;
  };
  std::map<std::string, size_t> rows;
  for (const DiffRow& row : places.table.rows) {
    if (row.figures[0].change != Change::kShape || row.base_keys.empty()) continue;
    const std::vector<std::string> base = numbers(row.base_keys[SidePlace::kShape]);
    const std::vector<std::string> now = numbers(row.keys[SidePlace::kShape]);
    if (base.size() != now.size()) continue;
    std::set<std::string> changes;
    for (size_t i = 0; i < base.size(); ++i) {
      if (base[i] != now[i]) changes.insert(fmt::format("{} -> {}", base[i], now[i]));
    }
    for (const std::string& change : changes) ++rows[change];
  }
  const auto most = std::max_element(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == rows.end() ? std::string()
                            : fmt::format("; {} in {} of them", most->first, most->second);
}

}  // namespace

std::vector<Difference> DifferencesOf(const Side& base, const Side& now, const PlaceDiff& places) {
  std::vector<Difference> differences;
  std::set<std::string> facts;
  for (const auto& [fact, value] : base.facts()) facts.insert(fact);
  for (const auto& [fact, value] : now.facts()) facts.insert(fact);
  const auto value_of = [](const Side& side, const std::string& fact) {
    const auto at = side.facts().find(fact);
    return at == side.facts().end() ? std::string() : at->second;
  };
  for (const std::string& fact : facts) {
    const std::string base_value = value_of(base, fact);
    const std::string now_value = value_of(now, fact);
    if (base_value == now_value || IsAmong(fact, kPassedOver)) continue;
    // A fact missing in one file may still have been the same.
    const bool both = !base_value.empty() && !now_value.empty();
    differences.push_back({fact, base_value, now_value, both && IsAmong(fact, kDeciding)});
  }
  const auto count = [&](std::string fact, size_t base_count, size_t now_count, bool decides) {
    if (base_count == now_count) return;
    differences.push_back(
        {std::move(fact), std::to_string(base_count), std::to_string(now_count), decides});
  };
  count("ranks", base.ranks(), now.ranks(), true);
  count("steps", base.samples().size(), now.samples().size(), false);
  if (places.other_shapes > 0) {
    differences.push_back(
        {"shapes", fmt::format("{} calls", places.table.rows.size()),
         fmt::format("{} of them on other shapes{}", places.other_shapes, ExtentsOf(places)),
         true});
  }
  const std::string base_warm_up = WarmUp(base);
  const std::string now_warm_up = WarmUp(now);
  if (base_warm_up != now_warm_up) {
    const auto said = [](const std::string& text) { return text.empty() ? "none" : text; };
    differences.push_back({"warm_up", said(base_warm_up), said(now_warm_up), false});
  }
  // Deciding differences first.
  std::stable_partition(differences.begin(), differences.end(),
                        [](const Difference& one) { return one.decides; });
  return differences;
}

}  // namespace oplens::prof
