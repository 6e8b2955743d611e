#ifndef OPLENS_OPLENS_SCREEN_H_
#define OPLENS_OPLENS_SCREEN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oplens/model_facts.h"
#include "parse/model/evidence.h"

namespace oplens::screen {

// The facts on one screen. Each is a figure of a view of prof or a sum of its rows (docs/oplens.md
// says which). nullopt: unknown.

struct GpuFact {
  std::string name;  ///< "": unknown.
  size_t count = 0;
  bool taken = false;  ///< The file does not name or list them: the name is assumed.
  friend bool operator==(const GpuFact&, const GpuFact&) = default;
};

/// The source and length of steps.
struct StepFacts {
  enum class Source : uint8_t {
    kUnknown,     ///< Records only.
    kRun,         ///< No steps are marked: the whole run counts.
    kMarked,      ///< Ranges of the framework or of --step.
    kRepetition,  ///< A repeating sequence of kernels.
  };
  Source source = Source::kUnknown;
  std::string proposal;  ///< What --step could take, of the first run without marked steps.
  // Of the shown rank:
  size_t steady = 0;
  std::optional<int64_t> median_ns;    ///< Lower median of the steady steps.
  std::optional<int64_t> shortest_ns;  ///< Of the steady steps.
  std::optional<int64_t> longest_ns;
  std::optional<int64_t> host_median_ns;  ///< Likewise on the host.
  /// Steps that the means leave out, by their state.
  struct LeftOut {
    std::string state;
    size_t count = 0;
    std::string step;  ///< The number of the first.
    int64_t longest_ns = 0;
  };
  std::vector<LeftOut> left_out;
  std::string outside;  ///< How much of the run is in no step, if much.
  std::string phase;    ///< Of the steady steps, if they are a server's: "prefill".
};

struct TimePart {
  std::string name;
  double time_ns = 0;  ///< In the mean step.
  double share_pct = 0;
};

/// Where the time of the mean step, or of the run from the end of its cold start to its last work,
/// went.
struct StepTime {
  double total_ns = 0;
  double cold_ns = 0;           ///< Of a run, not in total_ns: its cold start,
  double end_ns = 0;            ///< and what follows its last work.
  std::vector<TimePart> parts;  ///< Sum to total_ns; largest first, none is 0.
  std::optional<double> busy_pct;
  std::optional<double> mfu_pct;
  std::optional<double> communication_pct;  ///< Only communication runs.
};

struct IdleTime {
  std::string cause;
  double share_pct = 0;  ///< Of the steps that the mean is over.
};

struct GpuUse {
  std::string rank;
  std::string device;
  // Over the recording:
  std::optional<double> sm_efficiency_pct;
  std::optional<double> achieved_occupancy_pct;
  std::optional<double> tc_least_pct;  ///< A lower bound unless tc_known_pct is 100.
  std::optional<double> tc_known_pct;
  std::optional<double> idle_pct;  ///< Of the steps that the mean is over.
  std::vector<IdleTime> causes;    ///< Largest first.
};

/// A table row: the cost of a layer, op or kernel.
struct Cost {
  std::string name;  ///< "": unknown.
  int64_t kernels = 0;
  size_t alike = 1;     ///< Number of layers whose names differ only in numbers.
  std::string largest;  ///< Layers: path of the one with most time; kernel: its main op.
  std::optional<double> largest_pct;  ///< Its share of the time of all kernels.
  double total_ns = 0;
  std::optional<double> communication_ns;  ///< Collectives of a layer, not in total_ns.
  double share_pct = 0;                    ///< Of the time of all kernels and replays.
  // Over the kernels for which the value is known, if these have at least half of the time.
  std::optional<double> tflops;
  std::optional<double> gbps;
  std::optional<double> tc_pct;
  std::string bound;               ///< "math", "dram", "latency", "mixed"; "": unknown.
  std::optional<double> roof_pct;  ///< Time-weighted, of the nearer roof.
};

/// The first rows of a table, and a summary of the others.
struct Costs {
  std::vector<Cost> rows;
  std::optional<Cost> collectives;  ///< All of them; in the table of layers only.
  size_t others = 0;
  double others_pct = 0;
};

/// Times of a rank in its mean step.
struct RankTime {
  std::string rank;
  double total_ns = 0;
  std::optional<double> compute_ns;        ///< Computation, including overlapped communication.
  std::optional<double> communication_ns;  ///< Communication not overlapped by computation.
  std::optional<double> wait_ns;           ///< Waiting in collectives for other ranks.
};

/// A row of the view `culprits`.
struct CulpritFact {
  std::string who;
  std::string cause;
  std::string what;   ///< "": the cause says all.
  std::string often;  ///< "": not about time.
  std::optional<double> cost_ns;
  std::optional<double> cost_pct;
  bool tested = false;
};

/// Something missing in the recording.
struct LossFact {
  std::string loss;
  std::string rank;
  int64_t count = 0;
  std::optional<double> share_pct;
  std::string why;
  std::string mend;
};

/// The share of kernel time about which a remedy would reveal more.
struct GapFact {
  std::string raises;
  double share_pct = 0;
  std::string remedy;
};

struct Screen {
  std::vector<std::string> inputs;  ///< As the user named them.
  /// One phrase per part of the inputs that was not read, with the reason; all figures exclude
  /// them.
  std::vector<std::string> lost;
  std::vector<std::string> profilers;  ///< "nvprof", "Nsight Systems 2024.2.1"; distinct.
  std::vector<GpuFact> gpus;
  size_t runs = 0;             ///< Profiles that were read: ranks, if there are several.
  bool selected = false;       ///< Only a part of the runs is analysed: --step-range and others.
  std::string selection_note;  ///< Why that part is empty, if known.
  bool records = false;        ///< Some input holds records, which contain only kernels.
  bool of_summaries = false;   ///< Ranks are known by summaries: only ranks and culprits are shown.
  int64_t kernels = 0;
  int64_t replays = 0;                 ///< Of graphs whose kernels are not in the file.
  double replay_pct = 0;               ///< Their share of `kernel_ns`, an upper bound.
  double kernel_ns = 0;                ///< Total time of kernels and replays.
  std::optional<double> op_known_pct;  ///< Of the kernel time.
  std::optional<double> flops_known_pct;
  /// Shares of the kernel time with an op, by its Evidence.
  std::array<double, kEvidenceCount> op_by_pct = {};
  double OpBy(Evidence evidence) const { return op_by_pct[static_cast<size_t>(evidence)]; }
  double flops_by_launch_pct = 0;  ///< Share whose FLOPs names and launches alone tell.
  bool captures_matched =
      false;  ///< Some by captures of the file are inferred, by names and order.
  std::optional<double> span_busy_pct;  ///< GPU busy time between its first and last work.

