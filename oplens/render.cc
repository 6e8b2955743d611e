#include "oplens/render.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "oplens/cost_lines.h"
#include "oplens/culprit_lines.h"
#include "oplens/known_mfu.h"
#include "oplens/lines.h"
#include "oplens/next_commands.h"
#include "oplens/text.h"
#include "ops/gpu/gpu_table.h"

namespace oplens::screen {
namespace {

constexpr size_t kMostCauses = 3;
constexpr size_t kMostRanks = 3;
constexpr size_t kMostCulprits = 10;  // Where little else is shown.
constexpr size_t kMostFiles = 12;     // Files that are not one run.
constexpr size_t kMostCommands = 3;

/// How much to show.
struct Limits {
  size_t parts;    ///< Of a step.
  size_t costs;    ///< Rows of a table.
  size_t wrapped;  ///< Lines of wrapped text.
};
// Tried in order until the screen has few enough lines.
constexpr Limits kLimits[] = {{5, 5, 2}, {5, 4, 2}, {4, 3, 2}, {4, 3, 1}, {3, 2, 1}};
constexpr size_t kSpacedLimits = 3;

std::string CountText(double count, std::string_view one, std::string_view many) {
  return fmt::format("{:.0f} {}", count, count == 1 ? one : many);
}

std::string Joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty()) joined += between;
    joined += text;
  }
  return joined;
}

class Renderer {
 public:
  Renderer(const Screen& screen, size_t columns, Limits limits)
      : screen_(screen), columns_(columns), limits_(limits) {}

  std::vector<Section> Sections() const {
    const bool few = IsApart() || screen_.of_summaries;
    std::vector<Section> sections = {
        Head(), CulpritLines(screen_.culprits, columns_, few ? kMostCulprits : kMostRanks),
        few ? Ranks() : Time()};
    if (few && sections[1].empty()) sections.erase(sections.begin() + 1);
    if (IsApart()) sections.push_back(NextOfOneLines(columns_));
    if (few) return sections;
    if (screen_.ranks.size() > 1) sections.push_back(Ranks());
    const auto add = [&](std::string_view title, const Costs& costs, bool paths) {
      if (!costs.rows.empty())
        sections.push_back(CostLines({title, columns_, limits_.costs, paths}, costs));
    };
    add("Layers of the recording", screen_.layers, true);
    if (screen_.layers.rows.empty() && screen_.op_known_pct.value_or(0) > 0 &&
        !screen_.layers_flag.empty()) {
      AddWrapped(fmt::format("Layers are not recorded; to record them: {}", screen_.layers_flag), 2,
                 columns_, 1, &sections.emplace_back());
    }
    if (screen_.op_known_pct.value_or(0) > 0) add(OpsTitle(), screen_.ops, false);
    add("Kernels of the recording", screen_.kernel_names, false);
    if (screen_.kernels == 0 && screen_.replays == 0) sections.push_back(NoKernels());
    if (screen_.kernels > 0 || screen_.replays > 0) sections.push_back(Missing());
    sections.push_back(NextLines(screen_, columns_, kMostCommands));
    std::erase_if(sections, [](const Section& section) { return section.empty(); });
    return sections;
  }

 private:
  std::string_view OpsTitle() const {
    const bool by_name = screen_.OpBy(Evidence::kName) > screen_.op_known_pct.value_or(0) / 2;
    return by_name ? "Ops, most by the names of the kernels" : "Ops of the recording";
  }

  /// Whether the runs are unrelated, so that no common figures are shown.
  bool IsApart() const { return screen_.runs > 1 && !screen_.one_run; }

