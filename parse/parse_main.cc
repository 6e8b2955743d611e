// parse: profiles -> one record a kernel, a timeline, or a description.

#include <fmt/format.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "base/run_files.h"
#include "base/shortage.h"
#include "base/status_line.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "parse/check/check.h"
#include "parse/chrome/chrome_writer.h"
#include "parse/execution/execution_traces.h"
#include "parse/model/messages.h"
#include "parse/model/trace_needs.h"
#include "parse/options.h"
#include "parse/readers/open_trace.h"
#include "parse/readers/split_ranks.h"
#include "parse/records/kernel_records.h"
#include "parse/records/reference_profile.h"
#include "parse/source/profile_file.h"
#include "parse/source/profile_list.h"
#include "prof/run/run.h"
#include "prof/views/kernel_columns.h"
#include "prof/views/timeline_overlay.h"

namespace oplens::parse {
namespace {

/// How messages name an input.
const std::string& NameOf(const ProfileInput& input) {
  return input.piped != nullptr ? input.piped->name() : input.path;
}

std::string Summary(const std::string& path, const Trace& trace) {
  const std::string version =
      trace.schema_version > 0 ? std::to_string(trace.schema_version) : "of unknown version";
  return fmt::format("{}: {} schema {}: {} kernels, {} ranges", LineText(path),
                     FamilyWord(trace.family), version, trace.kernels.size(), trace.ranges.size());
}

/// What of a profile the options ask for.
TraceNeeds NeedsOf(const Options& options) {
  if (options.check) return kCheckNeeds;
  return options.format == Format::kChrome ? kChromeNeeds | prof::kTimelineOverlayNeeds
                                           : TraceNeeds();
}

/// Writes what the options ask for, one profile after the other.
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

  /// Of --check: what a file is that cannot be read.
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
    KernelRecord record;
    for (size_t i = 0; i < kernels.kernel_count(); ++i) {
      kernels.RecordOf(i, &record);
      if (!rank.empty()) record.rank = rank;
      append(record, output_.buffer());
      output_.FlushIfLarge();
    }
  }

  const Options& options_;
  Output output_;
  std::optional<ChromeWriter> chrome_;
  bool any_ = false;
};

/// Takes the inputs one by one, so that one trace at a time is in memory.
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
    RunFiles files;
    files.Read(FilesReadFor(options.inputs));
    files.Read(options.execution_traces, "the file of --execution-trace");
    files.Read(options.reference, "the file of --reference");
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
    return options_.strict && failure ? kExitStrict : kExitOk;
  }

 private:
  /// Looks at the beginning of every file that was named, so that a wrong name among several is
  /// found before standard output has the records of those before it.
  void RefuseUnreadable() const {
    // --check tells of each file what it is.
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
  // For standard error, once the output stands: what fits few lines, and all by input.
  Messages messages_{"parse"};
  std::string whole_;
  size_t ranges_ = 0;
  size_t unreadable_ = 0;
  size_t kernels_ = 0;
  bool damaged_ = false;
  bool refused_ = false;  // --check met a file that was named and cannot be read.
};

int Main(const Options& options) {
  if (!options.message.empty()) {
    Output output("");
    output.Write(options.message);
    output.Commit();
    return kExitOk;
  }
  if (options.inputs.front() == "-" && !options.quiet) PrintError(AwaitedNote("parse"));
  return Run(options).Execute();
}

}  // namespace
}  // namespace oplens::parse

int main(int argc, char** argv) {
  return oplens::RunProgram(
      "parse", [&] { return oplens::parse::Main(oplens::parse::ReadOptions(argc, argv)); });
}
