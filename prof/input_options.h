#ifndef OPLENS_PROF_INPUT_OPTIONS_H_
#define OPLENS_PROF_INPUT_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/program_text.h"
#include "base/run_files.h"
#include "ops/gpu/gpu.h"
#include "ops/rules/rules.h"
#include "prof/price_all.h"
#include "prof/range_patterns.h"
#include "prof/run/run.h"

namespace cxxopts {
class Options;
class ParseResult;
}  // namespace cxxopts

namespace oplens {
class Messages;
}

namespace oplens::prof {

struct ModelPlan;

inline constexpr char kSelectionOptions[] = "Selection";
inline constexpr char kPricingOptions[] = "Facts that the profile lacks";
inline constexpr char kMessageOptions[] = "Messages";
inline constexpr char kSpeedOptions[] = "Speed";

/// Options of every program that prices the kernels of its inputs.
struct InputOptions {
  std::vector<std::string> inputs;  ///< Files and folders; none: standard input.
  std::vector<std::string> execution_traces;
  std::string evidence;                    ///< Words of --evidence; "": all.
  std::string reference;                   ///< "": none.
  std::string counters;                    ///< Export of Nsight Compute; "": none.
  std::shared_ptr<const ModelPlan> model;  ///< Null without --model,
  std::string model_path;                  ///< and its file; "": values by hand.
  std::unique_ptr<StepFinder> steps;       ///< Null without --step.
  bool all_steps = false;
  std::optional<ops::Gpu> gpu;      ///< GPU of all kernels; nullopt: from their records.
  std::optional<ops::Rules> rules;  ///< The user's rules, if given,
  std::string rules_path;           ///< and their file.
  bool quiet = false;
  bool verbose = false;  ///< Prints all messages, not only what fits a few lines.
  bool strict = false;   ///< Damage, or nothing to show, changes the exit code.

  /// If standard input is read from a terminal, says on standard error what is expected.
  void SayWhatIsAwaited(std::string_view tool) const;
  /// Prints messages to standard error, subject to --quiet and --verbose.
  void Say(const Messages& messages) const;
  /// `failure`: there was damage, or nothing to show. `left_out`: number of inputs that are not in
  /// the result, of which `allowed` may be missing.
  int ExitCode(bool failure, size_t left_out = 0, size_t allowed = 0) const;
  /// The result points into this object.
  PriceOptions Pricing() const;
  /// The part of each run, with the steps of --step and --all-steps. The result points into this
  /// object.
  RunOptions RunOf(Selection selection) const;
  /// All input files of these options; the program adds its output files.
  RunFiles FilesRead() const;
};

/// The GPU that --gpu names. Throws UsageError unless there is exactly one.
ops::Gpu ReadGpu(const std::string& name);

std::vector<WordText> ExitCodesOfPricing();
WordList GpuWords();

/// Declares --step, --all-steps, --gpu, --rules, --counters, those of AddModelOptions,
/// --execution-trace, --evidence and
/// --reference.
void AddPricingOptions(cxxopts::Options* options);
/// Declares the last three in `group`.
void AddEvidenceOptions(const char* group, cxxopts::Options* options);
/// Declares --threads.
void AddSpeedOptions(cxxopts::Options* options);
/// Declares --quiet, --verbose and --strict.
void AddMessageOptions(cxxopts::Options* options);
void AddFiles(cxxopts::Options* options);

// Each throws UsageError with one line that says what to type instead.

/// Inputs, execution traces, evidence, reference, --all-steps, and the options of messages.
/// --threads counts for the process from now on (base/threads.h).
void ReadInputs(const cxxopts::ParseResult& given, InputOptions* options);
/// --step-range, --time-range and --device, as far as the program declared them.
Selection ReadSelection(const cxxopts::ParseResult& given);
/// --step; null if not given.
std::unique_ptr<StepFinder> ReadStepPattern(const cxxopts::ParseResult& given);
/// --gpu, --rules, --counters and --model.
void ReadPricing(const cxxopts::ParseResult& given, InputOptions* options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_OPTIONS_H_
