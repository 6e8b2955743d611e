#include "parse/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/near_words.h"
#include "parse/program_text.h"
#include "parse/records/evidence_words.h"

namespace oplens::parse {
namespace {

struct FormatWord {
  std::string_view word;
  Format format;
};

constexpr FormatWord kFormats[] = {
    {"dict", Format::kDict},
    {"jsonl", Format::kJsonLines},
    {"chrome", Format::kChrome},
};

cxxopts::Options Spec() {
  cxxopts::Options spec("parse");
  spec.add_options(kInputOptions)(
      "execution-trace",
      "Take what emit_nvtx does not tell of PyTorch's ops from the execution trace of the same run "
      "(OPLENS_EXECUTION_TRACE); once for each process",
      cxxopts::value<std::vector<std::string>>(), "FILE");
  spec.add_options(kInputOptions)(
      "evidence",
      "Which evidence may tell the op of a kernel (docs/correlation.md); without the option all",
      cxxopts::value<std::string>(), "range,capture,repetition,reference");
  spec.add_options(kInputOptions)(
      "reference",
      "Another recording of the program, such as the capture of its graphs, which tells ops of "
      "kernels that the profile does not",
      cxxopts::value<std::string>(), "FILE");
  spec.add_options(kInputOptions)("keep-open",
                                  "Let ranges that were never closed give their op too");
  spec.add_options(kOutputOptions)("o,output",
                                   "Write to FILE, whole or not at all; FILE.gz and FILE.zst are "
                                   "compressed; without: to standard output",
                                   cxxopts::value<std::string>(), "FILE");
  spec.add_options(kOutputOptions)(
      "format",
      "Records as Python literals (dict: PyProf's format) or as JSON (jsonl), or a timeline for "
      "Perfetto and chrome://tracing (chrome)",
      cxxopts::value<std::string>()->default_value("dict"), "dict|jsonl|chrome");
  spec.add_options(kOutputOptions)(
      "check",
      "Say what is in the files, which columns of prof they fill, and what to record to fill the "
      "others");
  spec.add_options(kOutputOptions)("quiet", "Print errors only");
  spec.add_options(kOutputOptions)("v,verbose",
                                   "Print all counts and notes, not the most important ones only");
  spec.add_options(kOutputOptions)(
      "strict", "Exit with 3 when a row was damaged, kernels were unlaunched, or there were none");
  AddHelpOptions(&spec);
  spec.add_options(kHiddenOptions)("input", "", cxxopts::value<std::vector<std::string>>());
  spec.parse_positional("input");
  return spec;
}

Format ReadFormat(const std::string& word) {
  const auto* place = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const FormatWord& entry) { return entry.word == word; });
  if (place != std::end(kFormats)) return place->format;
  std::vector<std::string_view> words;
  for (const FormatWord& entry : kFormats) words.push_back(entry.word);
  throw UsageError(
      fmt::format("--format: {}", NoSuchName("format", word, words, "the formats are")));
}

Options FromArguments(const cxxopts::Options& spec, const cxxopts::ParseResult& args) {
  Options options;
  if (std::optional<std::string> message = HelpMessage(TextOfParse(), spec, args)) {
    options.message = *std::move(message);
    return options;
  }
  if (args.count("input") == 0) {
    throw UsageError("give the profile: parse [OPTIONS] FILE... | FOLDER");
  }
  options.inputs = args["input"].as<std::vector<std::string>>();
  for (const std::string& input : options.inputs) {
    if (input.empty()) throw UsageError("the name of the profile is empty");
    if (input == "-" && options.inputs.size() > 1) {
      throw UsageError("standard input (-) does not go with other inputs");
    }
  }
  options.format = ReadFormat(args["format"].as<std::string>());
  options.check = args.count("check") > 0;
  if (options.check && args.count("format") > 0) {
    throw UsageError("--check writes no records: leave out --format");
  }
  if (args.count("output") > 0) {
    options.output = args["output"].as<std::string>();
    if (options.output.empty()) throw UsageError("-o: the name of the file is empty");
  }
  if (args.count("execution-trace") > 0) {
    options.execution_traces = args["execution-trace"].as<std::vector<std::string>>();
  }
  for (const std::string& path : options.execution_traces) {
    if (path.empty()) throw UsageError("--execution-trace: the name of the file is empty");
  }
  if (args.count("evidence") > 0) KeepEvidence(args["evidence"].as<std::string>(), &options.join);
  if (args.count("reference") > 0) {
    options.reference = args["reference"].as<std::string>();
    if (options.reference.empty()) throw UsageError("--reference: the name of the file is empty");
  }
  options.strict = args.count("strict") > 0;
  options.quiet = args.count("quiet") > 0;
  options.verbose = args.count("verbose") > 0;
  options.join.keep_open = args.count("keep-open") > 0;
  return options;
}

}  // namespace

Options ReadOptions(int argc, char** argv) {
  cxxopts::Options spec = Spec();
  try {
    return FromArguments(spec, spec.parse(argc, argv));
  } catch (const cxxopts::exceptions::exception& e) {
    throw UsageError(fmt::format("{}; see parse --help", e.what()));
  }
}

}  // namespace oplens::parse