  Section Head() const {
    Section lines;
    std::string inputs;
    if (screen_.inputs.empty() || screen_.inputs.front() == "-") {
      inputs = "standard input";
    } else {
      inputs = Shown(screen_.inputs.front());
      if (screen_.inputs.size() > 1) {
        const std::string more = fmt::format(" and {} more", screen_.inputs.size() - 1);
        inputs = CutLeft(inputs, columns_ - more.size()) + more;
      }
    }
    lines.push_back({Style::kTitle, CutLeft(inputs, columns_)});
    AddLost(&lines);
    std::vector<std::string> facts;
    for (const std::string& profiler : screen_.profilers) facts.push_back(Shown(profiler));
    if (screen_.records) facts.emplace_back("records");
    if (screen_.runs > 1) {
      facts.push_back(fmt::format("{} {}", screen_.runs, IsApart() ? "profiles" : "processes"));
    }
    for (const GpuFact& gpu : screen_.gpus) {
      if (gpu.name.empty()) {
        facts.push_back(CountText(static_cast<double>(gpu.count), "GPU", "GPUs") +
                        " of unknown name");
      } else if (gpu.taken) {
        facts.push_back(CountText(static_cast<double>(gpu.count), "GPU", "GPUs") + " taken for " +
                        Shown(gpu.name));
      } else {
        facts.push_back(gpu.count > 1 ? fmt::format("{} x {}", gpu.count, Shown(gpu.name))
                                      : Shown(gpu.name));
      }
    }
    if (screen_.gpus.empty() && !screen_.of_summaries) facts.emplace_back("GPU unknown");
    if (screen_.of_summaries) facts.emplace_back("by their summaries");
    if (screen_.kernels > 0) {
      facts.push_back(fmt::format(
          "{}, {}", CountText(static_cast<double>(screen_.kernels), "kernel", "kernels"),
          TimeText(screen_.kernel_ns)));
    } else {
      facts.emplace_back("no kernels");
    }
    if (screen_.replays > 0) {
      facts.push_back(
          fmt::format("{} of graphs whose kernels are hidden",
                      CountText(static_cast<double>(screen_.replays), "replay", "replays")));
    }
    AddWrapped(Joined(facts, "; "), 0, columns_, limits_.wrapped, &lines);
    if (!IsApart()) AddVerdict(&lines);
    return lines;
  }

  void AddLost(Section* lines) const {
    constexpr size_t kMost = 3;
    const size_t count = screen_.lost.size();
    for (size_t i = 0; i < std::min(count, kMost); ++i) {
      std::string text = (i == 0 ? "Not all of it could be read: " : "  ") + Shown(screen_.lost[i]);
      if (i + 1 == kMost && count > kMost) AppendFormat(&text, "; and {} more", count - kMost);
      AddWrapped(text, 2, columns_, 3, lines);
    }
  }

  void AddVerdict(Section* lines) const {
    if (screen_.verdict.empty()) return;
    std::string text = screen_.verdict;
    // An ASCII letter, as the sentences begin.
    if (text.front() >= 'a' && text.front() <= 'z') text.front() += 'A' - 'a';
    if (screen_.ranks.size() > 1) {
      text = fmt::format("Rank {}: {}", Shown(screen_.shown_rank), screen_.verdict);
    }
    const size_t first = lines->size();
    AddWrapped(Shown(text), 2, columns_, limits_.wrapped, lines);
    for (size_t i = first; i < lines->size(); ++i) (*lines)[i].style = Style::kTitle;
  }

  std::string TimeTitle() const {
    const StepFacts& steps = screen_.steps;
    const std::string mean = TimeText(screen_.time->total_ns);
    const std::string rank =
        screen_.ranks.size() > 1 ? fmt::format(" of rank {}", Shown(screen_.shown_rank)) : "";
    if (steps.source == StepFacts::Source::kRun) {
      // Kernels do repeat if ops were inferred by repetition, but that gives no steps.
      constexpr double kLittle = 0.01;
      const auto outside = [&](std::string_view text, double ns) {
        if (ns <= kLittle * screen_.time->total_ns) return std::string();
        return fmt::format(fmt::runtime(text), TimeText(ns));
      };
      return fmt::format("The run{}: {}{}{}; no steps are marked{}", rank, mean,
                         outside(" after a cold start of {}", screen_.time->cold_ns),
                         outside(", without {} after its last work", screen_.time->end_ns),
                         HasRepetition() ? "" : ", no kernels repeat");
    }
    const bool repeats = steps.source == StepFacts::Source::kRepetition;
    const std::string one =
        (steps.phase.empty() ? "" : Shown(steps.phase) + " ") + (repeats ? "repetition" : "step");
    std::string title;
    if (steps.steady > 1 && steps.median_ns) {
      title = fmt::format("A {}{}: median {}, mean {} ({} to {}) of {}{}", one, rank,
                          TimeText(static_cast<double>(*steps.median_ns)), mean,
                          TimeText(static_cast<double>(*steps.shortest_ns)),
                          TimeText(static_cast<double>(*steps.longest_ns)), steps.steady,
                          repeats ? "" : " steady steps");
    } else if (steps.steady == 1) {
      title = fmt::format("The only {}{}{}: {}", steps.left_out.empty() ? "" : "steady ", one, rank,
                          mean);
    } else {
      size_t cut = 0;
      for (const StepFacts::LeftOut& left : steps.left_out) cut += left.count;
      title = fmt::format("A {}{}, of {} that the recording cut: {}", one, rank, cut, mean);
    }
    if (repeats) title += "; no steps are marked";
    return title;
  }

