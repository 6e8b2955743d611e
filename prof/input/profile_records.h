#ifndef OPLENS_PROF_INPUT_PROFILE_RECORDS_H_
#define OPLENS_PROF_INPUT_PROFILE_RECORDS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/status_line.h"
#include "parse/execution/execution_traces.h"
#include "parse/readers/open_trace.h"
#include "parse/records/kernel_records.h"
#include "parse/records/reference_profile.h"
#include "parse/source/profile_list.h"
#include "prof/input/rank_namer.h"
#include "prof/input/record_source.h"

namespace oplens::prof {

/// All files that reading these inputs may open, as far as it is known before.
std::vector<std::string> FilesReadFor(const std::vector<std::string>& arguments);

/// The inputs of the command line, one after the other: files of records, and profiles, which are
/// read as parse reads them. One profile at a time is in memory.
class Inputs : public RecordSource {
 public:
  /// Files and folders, taken in the order given; none, or "-": standard input. What can be opened
  /// only once, such as a pipe, is opened here, and its beginning waited for. Throws Error a
  /// profile or an execution trace that is not there, and for execution traces of records. `needs`:
  /// parts of the profiles that are asked for besides what records take; `json_needs`: further ones
  /// of PyTorch's traces. `tool`: who says that a file is left out. `status`, which may be null,
  /// shows how far the reading is.
  Inputs(const std::vector<std::string>& arguments,
         const std::vector<std::string>& execution_traces, TraceNeeds needs = {},
         TraceNeeds json_needs = {}, std::string_view tool = "prof", StatusLine* status = nullptr);

  /// What may tell ops of the profiles: words of --evidence ("": all), and the recording at the
  /// path `reference` ("": none). Throws UsageError for a word that is none, Error where the
  /// reference cannot be read.
  void Explain(const std::string& evidence, const std::string& reference);

  /// From now on a named input that cannot be read is left out and told, as those of folders are,
  /// if there are several.
  void LeaveOutUnreadable() { leaves_out_ = waiting_.size() > 1; }

  /// From now on so many inputs may be left out, whether named or not: one more ends the run.
  void AllowMissing(size_t most) {
    most_left_out_ = most;
    leaves_out_ = most > 0 && waiting_.size() > 1;
  }

  /// Looks at the beginning of every file that was named, if there are several, so that a wrong
  /// name is found before standard output has the rows of those before it. Throws Error.
  void RefuseUnreadable() const;

  /// Throws Error when an input holds records, which do not have what is `wanted` ("copies") by an
  /// option: before standard output has anything of the inputs before it.
  void RefuseRecords(std::string_view wanted, std::string_view option) const;

  /// Throws Error when an input that was named cannot be read; one that a folder holds is left out
  /// and told on standard error at once.
  Step Next(WaitingRow* row, Diagnostics* diagnostics) override;
  /// Those of records are counted where they are printed, those of profiles by their reader.
  bool counts_reasons() const override { return profile_.has_value(); }
  std::string_view name() const override { return last_path_; }
  Family family() const override { return profile_ ? profile_->trace.family : Family::kUnknown; }

  const parse::KernelRecords* profile() const override {
    return profile_ && profile_->kernels ? &*profile_->kernels : nullptr;
  }

  /// The next profile for its copies, null after the last. Throws Error when an input holds
  /// records or cannot be read.
  const Trace* NextTrace(Diagnostics* diagnostics);

  /// Profiles of folders that could not be read.
  size_t left_out() const { return left_out_; }

  /// After the last input: a sentence for each execution trace of which nothing was used, and for
  /// the reference where nothing was.
  std::vector<std::string> UnusedExecutionTraces() const;

  /// The inputs that were not begun, in their order: profiles alone where `OnlyProfilesWait()`.
  size_t waiting() const { return waiting_.size(); }
  const parse::ProfileInput& waiting(size_t place) const { return waiting_[place].file; }
  bool OnlyProfilesWait() const;

  /// Of those that wait takes this one alone, which can no longer be left out. `mark` is what its
  /// ranks are called (by their place in the file): the names depend on the others.
  void TakeOnly(size_t place, std::function<std::string(size_t rank)> mark);
  /// After TakeOnly() and the last record: the numbers of its ranks.
  const std::vector<std::optional<int64_t>>& marked_ranks() const { return marked_ranks_; }

  /// All files, as they were named or found.
  const std::vector<std::string>& paths() const { return paths_; }
  /// What a reader of the result must know of the inputs: what of folders was skipped. After the
  /// last input.
  std::vector<std::string> Notes() const;
  /// What the profiles that were read say of the run that they are of. Who reads them apart adds
  /// them.
  RunClaims* claims() { return &claims_; }

 private:
  struct Input {
    parse::ProfileInput file;
    bool records = false;
  };
  /// A profile that is read.
  struct Profile {
    Profile() {}  // Without it clang 14 finds no constructor that std::optional can call.

    Trace trace;
    std::optional<parse::KernelRecords> kernels;
    size_t next = 0;
    size_t next_replay = 0;

    /// Whether a replay comes next: it began before the next kernel.
    bool ReplayIsNext() const;
  };

  bool OpenNext(Diagnostics* diagnostics);
  bool OpenProfile(const Input& input, Diagnostics* diagnostics);
  bool OpenRecords(const Input& input);
  Step NextLine(WaitingRow* row, Diagnostics* diagnostics);
  void LeaveOut(const Error& error);
  void MarkRank();

  std::deque<Input> waiting_;
  std::vector<std::string> paths_;
  parse::SkippedEntries skipped_;
  RunClaims claims_;
  TraceNeeds NeedsOf(const parse::ProfileFile& file) const;
  void ShowStage(std::string_view doing, WorkUnit unit);
  WorkMeter* meter() { return status_ == nullptr ? nullptr : status_->meter(); }

  TraceNeeds needs_;
  TraceNeeds json_needs_;
  std::string_view tool_;
  size_t profile_count_ = 0;
  size_t left_out_ = 0;
  std::optional<size_t> most_left_out_;
  size_t opened_ = 0;
  std::string last_path_;
  bool input_ended_ = false;
  bool leaves_out_ = false;
  parse::TakenRanks taken_;
  std::function<std::string(size_t rank)> mark_;  // Null: ranks have names.
  std::vector<std::optional<int64_t>> marked_ranks_;
  std::optional<parse::ExecutionTraces> execution_traces_;
  parse::JoinOptions join_;
  std::optional<parse::ReferenceProfile> reference_;
  StatusLine* status_;
  std::optional<StatusLine::Stage> stage_;
  std::unique_ptr<RecordSource> lines_;
  std::optional<Profile> profile_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_PROFILE_RECORDS_H_