  std::string verdict;          ///< What takes most time that could be saved; "": unknown.
  std::string verdict_command;  ///< The command of oplens that shows it.

  std::string shown_rank;  ///< With several ranks: the slowest one, whose step and GPU are shown.
  StepFacts steps;
  std::optional<StepTime> time;
  std::optional<GpuUse> gpu;
  ModelFacts model;
  bool are_ranks = false;  ///< Every profile names its rank; otherwise they are just files.
  /// False if the profiles neither name different ranks nor are of one file: then figures over all
  /// of them are meaningless.
  bool one_run = true;
  std::vector<RankTime> ranks;        ///< With several ranks, by descending computation time.
  std::vector<CulpritFact> culprits;  ///< With several ranks of one run, the costliest first.
  /// By how much the first one computes longer than the median rank, in percent of its step.
  std::optional<double> slowest_by_pct;

  std::optional<double> missed_tc_pct;  ///< Products that could use Tensor Cores but do not.
  Costs layers;
  Costs ops;
  Costs kernel_names;
  std::vector<LossFact> losses;  ///< Largest first.
  size_t more_losses = 0;
  std::optional<GapFact> gap;
  bool peaks_known = false;  ///< For some kernel's GPU; otherwise nothing has a roof.
  std::string layers_flag;   ///< The option that records layers, if there are none; "": unknown.
  std::string kernels_flag;  ///< The option to record kernels, likewise.
  /// Sentences for stderr about --rules that do not fit the calls of their ops.
  std::vector<std::string> rule_misfits;
};

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_SCREEN_H_