  /// The steps that the mean leaves out, with the reason.
  void AddLeftOut(Section* lines) const {
    if (!screen_.steps.proposal.empty()) {
      std::string text = "  " + Shown(screen_.steps.proposal);
      text[2] = 'R';
      AddWrapped(text, 4, columns_, limits_.wrapped + 1, lines);
    }
    if (!screen_.steps.outside.empty()) {
      AddWrapped("  " + screen_.steps.outside, 4, columns_, limits_.wrapped, lines);
    }
    if (screen_.steps.steady == 0 || screen_.steps.left_out.empty()) return;
    std::string text = "  Left out:";
    for (const StepFacts::LeftOut& left : screen_.steps.left_out) {
      AppendFormat(&text, "{} {} ({}, {}{})", text.ends_with(':') ? "" : ",",
                   left.count == 1 ? "step " + left.step
                                   : CountText(static_cast<double>(left.count), "step", "steps"),
                   left.state, left.count == 1 ? "" : "up to ",
                   TimeText(static_cast<double>(left.longest_ns)));
    }
    AddWrapped(text, 4, columns_, 1, lines);
  }

  /// Whether ops were inferred from repetitions of a sequence of kernels.
  bool HasRepetition() const {
    constexpr double kLittlePct = 0.05;
    return screen_.OpBy(Evidence::kRepetition) >= kLittlePct;
  }

  Section Time() const {
    Section lines;
    if (!screen_.time) {
      if (screen_.records) {
        AddWrapped("Steps and idle time are not in records: give the profile itself", 0, columns_,
                   limits_.wrapped, &lines);
        lines.front().style = Style::kTitle;
      }
      return lines;
    }
    const std::string title = CutRight(TimeTitle(), columns_);
    lines.push_back({Style::kTitle, title, {title, "share %", "time"}});
    AddLeftOut(&lines);
    std::vector<TimePart> parts = screen_.time->parts;
    if (parts.size() > limits_.parts) {
      TimePart others{"others", 0, 0};
      for (size_t i = limits_.parts - 1; i < parts.size(); ++i) {
        others.time_ns += parts[i].time_ns;
        others.share_pct += parts[i].share_pct;
      }
      parts.resize(limits_.parts - 1);
      parts.push_back(std::move(others));
    }
    constexpr size_t kNames = 20;
    constexpr size_t kFigures = 18;
    const size_t room = columns_ - std::min(columns_, 2 + kNames + kFigures + 2);
    for (const TimePart& part : parts) {
      std::string line = "  " + PadRight(part.name, kNames);
      AppendFormat(&line, "{:>5} %{:>11}", PercentText(part.share_pct), TimeText(part.time_ns));
      const auto bar = static_cast<size_t>(
          std::lround(std::clamp(part.share_pct / 100, 0.0, 1.0) * static_cast<double>(room)));
      if (bar > 0) line.append("  ").append(bar, '#');
      lines.push_back({Style::kPlain,
                       std::move(line),
                       {part.name, PercentText(part.share_pct), TimeText(part.time_ns)}});
    }
    AddUse(&lines);
    return lines;
  }

