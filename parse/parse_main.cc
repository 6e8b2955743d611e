// parse: profiles -> one record per kernel, a timeline, or a description.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/free_memory.h"
#include "base/help_options.h"
#include "base/near_words.h"
#include "base/ordered_texts.h"
#include "base/output.h"
#include "base/program.h"
#include "base/program_text.h"
#include "base/run_files.h"
#include "base/shortage.h"
#include "base/status_line.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "parse/check/check.h"
#include "parse/chrome/chrome_writer.h"
#include "parse/execution/execution_traces.h"
#include "parse/join/joined.h"
#include "parse/model/messages.h"
#include "parse/model/trace_needs.h"
#include "parse/readers/open_trace.h"
#include "parse/readers/split_ranks.h"
#include "parse/records/kernel_records.h"
#include "parse/records/reference_profile.h"
#include "parse/source/profile_file.h"
#include "parse/source/profile_list.h"
#include "prof/input_options.h"
#include "prof/run/run.h"
#include "prof/views/kernels/kernel_columns.h"
#include "prof/views/kernels/timeline_overlay.h"

namespace oplens::parse {
namespace {

enum class Format {
  kDict,       ///< Records as Python literals, one per line.
  kJsonLines,  ///< Records as JSON, one per line.
  kChrome,     ///< One Chrome trace document.
};

struct Options : prof::InputOptions {
  std::string message;  ///< Help or version: print it and do nothing else.
  std::string output;   ///< "": standard output.
  Format format = Format::kDict;
  bool check = false;  ///< Describe the inputs instead of writing records.
  JoinOptions join;
};

constexpr char kInputOptions[] = "Input";
constexpr char kOutputOptions[] = "Output";
/// Some 400 kB of text.
constexpr size_t kRecordsAtOnce = 512;

ProgramText TextOfParse() {
  return {
      .name = "parse",
      .summary =
          "one record per GPU kernel, from profiles of nvprof, Nsight Systems or torch.profiler",
      .synopsis = {"[OPTIONS] FILE... | FOLDER"},
      .groups = {kInputOptions, kOutputOptions, prof::kSpeedOptions, prof::kMessageOptions,
                 kHelpOptions},
      .description =
          {"FILE is a database of nvprof or Nsight Systems, or a trace of torch.profiler, plain or "
           "compressed (gzip, zstd), recognised by its content; - is standard input.",
           "Several files, or a FOLDER of them, are the processes of one run: their records follow "
           "each other in the order given (in a folder: rank2 before rank10), and the key \"rank\" "
           "names the process. Files of a folder that cannot be read are named on standard error "
           "and left out."},
      .examples = {{"parse --check net.sqlite", "what the file holds, and how to record the rest"},
                   {"parse net.sqlite > net.dict", "one record per kernel, for prof or PyProf"},
                   {"parse --format chrome -o net.json.gz net.sqlite", "a timeline for Perfetto"}},
      .exit_codes =
          {{"0", "The records are complete; damaged rows are counted on standard error."},
           {"1", "A file cannot be read, or the output cannot be written."},
           {"2", "The command line is wrong."},
           {"3", "With --strict: a row was damaged, kernels have no launch, or there are none."}},
      .see_also = {"oplens", "prof", "record", "report"},
  };
}

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
  prof::AddEvidenceOptions(kInputOptions, &spec);
  spec.add_options(kInputOptions)("keep-open", "Also take ops from ranges that were never closed");
  spec.add_options(kOutputOptions)("o,output",
                                   "Write to FILE, whole or not at all; FILE.gz and FILE.zst are "
                                   "compressed (without: standard output)",
                                   cxxopts::value<std::string>(), "FILE");
  spec.add_options(kOutputOptions)(
      "format",
      "Records as Python literals (dict: PyProf's format) or as JSON (jsonl), or a timeline for "
      "Perfetto and chrome://tracing (chrome)",
      cxxopts::value<std::string>()->default_value("dict"), "dict|jsonl|chrome");
  spec.add_options(kOutputOptions)("check",
                                   "Say what the files hold, which columns of prof they fill, and "
                                   "what to record to fill the others");
  prof::AddSpeedOptions(&spec);
  prof::AddMessageOptions(&spec);
  AddHelpOptions(&spec);
  prof::AddFiles(&spec);
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
  prof::ReadInputs(args, &options);
  if (options.inputs.empty()) {
    throw UsageError("give the profile: parse [OPTIONS] FILE... | FOLDER");
  }
  options.format = ReadFormat(args["format"].as<std::string>());
  options.check = args.count("check") > 0;
  if (options.check && args.count("format") > 0) {
    throw UsageError("--check writes no records: leave out --format");
  }
  options.output = GivenFile(args, "output");
  options.join.evidence = ReadEvidence(options.evidence);
  options.join.keep_open = args.count("keep-open") > 0;
  return options;
}

/// Throws UsageError with a hint.
Options ReadOptions(int argc, char** argv) {
  cxxopts::Options spec = Spec();
  Options options;
  ReadCommandLine(&spec, argc, argv, "parse -h lists the options",
                  [&](const auto& args) { options = FromArguments(spec, args); });
  return options;
}

/// The name of an input in messages.
const std::string& NameOf(const ProfileInput& input) {
  return input.piped != nullptr ? input.piped->name() : input.path;
}

std::string Summary(const std::string& path, const Trace& trace) {
  const std::string version =
      trace.schema_version > 0 ? std::to_string(trace.schema_version) : "of unknown version";
  return fmt::format("{}: {} schema {}: {} kernels, {} ranges", LineText(path),
                     FamilyWord(trace.family), version, trace.kernels.size(), trace.ranges.size());
}

/// The parts of a profile that the options require.
TraceNeeds NeedsOf(const Options& options) {
  const TraceNeeds needs = NeedsOfEvidence(options.join.evidence);
  if (options.check) return needs | kCheckNeeds;
  return options.format == Format::kChrome ? needs | kChromeNeeds | prof::kTimelineOverlayNeeds
                                           : needs;
}

/// Frees what has no record: a file may have as many copies and waits as kernels.
void ForgetOtherWork(Trace* trace) {
  FreeMemory(&trace->copies);
  FreeMemory(&trace->sets);
  FreeMemory(&trace->synchronizations);
}

/// Writes what the options request, one profile after the other.
class Writer {
 public:
  explicit Writer(const Options& options)
      : options_(options), output_(options.output, PackingOf(options.output)) {
    if (options.format == Format::kChrome) chrome_.emplace(&output_);
  }

