#ifndef OPLENS_OPLENS_SCREEN_H_
#define OPLENS_OPLENS_SCREEN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace oplens::screen {

// What one screen says of a run, as plain facts. Each is a figure of a view of prof, or a sum of
// its rows (docs/oplens.md says which). nullopt: not known.

/// GPUs of one name.
struct GpuFact {
  std::string name;  ///< "": not known.
  size_t count = 0;
  bool taken = false;  ///< The file does not name or list them: they are taken for such.
  friend bool operator==(const GpuFact&, const GpuFact&) = default;
};

/// Where steps come from, and how long they are.
struct StepFacts {
  enum class Source : uint8_t {
    kUnknown,     ///< Records only.
    kRun,         ///< None is marked: the whole run is looked at.
    kMarked,      ///< Ranges of the framework, or of --step.
    kRepetition,  ///< A sequence of kernels that repeats.
  };
  Source source = Source::kUnknown;
  size_t whole = 0;  ///< Of the shown rank.
  size_t cut = 0;
  std::optional<int64_t> median_ns;  ///< Of the whole ones; the lower of two in the middle.
};

/// A part of the time of a step.
struct TimePart {
  std::string name;
  double time_ns = 0;  ///< Of the mean step.
  double share_pct = 0;
};

/// Where the time of a step, or of the run, went.
struct StepTime {
  double total_ns = 0;          ///< Of the mean step.
  std::vector<TimePart> parts;  ///< They sum to it; largest first, none of 0.
  std::optional<double> busy_pct;
  std::optional<double> mfu_pct;
  std::optional<double> communication_pct;  ///< Nothing but communication runs.
};

/// A cause of idle time.
struct IdleCause {
  std::string cause;
  double window_pct = 0;
};

/// How a GPU was used.
struct GpuUse {
  std::string rank;
  std::string device;
  std::optional<double> busy_pct;
  std::optional<double> sm_efficiency_pct;
  std::optional<double> achieved_occupancy_pct;
  std::optional<double> tc_least_pct;  ///< Where tc_known_pct is not 100, at least.
  std::optional<double> tc_known_pct;
  std::optional<double> idle_pct;  ///< Of the window.
  std::vector<IdleCause> causes;   ///< Of it, largest first.
};

/// What a layer, an op or a kernel cost: one row of a table.
struct Cost {
  std::string name;  ///< "": not known.
  int64_t kernels = 0;
  size_t alike = 1;     ///< Layers whose names differ in numbers only.
  std::string largest;  ///< Of several alike: the path of the one with most time; of a kernel: the
                        ///< op that it runs for most.
  std::optional<double> largest_pct;  ///< Of these layers: its share of the time of all kernels.
  double total_ns = 0;
  std::optional<double> communication_ns;  ///< Of a layer: its collectives, not in total_ns.
  double share_pct = 0;                    ///< Of the time of all kernels and replays.
  // Over the kernels of which they are known, where these have half of the time.
  std::optional<double> tflops;
  std::optional<double> gbps;
  std::optional<double> tc_pct;
  std::string bound;  ///< "math", "dram", "latency", "mixed" or "" where it is not known.
  std::optional<double> roof_pct;  ///< Of the nearer roof, by time.
};

/// The first rows of a table, and what the others are.
struct Costs {
  std::vector<Cost> rows;
  std::optional<Cost> collectives;  ///< Beside layers: all of them, which no layer holds.
  size_t others = 0;
  double others_pct = 0;
};

/// What a rank did in its mean step.
struct RankTime {
  std::string rank;
  double total_ns = 0;
  std::optional<double> compute_ns;  ///< Computation, with or without communication beside it.
  std::optional<double> communication_ns;  ///< Without computation beside it.
  std::optional<double> wait_ns;           ///< In collectives, for others.
};

/// Something that the recording lacks.
struct LossFact {
  std::string loss;
  std::string rank;
  int64_t count = 0;
  std::optional<double> share_pct;
  std::string why;
  std::string mend;
};

/// A share of kernel time that a remedy would tell more of.
struct GapFact {
  std::string raises;
  double share_pct = 0;
  std::string remedy;
};

struct Screen {
  std::vector<std::string> inputs;  ///< As they were named.
  /// What of them was not read, and why, a phrase each: all figures are of the rest.
  std::vector<std::string> lost;
  std::vector<std::string> profilers;  ///< "nvprof", "Nsight Systems 2024.2.1"; each once.
  std::vector<GpuFact> gpus;
  size_t runs = 0;             ///< Profiles that were read: ranks, where there are several.
  bool selected = false;       ///< A part of the runs is looked at: --step-range and others.
  std::string selection_note;  ///< Why nothing is in that part, where it is known.
  bool records = false;        ///< Some input holds records, which know of kernels alone.
  int64_t kernels = 0;
  int64_t replays = 0;                 ///< Of graphs whose kernels are not in the file.
  double replay_pct = 0;               ///< Of `kernel_ns`: their time, an upper bound.
  double kernel_ns = 0;                ///< Sum of the times of all kernels and replays.
  std::optional<double> op_known_pct;  ///< Of the time of the kernels.
  std::optional<double> flops_known_pct;
  // Of the time of the kernels: that whose op is inferred.
  double repetition_pct = 0;            ///< From other repetitions of the step.
  double reference_pct = 0;             ///< From the recording at --reference.
  std::optional<double> span_busy_pct;  ///< GPU busy between its first and its last work.

  std::string shown_rank;  ///< Of several: whose step and GPU are shown, the slowest.
  StepFacts steps;
  std::optional<StepTime> time;
  std::optional<GpuUse> gpu;
  bool are_ranks = false;  ///< Every profile says which rank it is of: else they are just files.
  /// Of several profiles: they say that they are different ranks, or are of one file. Else figures
  /// of all of them together mean nothing.
  bool one_run = true;
  std::vector<RankTime> ranks;  ///< Of several, who computes longest first.
  /// How much longer the first of them computes than the median rank, of its step.
  std::optional<double> slowest_by_pct;

  std::optional<double> missed_tc_pct;  ///< Kernel time of products that could run on Tensor Cores.
  Costs layers;
  Costs ops;
  Costs kernel_names;
  std::vector<LossFact> losses;  ///< Largest first.
  size_t more_losses = 0;
  std::optional<GapFact> gap;  ///< The largest.
  bool peaks_known = false;    ///< Of some kernel's GPU: else nothing has a roof.
  std::string layers_flag;     ///< What records layers, where there are none; "": not known.
  std::string kernels_flag;    ///< The same of kernels.
  /// Sentences for standard error: rules of --rules that do not fit calls of their ops.
  std::vector<std::string> rule_misfits;
};

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_SCREEN_H_
