#include "prof/input_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <utility>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/program.h"
#include "base/shown_text.h"
#include "base/terminal.h"
#include "base/threads.h"
#include "ops/network/network_config.h"
#include "parse/model/evidence_kinds.h"
#include "parse/model/messages.h"
#include "prof/input/profile_records.h"
#include "prof/model_options.h"
#include "prof/price/figures.h"

namespace oplens::prof {
namespace {

/// Reads a file of rules (docs/rules.md). Throws UsageError if it cannot be read, exceeds
/// ops::kMaxRulesBytes, or is wrong, with line and column.
ops::Rules LoadRules(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // One byte more than allowed, to detect longer files.
  std::string text(ops::kMaxRulesBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) {
    throw UsageError(fmt::format(
        "--rules: cannot read {}; give a file that docs/rules.md describes", ShownText(path)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  return ops::ReadRules(text, path);
}

}  // namespace

ops::Gpu ReadGpu(const std::string& name) {
  ops::GpuMatch match = ops::FindGpu(name);
  if (match.gpu) return *std::move(match.gpu);
  throw UsageError(fmt::format("--gpu: {} '{}'; give one of: {}",
                               match.ambiguous ? "there are several GPUs named" : "no GPU is named",
                               ShownText(name), fmt::join(match.choices, ", ")));
}

void InputOptions::SayWhatIsAwaited(std::string_view tool) const {
  const bool reads_standard_input = inputs.empty() || inputs.front() == "-";
  if (reads_standard_input && !quiet) PrintError(AwaitedNote(tool));
}

void InputOptions::Say(const Messages& messages) const {
  if (!quiet) PrintError(verbose ? messages.Whole() : messages.Short());
}

int InputOptions::ExitCode(bool failure, size_t left_out, size_t allowed) const {
  if (left_out > allowed) return kExitStrict;
  return strict && (failure || left_out > 0) ? kExitStrict : kExitOk;
}

PriceOptions InputOptions::Pricing() const {
  PriceOptions pricing;
  pricing.steps = steps.get();
  pricing.gpu = gpu ? &*gpu : nullptr;
  pricing.rules = rules ? &*rules : nullptr;
  pricing.evidence = parse::ReadEvidence(evidence);
  pricing.peak_of = ProductPeakOf;
  return pricing;
}

RunOptions InputOptions::RunOf(Selection selection) const {
  RunOptions run{selection, {}, all_steps};
  if (steps != nullptr) {
    run.step_in = [finder = steps.get()](std::string_view text) { return finder->TextOf(text); };
  }
  return run;
}

RunFiles InputOptions::FilesRead() const {
  RunFiles files;
  files.Read(FilesReadFor(inputs));
  files.Read(execution_traces, "the file of --execution-trace");
  files.Read(reference, "the file of --reference");
  files.Read(counters, "the file of --counters");
  files.Read(rules_path, "the file of --rules");
  files.Read(model_path, "the file of --model");
  return files;
}

std::vector<WordText> ExitCodesOfPricing() {
  return {{"0", "The tables are complete; damaged rows are counted on standard error."},
          {"1", "No input can be read, or the output cannot be written."},
          {"2", "The command line is wrong."},
          {"3",
           "Inputs were left out, since they could not be read; the rest is shown. With --strict "
           "also: a file is cut, a row was damaged, kernels have no launch, or there is nothing to "
           "show."}};
}

WordList GpuWords() {
  WordList list{"", {"gpu"}, false, {}};
  // Names with spaces would be several words in a shell.
  for (const std::string_view name : ops::GpuNames()) {
    if (name.find(' ') == name.npos) list.words.push_back({std::string(name)});
  }
  return list;
}

void AddPricingOptions(cxxopts::Options* options) {
  cxxopts::OptionAdder add = options->add_options(kPricingOptions);
  add("step",
      "Take the ranges or layers that match PATTERN as steps, with the numbers in their texts",
      cxxopts::value<std::string>(), "PATTERN");
  add("all-steps",
      "Count all steps that are not cut, also warm-up and others that are unlike the rest "
      "(docs/views.md)");
  add("gpu",
      "GPU that the kernels ran on, such as H200, whatever the profile says: determines peaks and "
      "occupancy",
      cxxopts::value<std::string>(), "NAME");
  add("rules", "Costs of your own ops and facts about your kernels (docs/rules.md)",
      cxxopts::value<std::string>(), "FILE");
  add("counters",
      "What Nsight Compute counted of the same kernels (ncu --csv, any page): measured FLOPs and "
      "bytes "
      "(docs/formats.md)",
      cxxopts::value<std::string>(), "FILE");
  AddModelOptions(kPricingOptions, options);
  AddEvidenceOptions(kPricingOptions, options);
}

void AddEvidenceOptions(const char* group, cxxopts::Options* options) {
  cxxopts::OptionAdder add = options->add_options(group);
  add("execution-trace",
      "Take what emit_nvtx does not record of PyTorch's ops from the execution trace of the same "
      "run; once per process",
      cxxopts::value<std::vector<std::string>>(), "FILE");
  add("evidence",
      "Evidence that may tell op, sizes and layer of a kernel (docs/correlation.md), of range, "
      "capture, "
      "vocabulary, repetition, reference, name, sizes, order; default: all",
      cxxopts::value<std::string>(), "WORDS");
  add("reference",
      "Another recording of the program, such as the capture of its graphs, that gives ops of "
      "kernels which the profile does not",
      cxxopts::value<std::string>(), "FILE");
}

void AddSpeedOptions(cxxopts::Options* options) {
  options->add_options(kSpeedOptions)(
      "threads",
      "How many threads may read one file (default: as many as there are cores, at most 16); the "
      "results are the same",
      cxxopts::value<int>(), "N");
}

void AddMessageOptions(cxxopts::Options* options) {
  cxxopts::OptionAdder add = options->add_options(kMessageOptions);
  add("quiet", "Print no counts and notes on standard error");
  add("v,verbose",
      "Print all counts and notes on standard error, not only the most important ones");
  add("strict",
      "Exit with 3 if a row was damaged, kernels have no launch, or there is nothing to show");
}

void AddFiles(cxxopts::Options* options) {
  cxxopts::OptionAdder add = options->add_options(kHiddenOptions);
  add("file",
      "Profiles (nvprof, Nsight Systems, PyTorch), folders of them, or records, also compressed; "
      "none or -: standard input",
      cxxopts::value<std::vector<std::string>>(), "FILE");
  options->parse_positional({"file"});
}

void ReadInputs(const cxxopts::ParseResult& given, InputOptions* options) {
  if (given.count("file") > 0) options->inputs = given["file"].as<std::vector<std::string>>();
  for (const std::string& input : options->inputs) {
    if (input.empty()) throw UsageError("the name of the input is empty");
    if (input == "-" && options->inputs.size() > 1) {
      throw UsageError("standard input (-) does not go with other inputs");
    }
  }
  if (given.count("execution-trace") > 0) {
    options->execution_traces = given["execution-trace"].as<std::vector<std::string>>();
  }
  for (const std::string& path : options->execution_traces) {
    if (path.empty()) throw UsageError("--execution-trace: the name of the file is empty");
  }
  options->evidence = GivenText(given, "evidence");
  if (given.count("evidence") > 0 && options->evidence.empty()) {
    throw UsageError("--evidence: the list is empty");
  }
  options->reference = GivenFile(given, "reference");
  options->all_steps = given.count("all-steps") > 0;
  options->quiet = given.count("quiet") > 0;
  options->verbose = given.count("verbose") > 0;
  options->strict = given.count("strict") > 0;
  if (given.count("threads") > 0) {
    const int threads = given["threads"].as<int>();
    if (threads < 1 || threads > kMostFileThreads) {
      throw UsageError(fmt::format("--threads: give a number from 1 to {}", kMostFileThreads));
    }
    SetThreadLimit(threads);
  }
}

Selection ReadSelection(const cxxopts::ParseResult& given) {
  Selection selection;
  if (given.count("step-range") > 0) {
    selection.steps = ReadStepRange(given["step-range"].as<std::string>());
  }
  if (given.count("time-range") > 0) {
    selection.time = ReadTimeRange(given["time-range"].as<std::string>());
  }
  if (given.count("device") > 0) {
    selection.device = given["device"].as<int64_t>();
    if (*selection.device < 0) throw UsageError("--device: GPUs are numbered from 0");
  }
  return selection;
}

std::unique_ptr<StepFinder> ReadStepPattern(const cxxopts::ParseResult& given) {
  if (given.count("step") == 0) return nullptr;
  return std::make_unique<StepFinder>(given["step"].as<std::string>());
}

void ReadPricing(const cxxopts::ParseResult& given, InputOptions* options) {
  if (given.count("gpu") > 0) options->gpu = ReadGpu(given["gpu"].as<std::string>());
  if (given.count("rules") > 0) {
    options->rules_path = given["rules"].as<std::string>();
    options->rules = LoadRules(options->rules_path);
  }
  options->model = ReadModelPlan(given);
  if (options->model != nullptr) {
    options->model_path = ops::ConfigPathOf(given["model"].as<std::string>());
  }
  options->counters = GivenFile(given, "counters");
  // Alone, its own kernels are shown.
  if (!options->counters.empty() && options->inputs.empty()) {
    options->inputs = {std::exchange(options->counters, {})};
  }
}

}  // namespace oplens::prof