  void AddUse(Section* lines) const {
    std::string use;
    const auto add = [&](std::string_view word, std::optional<double> pct,
                         std::string_view of = {}) {
      if (!pct) return;
      AppendFormat(&use, "{}{} {} %{}", use.empty() ? "" : ", ", word, PercentText(*pct), of);
    };
    add("busy", screen_.time->busy_pct);
    if (const std::optional<KnownMfu> mfu = KnownMfuOf(screen_)) {
      add(mfu->is_bound ? "MFU at least" : "MFU", mfu->pct, WhatMfuCounts());
    }
    if (!use.empty()) {
      AddWrapped(
          fmt::format("  GPU{}: {}", screen_.gpu ? " " + screen_.gpu->device : std::string(), use),
          4, columns_, limits_.wrapped, lines);
    }
    AddModel(lines);
    AddHost(lines);
    AddIdle(lines);
    AddTensorCores(lines);
  }

  /// " of products that ran (bf16, 989 TFLOP/s)".
  std::string WhatMfuCounts() const {
    const ModelFacts& model = screen_.model;
    if (!model.peak_tflops || model.types.empty()) return {};
    return fmt::format(" of products that ran ({}, {:.4g} TFLOP/s)",
                       fmt::join(model.types, " and "), *model.peak_tflops);
  }

  /// The MFU by conventions of --model, FLOPs per token, and how the kernels differ.
  void AddModel(Section* lines) const {
    const ModelFacts& model = screen_.model;
    constexpr double kGiga = 1e9;
    constexpr double kMega = 1e6;
    std::string text;
    for (const ModelFacts::Use& use : model.uses) {
      AppendFormat(&text, "{}{} {} %", text.empty() ? "MFU by convention: " : ", ", use.convention,
                   PercentText(use.mfu_pct));
    }
    if (model.uses.empty() && !model.missing.empty()) {
      text = fmt::format("No MFU by convention: {}", model.missing);
    }
    if (model.token_flops) {
      const bool large = *model.token_flops >= kGiga;
      AppendFormat(&text, "{}{:.4g} {}FLOP a token", text.empty() ? "" : "; ",
                   *model.token_flops / (large ? kGiga : kMega), large ? 'G' : 'M');
    }
    constexpr double kAlikePct = 0.05;
    if (model.difference_pct && std::abs(*model.difference_pct) < kAlikePct) {
      text += ", as the configuration says";
    } else if (model.difference_pct) {
      AppendFormat(&text, ", {:.1f} % {} the configuration{}", std::abs(*model.difference_pct),
                   *model.difference_pct < 0 ? "below" : "above",
                   model.why.empty() ? "" : fmt::format(": {}", model.why));
    }
    if (!text.empty()) AddWrapped("  " + text, 4, columns_, limits_.wrapped, lines);
  }

  /// The host's step, where it is of another length than the span with the GPU's work.
  void AddHost(Section* lines) const {
    constexpr double kAlike = 0.05;
    const StepFacts& steps = screen_.steps;
    if (steps.source == StepFacts::Source::kRun || !steps.host_median_ns || !steps.median_ns ||
        *steps.host_median_ns <= 0) {
      return;
    }
    const auto host_ns = static_cast<double>(*steps.host_median_ns);
    const auto span_ns = static_cast<double>(*steps.median_ns);
    if (std::abs(host_ns - span_ns) <= kAlike * span_ns) return;
    std::string text =
        fmt::format("  On the host {}, with its GPU work {}", TimeText(host_ns), TimeText(span_ns));
    const std::optional<KnownMfu> mfu = KnownMfuOf(screen_);
    if (mfu && mfu->pct > 0) {
      AppendFormat(&text, ": MFU {}{} %, {} %", mfu->is_bound ? "at least " : "",
                   PercentText(mfu->pct * span_ns / host_ns), PercentText(mfu->pct));
    }
    AddWrapped(text, 4, columns_, limits_.wrapped, lines);
  }

