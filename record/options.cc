#include "record/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/near_words.h"
#include "base/program_text.h"
#include "record/spool/output_name.h"

namespace oplens::record {
namespace {

constexpr char kOutputOptions[] = "Output";
constexpr char kRecordedOptions[] = "What is recorded";

/// A word of --trace and what it records.
struct TraceWord {
  std::string_view word;
  std::string_view help;
};

constexpr TraceWord kTraceWords[] = {
    {"cuda", "kernels, copies, memsets, runtime and driver calls, graphs"},
    {"nvtx", "ranges, marks, thread names"},
    {"memory", "runtime and driver allocations"},
    {"sync", "synchronisation and events"},
    {"overhead", "cost of the recording itself"},
};

WordList TraceWords() {
  WordList list{"Words of --trace", {"trace"}, true, {}};
  for (const TraceWord& word : kTraceWords) {
    list.words.push_back({std::string(word.word), std::string(word.help)});
  }
  return list;
}

/// The texts about `record` besides its options.
ProgramText TextOfRecord() {
  return {
      .name = "record",
      .summary = "records ranges and GPU activity of a program, as nvprof did",
      .synopsis = {"[OPTIONS] -o FILE -- PROGRAM ARGS...", "--recover FILE"},
      .groups = {kOutputOptions, kRecordedOptions, kHelpOptions},
      .description = {"FILE is a database in nvprof's format, which parse and prof read. Options "
                      "end at \"--\" or at the first word that is not an option.",
                      "Until FILE is complete, everything recorded is in FILE.spool. If record "
                      "itself was killed, record --recover FILE makes the database from it; for "
                      "several processes, FILE contains %p."},
      .examples = {{"record -o net.sql -- python3 -m oplens_annotate train.py",
                    "a PyTorch program, unchanged"},
                   {"record -f -o net.sql --profile-from-start off -- ./app --steps 3",
                    "only between cudaProfilerStart and cudaProfilerStop"},
                   {"record --reference -o graphs.sql -- ./app --steps 1",
                    "what is captured into CUDA graphs, for --reference of prof"},
                   {"record -o net.%p.sql --profile-child-processes -- torchrun --nproc-per-node 4 "
                    "train.py",
                    "a database per process"}},
      .lists = {TraceWords(),
                {"In the name of FILE, as in nvprof",
                 {},
                 false,
                 {{"%p", "process id"},
                  {"%h", "name of the host"},
                  {"%q{NAME}", "value of the environment variable NAME"},
                  {"%%", "a percent sign"}}}},
      .exit_codes = {{"N", "Exit code of the program; 128 + N if signal N ended it."},
                     {"1", "The database cannot be written."},
                     {"2", "The command line is wrong."},
                     {"3", "With --strict: something is missing, and the program's code is 0."},
                     {"124", "The program was ended by --timeout."},
                     {"126, 127", "The program could not be started."}},
      .environment = {{"OPLENS_CUPTI",
                       "CUPTI library to load, if none or the wrong one is found."}},
      .files = {{"FILE.spool", "Folder with everything recorded, until FILE is complete."}},
      .see_also = {"oplens", "parse", "prof", "report"},
      .runs_command = true,
  };
}

constexpr char kDefaultTrace[] = "cuda,nvtx,sync,overhead";
constexpr std::string_view kValueOptions[] = {
    "output", "export-profile", "profile-from-start", "trace", "timeout", "recover", "manual"};
constexpr char kShortValueOption = 'o';
constexpr int64_t kLongestTimeout = 1'000'000'000;  // About 30 years.

cxxopts::Options Spec() {
  cxxopts::Options spec("record");
  spec.add_options(kOutputOptions)("o,output", "The database to write (also --export-profile)",
                                   cxxopts::value<std::string>(), "FILE");
  spec.add_options(kOutputOptions)("f,force",
                                   "Replace an existing database (also --force-overwrite)");
  spec.add_options(kOutputOptions)(
      "keep-arguments", "Write the program's arguments to the database too, not only its name");
  spec.add_options(kOutputOptions)("recover", "Make the database of an interrupted recording",
                                   cxxopts::value<std::string>(), "FILE");
  spec.add_options(kOutputOptions)("q,quiet", "Print only what failed or is missing");
  spec.add_options(kOutputOptions)(
      "strict", "Exit with 3 if something is missing and the program's code is 0");
  spec.add_options(kRecordedOptions)("trace", "What to record: words, separated by commas",
                                     cxxopts::value<std::string>()->default_value(kDefaultTrace),
                                     "WORDS");
  spec.add_options(kRecordedOptions)(
      "reference",
      "Record only what is captured into CUDA graphs, for --reference of parse and prof");
  spec.add_options(kRecordedOptions)(
      "profile-from-start", "off: record only between cudaProfilerStart and cudaProfilerStop",
      cxxopts::value<std::string>()->default_value("on"), "on|off");
  spec.add_options(kRecordedOptions)(
      "profile-child-processes",
      "Record child processes too, each to its own database: FILE needs %p");
  spec.add_options(kRecordedOptions)("timeout",
                                     "End the program, and what it started, after S seconds",
                                     cxxopts::value<std::string>(), "S");
  AddHelpOptions(&spec);
  // nvprof's names of options above.
  spec.add_options(kHiddenOptions)("export-profile", "", cxxopts::value<std::string>());
  spec.add_options(kHiddenOptions)("force-overwrite", "");
  return spec;
}

template <typename Words>
bool Holds(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// Whether the option's value is the next word of the command line.
bool TakesNextWord(std::string_view word) {
  if (word.starts_with("--")) return Holds(kValueOptions, word.substr(2));
  return word.find(kShortValueOption) == word.size() - 1;  // "-o" and "-fo"
}

/// The number of words that belong to `record`, including its name.
int OwnWords(int argc, char** argv) {
  int at = 1;
  while (at < argc) {
    const std::string_view word = argv[at];
    if (word == "--" || word == "-" || !word.starts_with('-')) break;
    at += TakesNextWord(word) ? 2 : 1;
  }
  return std::min(at, argc);
}

std::vector<std::string> ReadTrace(std::string_view text) {
  std::vector<std::string_view> known;
  for (const TraceWord& word : kTraceWords) known.push_back(word.word);
  std::vector<std::string_view> given;
  while (true) {
    const size_t comma = text.find(',');
    given.push_back(text.substr(0, comma));
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  for (const std::string_view word : given) {
    if (Holds(known, word)) continue;
    throw UsageError(fmt::format("--trace: {}", NoSuchName("word", word, known, "the words are")));
  }
  std::vector<std::string> words;
  for (const std::string_view word : known) {
    if (Holds(given, word)) words.emplace_back(word);
  }
  return words;
}

bool ReadSwitch(const std::string& word) {
  if (word == "on") return true;
  if (word == "off") return false;
  throw UsageError(fmt::format("--profile-from-start {}: give on or off", word));
}

int64_t ReadTimeout(const std::string& text) {
  const bool digits =
      !text.empty() && text.size() <= 10 && std::all_of(text.begin(), text.end(), IsDigit);
  const int64_t seconds = digits ? std::stoll(text) : 0;
  if (seconds >= 1 && seconds <= kLongestTimeout) return seconds;
  throw UsageError(fmt::format("--timeout {}: give seconds, a whole number from 1 to {}", text,
                               kLongestTimeout));
}

/// The message for a bad sequence in the name ({}), with advice.
struct FaultText {
  NameProblem problem;
  const char* text;
};

constexpr FaultText kFaultTexts[] = {
    {NameProblem::kUnknownSequence,
     "-o: \"{}\" is unknown: in a name, %p is the process id, %h the host, %q{{NAME}} a variable "
     "of "
     "the environment, %% a percent sign"},
    {NameProblem::kUnclosed,
     "-o: \"{}\": write %q{{NAME}}, NAME being a variable of the environment"},
    {NameProblem::kUnsetVariable, "-o: the environment has no variable for {}: set it"},
    {NameProblem::kTooLong, "-o: the name {} is too long"},
};

void CheckName(const std::string& pattern) {
  if (pattern.empty()) throw UsageError("-o: the name of the file is empty");
  std::array<char, 4096> name{};
  NameFault fault;
  ExpandOutputName(pattern.c_str(), 0, name.data(), name.size(), &fault);
  for (const FaultText& known : kFaultTexts) {
    if (known.problem != fault.problem) continue;
    throw UsageError(
        fmt::format(fmt::runtime(known.text), pattern.substr(fault.begin, fault.size)));
  }
}

/// The value of an option or its alias; "" for none.
std::string Value(const cxxopts::ParseResult& args, const char* name, const char* other) {
  std::string value;
  for (const char* option : {name, other}) {
    if (args.count(option) == 0) continue;
    if (args.count(name) + args.count(other) > 1) {
      throw UsageError(fmt::format("--{} is given twice", option));
    }
    value = args[option].as<std::string>();
    if (value.empty()) throw UsageError("-o: the name of the file is empty");
  }
  return value;
}

void ReadOutput(const cxxopts::ParseResult& args, Options* options) {
  options->output = Value(args, "output", "export-profile");
  if (options->output.empty()) {
    throw UsageError(
        "give the database to write, before the program: record -o net.sql -- PROGRAM ARGS");
  }
  if (options->output == "--") throw UsageError("-o: a name must follow");
  CheckName(options->output);
  options->children = args.count("profile-child-processes") > 0;
  if (options->children && !NamesProcess(options->output.c_str())) {
    throw UsageError(
        "--profile-child-processes: each process needs a database of its own: write %p into the "
        "name, as in -o net.%p.sql");
  }
}

Options FromArguments(const cxxopts::Options& spec, const cxxopts::ParseResult& args,
                      std::vector<std::string> command) {
  Options options;
  if (std::optional<std::string> message = HelpMessage(TextOfRecord(), spec, args)) {
    options.message = *std::move(message);
    return options;
  }
  options.force = args.count("force") + args.count("force-overwrite") > 0;
  options.quiet = args.count("quiet") > 0;
  options.strict = args.count("strict") > 0;
  if (args.count("recover") > 0) {
    options.recover = GivenFile(args, "recover");
    if (!command.empty()) throw UsageError("--recover starts no program: leave it out");
    if (args.count("output") + args.count("export-profile") > 0) {
      throw UsageError("--recover writes the database that was recorded: leave -o out");
    }
    return options;
  }
  if (command.empty()) {
    throw UsageError("give the program to record: record -o net.sql -- PROGRAM ARGS");
  }
  if (command.front().empty()) throw UsageError("the name of the program is empty");
  options.command = std::move(command);
  ReadOutput(args, &options);
  options.trace = ReadTrace(args["trace"].as<std::string>());
  options.reference = args.count("reference") > 0;
  if (options.reference && args.count("trace") > 0) {
    throw UsageError("--reference says what is recorded: leave --trace out");
  }
  if (options.reference) options.trace = {"cuda", "nvtx"};
  options.keep_arguments = args.count("keep-arguments") > 0;
  options.from_start = ReadSwitch(args["profile-from-start"].as<std::string>());
  if (args.count("timeout") > 0) options.timeout_s = ReadTimeout(args["timeout"].as<std::string>());
  return options;
}

}  // namespace

Options ReadOptions(int argc, char** argv) {
  const int own = OwnWords(argc, argv);
  std::vector<std::string> command(argv + own, argv + argc);
  if (!command.empty() && command.front() == "--") command.erase(command.begin());
  cxxopts::Options spec = Spec();
  Options options;
  ReadCommandLine(&spec, own, argv, "record -h lists the options", [&](const auto& args) {
    options = FromArguments(spec, args, std::move(command));
  });
  return options;
}

}  // namespace oplens::record
