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
#include "parse/counters/counter_join.h"
#include "parse/counters/counter_table.h"
#include "parse/counters/sampled_counters.h"
#include "parse/execution/execution_traces.h"
#include "parse/readers/open_trace.h"
#include "parse/records/kernel_records.h"
#include "parse/records/reference_profile.h"
#include "parse/source/profile_list.h"
#include "prof/input/rank_namer.h"
#include "prof/input/record_source.h"

namespace oplens::prof {

/// All files that reading these inputs may open, as far as known in advance.
std::vector<std::string> FilesReadFor(const std::vector<std::string>& arguments);

/// The inputs of the command line in order: files of records, and profiles, read as by parse. One
/// profile at a time is in memory.
class Inputs : public RecordSource {
 public:
  /// Files and folders in order; empty, or "-": standard input. Inputs that can only be opened
  /// once, such as pipes, are opened here, waiting for their first bytes. Of several, those that do
  /// not exist or hold no profile are left out and reported. Throws Error if none is there, for a
  /// missing execution trace, and for execution traces with records. `needs`: parts of
  /// profiles required beyond those for records; `json_needs`: further ones of PyTorch's traces.
  /// `tool`: reports files left out; "": another process does. `status`, which may be null, shows
  /// progress.
  Inputs(const std::vector<std::string>& arguments,
         const std::vector<std::string>& execution_traces, TraceNeeds needs = {},
         TraceNeeds json_needs = {}, std::string_view tool = "prof", StatusLine* status = nullptr);

  /// What may identify ops: words of --evidence ("": all), and the recording at path `reference`
  /// ("": none). Throws UsageError for an unknown word, Error for an unreadable reference.
  void Explain(const std::string& evidence, const std::string& reference);

  /// What the hardware counted of kernels: an export of Nsight Compute (--counters; "": none).
  /// Throws UsageError without a profile, Error for an unreadable file.
  void Count(const std::string& counters);

  /// Throws Error if an input holds records, which do not have what `option` needs (`wanted`:
  /// "copies"), before anything is printed.
  void RefuseRecords(std::string_view wanted, std::string_view option) const;

  /// An unreadable input is left out and reported at once. Throws Error if none can be read.
  Step Next(WaitingRow* row, Diagnostics* diagnostics) override;
  /// Reasons of records are counted when printed, those of profiles by their reader.
  bool counts_reasons() const override { return profile_.has_value(); }
  std::string_view name() const override { return last_path_; }
  Family family() const override { return profile_ ? profile_->trace.family : Family::kUnknown; }

  const parse::KernelRecords* profile() const override {
    return profile_ && profile_->kernels ? &*profile_->kernels : nullptr;
  }

  /// The next profile's trace; null after the last. Throws Error for records and unreadable inputs.
  const Trace* NextTrace(Diagnostics* diagnostics);

  /// Number of inputs that were left out so far.
  size_t left_out() const { return left_out_; }

  /// After the last input: a sentence per unused execution trace, and for an unused reference and
  /// unused counters.
  std::vector<std::string> UnusedExecutionTraces() const;

  /// Inputs not yet started, in order; only profiles if `OnlyProfilesWait()`.
  size_t waiting() const { return waiting_.size(); }
  const parse::ProfileInput& waiting(size_t place) const { return waiting_[place].file; }
  bool OnlyProfilesWait() const;

  /// Reads only this waiting input, which then cannot be left out. `mark` names its ranks by their
  /// index in the file, since real names depend on the other inputs.
  void TakeOnly(size_t place, std::function<std::string(size_t rank)> mark);
  /// After TakeOnly() and the last record: the recorded ranks.
  const std::vector<std::optional<int64_t>>& marked_ranks() const { return marked_ranks_; }

  /// All files, as named or found.
  const std::vector<std::string>& paths() const { return paths_; }
  /// After the last input: notes for readers of the result, on what was skipped in folders.
  std::vector<std::string> Notes() const;
  /// What the profiles read say about their run. Separately read ones are added by the caller.
  RunClaims* claims() { return &claims_; }

 private:
  struct Input {
    parse::ProfileInput file;
    bool records = false;
    bool counted = false;  ///< An export of Nsight Compute, in place of records.
  };
  /// The profile being read.
  struct Profile {
    Profile() {}  // clang 14 needs it to construct the std::optional.

    Trace trace;
    std::optional<parse::KernelRecords> kernels;
    std::optional<parse::CounterTable> table;  ///< Of which the trace was made.
    std::optional<parse::CounterJoin> counters;
    std::optional<parse::SampledCounters> samples;  ///< Where nothing counted each kernel.
    size_t next = 0;
    size_t next_replay = 0;

    /// Whether a replay is next: it started before the next kernel.
    bool ReplayIsNext() const;
    /// What the hardware counted of a kernel; null if nothing did.
    const KernelCounters* CountersOf(size_t kernel) const;
  };

  /// Removes arguments that name nothing or an empty file, unless all do.
  std::vector<std::string> LeaveOutMissing(const std::vector<std::string>& arguments);
  bool OpenNext(Diagnostics* diagnostics);
  bool OpenProfile(const Input& input, Diagnostics* diagnostics);
  bool OpenRecords(const Input& input);
  bool OpenCounted(const Input& input);
  void JoinCounters();
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
  size_t opened_ = 0;
  std::string last_path_;
  bool input_ended_ = false;
  parse::TakenRanks taken_;
  std::function<std::string(size_t rank)> mark_;  // Null: ranks have their own names.
  std::vector<std::optional<int64_t>> marked_ranks_;
  std::optional<parse::ExecutionTraces> execution_traces_;
  parse::JoinOptions join_;
  std::optional<parse::ReferenceProfile> reference_;
  std::string counters_path_;
  std::optional<parse::CounterTable> counters_;
  parse::CounterTally counted_;
  std::vector<std::string> sampled_;  // Sentences about samples of counters.
  StatusLine* status_;
  std::optional<StatusLine::Stage> stage_;
  std::unique_ptr<RecordSource> lines_;
  std::optional<Profile> profile_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_PROFILE_RECORDS_H_