  /// Whether facts about kernels do not cover most of the work, because of replays.
  bool HidesKernels() const {
    constexpr double kMuchPct = 5;
    return screen_.replay_pct > kMuchPct;
  }

  void AddIdle(Section* lines) const {
    if (!screen_.gpu || !screen_.gpu->idle_pct) return;
    const GpuUse& gpu = *screen_.gpu;
    std::string idle = fmt::format("  Idle {} %", PercentText(*gpu.idle_pct));
    for (size_t i = 0; i < std::min(gpu.causes.size(), kMostCauses); ++i) {
      constexpr double kLittlePct = 0.05;
      if (i > 0 && gpu.causes[i].share_pct < kLittlePct) break;
      // The view says "python" for all code without recorded events.
      const std::string& cause = gpu.causes[i].cause;
      AppendFormat(&idle, "{} {} {} %", i == 0 ? ":" : ",",
                   cause == "python" ? "python or other code" : cause,
                   PercentText(gpu.causes[i].share_pct));
    }
    // If the recording begins long before the first work or ends long after the last.
    constexpr double kMuchPct = 5;
    if (screen_.span_busy_pct && *screen_.span_busy_pct > 100 - *gpu.idle_pct + kMuchPct) {
      AppendFormat(&idle, "; from its first to its last work {} %",
                   PercentText(100 - *screen_.span_busy_pct));
    }
    AddWrapped(idle, 4, columns_, limits_.wrapped, lines);
  }

  void AddTensorCores(Section* lines) const {
    if (!screen_.gpu || !screen_.gpu->tc_least_pct || HidesKernels()) return;
    const GpuUse& gpu = *screen_.gpu;
    constexpr double kAllPct = 99.95;
    const double known_pct = gpu.tc_known_pct.value_or(0);
    const bool all = known_pct >= kAllPct;
    const double least_pct = all ? *gpu.tc_least_pct : RoundedDown(*gpu.tc_least_pct);
    std::string text = fmt::format("  Of the recording: Tensor Cores {}{} % of kernel time",
                                   all ? "" : "at least ", PercentText(least_pct));
    if (!all) AppendFormat(&text, " (known of {} %)", PercentText(known_pct));
    constexpr double kLittlePct = 0.5;
    if (screen_.missed_tc_pct.value_or(0) >= kLittlePct) {
      AppendFormat(&text, "; {} % is products that could run on them and do not",
                   PercentText(*screen_.missed_tc_pct));
    }
    const auto add = [&](std::string_view word, std::optional<double> pct) {
      if (pct) AppendFormat(&text, ", {} {} %", word, PercentText(*pct));
    };
    add("SM efficiency", gpu.sm_efficiency_pct);
    add("occupancy", gpu.achieved_occupancy_pct);
    AddWrapped(text, 4, columns_, limits_.wrapped, lines);
  }