  void Add(const ProfileInput& input, const Trace& trace, const KernelRecords& kernels,
           const Diagnostics& diagnostics) {
    if (options_.check) {
      if (any_) output_.Write("\n");
      output_.Write(
          DescribeProfile(NameOf(input), trace, kernels, diagnostics, prof::KernelColumnNeeds()));
    } else if (chrome_) {
      chrome_->Add(kernels.joined(), kernels.names(), prof::TimelineOverlayOf(prof::Run(kernels)));
    } else {
      WriteRecords(trace, kernels);
    }
    any_ = true;
  }

  /// For --check: says what an unreadable file is.
  void AddUnreadable(const Error& error) {
    if (any_) output_.Write("\n");
    output_.Write(fmt::format("{}\n", error.what()));
    any_ = true;
  }

  void Commit() {
    if (chrome_) chrome_->Finish();
    output_.Commit();
  }

 private:
  void WriteRecords(const Trace& trace, const KernelRecords& kernels) {
    const auto append = options_.format == Format::kJsonLines ? AppendJsonLine : AppendDictLine;
    const std::string_view rank = trace.strings.View(trace.rank_name);
    const size_t count = kernels.kernel_count();
    const auto make = [&](size_t piece, std::string* text) {
      KernelRecord record;
      const size_t end = std::min(count, (piece + 1) * kRecordsAtOnce);
      for (size_t i = piece * kRecordsAtOnce; i < end; ++i) {
        kernels.RecordOf(i, &record);
        if (!rank.empty()) record.rank = rank;
        append(record, text);
      }
    };
    MakeInOrder((count + kRecordsAtOnce - 1) / kRecordsAtOnce, make,
                [&](const std::string& text) { output_.Write(text); });
  }

  const Options& options_;
  Output output_;
  std::optional<ChromeWriter> chrome_;
  bool any_ = false;
};

/// Processes the inputs one by one, so that only one trace is in memory.
class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        status_("parse", !options.quiet),
        inputs_(SplitRanks(ListProfiles(options.inputs, &skipped_))),
        execution_traces_(options.execution_traces, inputs_.size()) {
    for (ProfileInput& input : inputs_) {
      if (IsPipe(input.path)) {
        input.piped = std::make_shared<InputBytes>(input.path, status_.meter());
      }
    }
    RunFiles files = options.FilesRead();
    files.Write(options.output, "-o");
    files.RefuseOverwriting();
    if (!options.reference.empty()) {
      Diagnostics unsaid;
      reference_.emplace(options.reference, OpenTrace(options.reference, kReferenceNeeds, &unsaid));
    }
  }

