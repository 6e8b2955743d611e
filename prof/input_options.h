#ifndef OPLENS_PROF_INPUT_OPTIONS_H_
#define OPLENS_PROF_INPUT_OPTIONS_H_

#include <cstdint>
#include <functional>
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
#include "prof/run/selection.h"

namespace cxxopts {
class Options;
class ParseResult;
}  // namespace cxxopts

namespace oplens {
class Messages;
}

namespace oplens::prof {

/// Groups of options that the programs share.
inline constexpr char kSelectionOptions[] = "Selection";
inline constexpr char kPricingOptions[] = "Facts that the profile lacks";
inline constexpr char kMessageOptions[] = "Messages";

/// What every program that prices the kernels of its inputs is told by the same words.
struct InputOptions {
  std::vector<std::string> inputs;  ///< Files and folders; none: standard input.
  std::vector<std::string> execution_traces;
  std::string evidence;               ///< Words of --evidence; "": all.
  std::string reference;              ///< "": none.
  std::unique_ptr<StepFinder> steps;  ///< Null without --step.
  std::optional<ops::Gpu> gpu;        ///< That all kernels ran on; nullopt: what their records say.
  std::optional<ops::Rules> rules;    ///< Of the user, where given,
  std::string rules_path;             ///< and their file.
  bool quiet = false;
  bool verbose = false;  ///< All that there is to say on standard error, not what fits few lines.
  bool strict = false;   ///< Damage, and nothing to show, decide the exit code.

  /// Where standard input is read and is a terminal, says on standard error what is waited for.
  void SayWhatIsAwaited(std::string_view tool) const;
  /// Prints what is said of a run on standard error, as much as is asked for.
  void Say(const Messages& messages) const;
  /// `failure`: there was damage, or nothing to show.
  int ExitCode(bool failure) const;
  /// Of these, which must outlive what it answers.
  PriceOptions Pricing() const;
  /// RunOptions::step_in by --step; empty without it.
  std::function<std::optional<int64_t>(std::string_view text)> StepIn() const;
  /// All files that these options name to be read. What is written is the program's to add.
  RunFiles FilesRead() const;
};

/// What the exit codes of such programs say.
std::vector<WordText> ExitCodesOfPricing();
/// The values of --gpu.
WordList GpuWords();

/// Declares --step, --gpu, --rules, --execution-trace, --evidence and --reference.
void AddPricingOptions(cxxopts::Options* options);
/// Declares --quiet and --strict.
void AddMessageOptions(cxxopts::Options* options);
/// Declares the inputs.
void AddFiles(cxxopts::Options* options);

/// What cxxopts says of a wrong command line, and where it knows no such option those that may have
/// been meant: "...: --quiet?".
std::string WrongOption(const cxxopts::Options& declared, std::string_view said);

// These throw UsageError with one line that says what to type instead.

/// The inputs, the execution traces, the evidence and the reference.
void ReadInputs(const cxxopts::ParseResult& given, InputOptions* options);
/// --step-range, --time-range and --device, of which a program may have declared some.
Selection ReadSelection(const cxxopts::ParseResult& given);
/// Of --step; null without it.
std::unique_ptr<StepFinder> ReadStepPattern(const cxxopts::ParseResult& given);
/// --gpu, --rules, --quiet and --strict.
void ReadPricing(const cxxopts::ParseResult& given, InputOptions* options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_OPTIONS_H_
