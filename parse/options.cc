#include "parse/options.h"

#include <fmt/format.h>

// File names may hold commas, at which cxxopts would split a list.
#define CXXOPTS_VECTOR_DELIMITER '\0'

#include <algorithm>
#include <cxxopts.hpp>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/near_words.h"

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

constexpr char kNotes[] = R"(
FILE is a database of nvprof or Nsight Systems, or a trace of torch.profiler (.json, .json.gz,
.json.zst), told by its content. Several files, or a FOLDER of them, are the processes of one run:
their records follow each other in the order given (in a folder: rank2 before rank10), and the key
"rank" says which is which. A file of a folder that cannot be read is named on standard error and
left out.

Examples:
  parse net.sqlite > net.dict
  parse --check net.sqlite
  parse --format chrome -o net.json.gz net.sqlite
  parse -o run.dict traces/
)";

cxxopts::Options Spec() {
  cxxopts::Options spec(
      "parse",
      "One record a GPU kernel from profiles of nvprof, Nsight Systems, torch.profiler.\n");
  spec.positional_help("FILE... | FOLDER");
  spec.add_options()("o,output",
                     "write to FILE, whole or not at all; FILE.gz and FILE.zst are compressed "
                     "(default: standard output)",
                     cxxopts::value<std::string>(), "FILE");
  spec.add_options()(
      "format",
      "dict (records as Python literals, PyProf's format), jsonl (as JSON) or chrome "
      "(a timeline for Perfetto and chrome://tracing)",
      cxxopts::value<std::string>()->default_value("dict"), "FORMAT");
  spec.add_options()(
      "check",
      "say what is in the files, which columns of prof they fill, and what to record "
      "to fill the others");
  spec.add_options()(
      "execution-trace",
      "take what emit_nvtx does not tell of PyTorch's ops from the execution trace of the same run "
      "(OPLENS_EXECUTION_TRACE); once for each process",
      cxxopts::value<std::vector<std::string>>(), "FILE");
  spec.add_options()(
      "strict", "exit with 3 when a row was damaged, kernels were unlaunched, or there were none");
  spec.add_options()("keep-open", "let ranges that were never closed give their op too");
  spec.add_options()("quiet", "print errors only");
  spec.add_options()("h,help", "print this help");
  spec.add_options()("version", "print the version");
  spec.add_options()("input", "", cxxopts::value<std::vector<std::string>>());
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
  if (args.count("help") > 0) {
    options.message = spec.help({""}) + kNotes;
    return options;
  }
  if (args.count("version") > 0) {
    options.message = fmt::format("parse (oplens) {}\n", OPLENS_VERSION);
    return options;
  }
  if (args.count("input") == 0) {
    throw UsageError("give the profile: parse [OPTIONS] FILE... | FOLDER");
  }
  options.inputs = args["input"].as<std::vector<std::string>>();
  for (const std::string& input : options.inputs) {
    if (input.empty()) throw UsageError("the name of the profile is empty");
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
  options.strict = args.count("strict") > 0;
  options.quiet = args.count("quiet") > 0;
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