  int Execute() {
    RefuseUnreadable();
    Writer writer(options_);
    for (const ProfileInput& input : inputs_) {
      try {
        Process(input, &writer);
      } catch (const std::bad_alloc&) {
        throw NoMemory(NameOf(input));
      }
    }
    if (unreadable_ == inputs_.size()) {
      throw Error(options_.inputs.front(), "holds no profile that could be read",
                  "see the lines above");
    }
    writer.Commit();
    std::vector<std::string> unused = execution_traces_.Unused();
    if (const std::string skipped = skipped_.Sentence(); !skipped.empty()) {
      messages_.Need(skipped);
      whole_ += Complaint("parse", skipped);
    }
    if (reference_ && !reference_->Unused().empty()) unused.push_back(reference_->Unused());
    Say(unused);
    if (refused_) return kExitCannotRead;
    const bool failure = damaged_ || unreadable_ > 0 || kernels_ == 0 || !unused.empty();
    return options_.ExitCode(failure);
  }

 private:
  /// Checks the beginning of every named file, so that a wrong name among several is found before
  /// standard output has the records of those before it.
  void RefuseUnreadable() const {
    // --check says what each file is.
    if (inputs_.size() < 2 || options_.check) return;
    for (const ProfileInput& input : inputs_) {
      if (!input.from_folder) ProfileFile file(input);
    }
  }

  std::optional<Trace> Open(const ProfileInput& input, Writer* writer, Diagnostics* diagnostics) {
    try {
      const StatusLine::Stage stage(&status_, "reading", NameOf(input), WorkUnit::kBytes);
      ProfileFile file(input, status_.meter());
      return OpenInput(input, &file, inputs_.size(), NeedsOf(options_), diagnostics, &taken_);
    } catch (const Error& error) {
      const bool goes_on = input.from_folder || (options_.check && inputs_.size() > 1);
      if (!goes_on) throw;
      PrintError(Complaint("parse", fmt::format("{}; left out", error.what())));
      if (options_.check) writer->AddUnreadable(error);
      if (!input.from_folder) refused_ = true;
      ++unreadable_;
      return std::nullopt;
    }
  }

  void Process(const ProfileInput& input, Writer* writer) {
    Diagnostics diagnostics;
    std::optional<Trace> trace = Open(input, writer, &diagnostics);
    if (!trace) return;
    execution_traces_.Complete(&*trace, &diagnostics);
    if (!options_.check && options_.format != Format::kChrome) ForgetOtherWork(&*trace);
    const KernelRecords kernels(&*trace, options_.join, &diagnostics,
                                reference_ ? &reference_->records() : nullptr);
    if (reference_) reference_->Count(kernels);
    writer->Add(input, *trace, kernels, diagnostics);
    kernels_ += kernels.kernel_count();
    damaged_ = damaged_ || diagnostics.Damaged();
    ranges_ += trace->ranges.size();
    messages_.losses()->Merge(diagnostics);
    const std::string summary = Summary(NameOf(input), *trace);
    if (inputs_.size() == 1) messages_.Head(summary);
    whole_ += fmt::format("parse: {}\n", summary);
    whole_ += diagnostics.Render(inputs_.size() > 1 ? "parse: " + input.name : "parse");
  }

  /// `unused`: sentences about execution traces.
  void Say(const std::vector<std::string>& unused) {
    if (options_.quiet) return;
    for (const std::string& sentence : unused) {
      messages_.Need(sentence);
      whole_ += Complaint("parse", sentence);
    }
    if (inputs_.size() > 1) {
      messages_.Head(fmt::format("{} profiles: {} kernels, {} ranges", inputs_.size() - unreadable_,
                                 kernels_, ranges_));
    }
    PrintError(options_.verbose ? whole_ : messages_.Short());
  }

  const Options& options_;
  StatusLine status_;
  SkippedEntries skipped_;
  std::vector<ProfileInput> inputs_;
  ExecutionTraces execution_traces_;
  std::optional<ReferenceProfile> reference_;
  TakenRanks taken_;
  // For standard error, after the output: what fits few lines, and everything by input.
  Messages messages_{"parse"};
  std::string whole_;
  size_t ranges_ = 0;
  size_t unreadable_ = 0;
  size_t kernels_ = 0;
  bool damaged_ = false;
  bool refused_ = false;  // --check met a named file that cannot be read.
};

int Main(const Options& options) {
  if (!options.message.empty()) {
    PrintText(options.message);
    return kExitOk;
  }
  GiveBackWhatIsFreed();
  if (options.inputs.front() == "-" && !options.quiet) PrintError(AwaitedNote("parse"));
  return Run(options).Execute();
}

}  // namespace

int RunParse(int argc, char** argv) {
  return RunProgram("parse", [&] { return Main(ReadOptions(argc, argv)); });
}

}  // namespace oplens::parse