  Section Ranks() const {
    Section lines;
    constexpr size_t kMostName = 24;
    constexpr double kAlikePct = 1;
    const RankTime slowest = screen_.ranks.empty() ? RankTime() : screen_.ranks.front();
    std::string title = "Ranks";
    if (IsApart()) {
      title = screen_.are_ranks
                  ? "Files that are not one run: several say that they are the same rank"
                  : "Files that are not known to be one run: not all say which rank they are of";
    } else if (!screen_.are_ranks) {
      title = "Files, which do not say that they are ranks of one run";
    } else if (screen_.slowest_by_pct && *screen_.slowest_by_pct < kAlikePct) {
      title += ": all compute alike";
    } else if (screen_.slowest_by_pct) {
      AppendFormat(&title, ": rank {} computes longest, {} % of its step above the median",
                   CutRight(Shown(slowest.rank), kMostName), PercentText(*screen_.slowest_by_pct));
    }
    if (IsApart()) {
      lines.push_back({Style::kTitle, CutRight(title, columns_)});
      for (size_t i = 0; i < screen_.ranks.size() && i < kMostFiles; ++i) {
        const RankTime& file = screen_.ranks[i];
        lines.push_back(
            {Style::kPlain, CutRight(fmt::format("  file {}  step {}, computes {}",
                                                 Shown(file.rank), TimeText(file.total_ns),
                                                 file.compute_ns ? TimeText(*file.compute_ns)
                                                                 : std::string("unknown")),
                                     columns_)});
      }
      return lines;
    }
    const auto waits = [](const RankTime& rank) { return rank.wait_ns.value_or(1e300); };
    const RankTime& least = *std::ranges::min_element(screen_.ranks, {}, waits);
    const bool named = title.find(slowest.rank) != std::string::npos;
    if (screen_.are_ranks && least.wait_ns && named && least.rank == slowest.rank) {
      title += "; it waits least";
    } else if (screen_.are_ranks && least.wait_ns) {
      AppendFormat(&title, "; rank {} waits least", CutRight(Shown(least.rank), kMostName));
    }
    lines.push_back({Style::kTitle, CutRight(title, columns_)});
    const size_t count = screen_.ranks.size();
    const size_t shown = std::min(count, kMostRanks);
    size_t widest = 0;
    for (const RankTime& rank : screen_.ranks) {
      widest = std::max(widest, std::min(Width(Shown(rank.rank)), kMostName));
    }
    for (size_t i = 0; i < shown; ++i) {
      // The slowest ranks, and last the fastest one.
      const RankTime& rank = screen_.ranks[i + 1 == shown ? count - 1 : i];
      std::string line = fmt::format("  {} {}  step {}", screen_.are_ranks ? "rank" : "file",
                                     PadRight(CutRight(Shown(rank.rank), kMostName), widest),
                                     TimeText(rank.total_ns));
      const auto add = [&](std::string_view word, std::optional<double> ns) {
        AppendFormat(&line, ", {} {}", word, ns ? TimeText(*ns) : "unknown");
      };
      add("computes", rank.compute_ns);
      if (rank.communication_ns.value_or(1) > 0) add("only communicates", rank.communication_ns);
      if (screen_.are_ranks && rank.wait_ns) add("waits for others", rank.wait_ns);
      lines.push_back({Style::kPlain, CutRight(line, columns_)});
    }
    return lines;
  }

  Section NoKernels() const {
    Section lines;
    std::string text;
    if (screen_.selected) {
      text = "No work of a GPU is in what is selected";
      if (!screen_.selection_note.empty()) text = screen_.selection_note;
    } else if (!screen_.lost.empty()) {
      // The lost inputs may hold GPU work.
      text = "No work of a GPU is in what could be read";
    } else {
      text = "No work of a GPU is recorded";
      if (!screen_.kernels_flag.empty()) text += "; to record it: " + screen_.kernels_flag;
    }
    AddWrapped(text, 2, columns_, 3, &lines);
    return lines;
  }

  /// What ops and FLOPs rest on, if not on ranges alone; "" otherwise.
  std::string OpEvidence() const {
    constexpr double kLittlePct = 0.05;
    std::string text =
        fmt::format("  op: recorded {} %", PercentText(screen_.OpBy(Evidence::kRange)));
    bool others = false;
    bool inferred = false;
    for (const Evidence evidence : kEvidences) {
      const double pct = screen_.OpBy(evidence);
      if (evidence == Evidence::kRange || pct < kLittlePct) continue;
      others = true;
      inferred |=
          IsInferred(evidence) || (evidence == Evidence::kCapture && screen_.captures_matched);
      AppendFormat(&text, ", by {} {} %", EvidenceText(evidence), PercentText(pct));
    }
    if (!others) text.clear();
    if (screen_.flops_by_launch_pct >= kLittlePct) {
      inferred = true;
      AppendFormat(&text, "{} FLOPs by launches alone {} %", text.empty() ? " " : ";",
                   PercentText(screen_.flops_by_launch_pct));
    }
    if (inferred) text += "; without: --evidence range";
    return text;
  }

  std::string_view EvidenceText(Evidence evidence) const {
    if (evidence == Evidence::kReference) return "the reference";
    if (evidence != Evidence::kRepetition) return EvidenceWord(evidence);
    const bool steps = screen_.steps.source != StepFacts::Source::kRun;
    return steps ? "other steps" : "the same kernels elsewhere";
  }

  Section Missing() const {
    Section lines;
    constexpr double kAllPct = 99.95;
    const double op_pct = screen_.op_known_pct.value_or(0);
    const double flops_pct = screen_.flops_known_pct.value_or(0);
    const bool all_known = op_pct >= kAllPct && flops_pct >= kAllPct;
    std::string title = all_known ? "Known: op and FLOPs of all kernel time"
                                  : fmt::format("Known of kernel time: op {} %, FLOPs {} %",
                                                PercentText(op_pct), PercentText(flops_pct));
    if (screen_.losses.empty() && screen_.lost.empty())
      title += "; nothing was lost in the recording";
    if (screen_.more_losses > 0) {
      AppendFormat(&title, "; of {} losses the largest",
                   screen_.losses.size() + screen_.more_losses);
    }
    AddWrapped(title, 2, columns_, limits_.wrapped, &lines);
    for (Line& line : lines) line.style = Style::kTitle;
    constexpr double kLittlePct = 0.05;
    if (const std::string text = OpEvidence(); !text.empty()) {
      AddWrapped(text, 4, columns_, limits_.wrapped, &lines);
    }
    if (screen_.gap && screen_.gap->share_pct >= kLittlePct) {
      AddWrapped(fmt::format("  to know {} of {} % more: {}", screen_.gap->raises,
                             PercentText(screen_.gap->share_pct), screen_.gap->remedy),
                 4, columns_, limits_.wrapped, &lines);
    }
    std::string small;
    for (const LossFact& loss : screen_.losses) {
      if (loss.share_pct.value_or(1) < kLittlePct) {
        AppendFormat(&small, "{} {}", small.empty() ? "" : ",", loss.loss);
        continue;
      }
      std::string text = "  " + loss.loss;
      if (loss.share_pct) {
        AppendFormat(&text, " {} % of GPU time", PercentText(*loss.share_pct));
      } else {
        AppendFormat(&text, " {}", loss.count);
      }
      if (screen_.runs > 1 && !loss.rank.empty()) {
        AppendFormat(&text, " (rank {})", Shown(loss.rank));
      }
      AppendFormat(&text, ": {}", loss.mend.empty() ? loss.why : loss.mend);
      AddWrapped(text, 4, columns_, limits_.wrapped, &lines);
    }
    if (!small.empty()) {
      AddWrapped(fmt::format("  below {} % of GPU time:{}", kLittlePct, small), 4, columns_, 1,
                 &lines);
    }
    if (!screen_.peaks_known && flops_pct > 0) {
      const bool others = std::ranges::any_of(screen_.gpus, [](const GpuFact& gpu) {
        return ops::MakerOf(gpu.name) == ops::Maker::kOther;
      });
      AddWrapped(fmt::format("  bound, roof: the peaks of the GPU are not known{}",
                             others ? "" : "; name it: --gpu NAME"),
                 4, columns_, 1, &lines);
    }
    return lines;
  }

  const Screen& screen_;
  size_t columns_;
  Limits limits_;
};

}  // namespace

std::string Render(const Screen& screen, const Look& look) {
  // In Markdown no sentence is broken.
  constexpr size_t kMarkdownColumns = 1000;
  const size_t columns =
      look.markdown ? kMarkdownColumns : std::clamp(look.columns, kLeastColumns, kMostColumns);
  const auto joined = [&](const std::vector<Section>& sections) {
    return look.markdown ? MarkdownOf(sections, kMostLines)
                         : JoinSections(sections, kMostLines, look.colours);
  };
  std::vector<Section> sections;
  // Prefer fewer rows with empty lines between sections.
  for (const bool spaced : {true, false}) {
    for (size_t i = 0; i < (spaced ? kSpacedLimits : std::size(kLimits)); ++i) {
      sections = Renderer(screen, columns, kLimits[i]).Sections();
      size_t lines = spaced ? sections.size() - 1 : 0;
      for (const Section& section : sections) lines += section.size();
      if (lines <= kMostLines) return joined(sections);
    }
  }
  return joined(sections);
}

}  // namespace oplens::screen
