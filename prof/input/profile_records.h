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
#include "parse/counters/counter_table.h"
#include "parse/execution/execution_traces.h"
#include "parse/readers/open_trace.h"
#include "parse/records/reference_profile.h"
#include "parse/source/profile_list.h"
#include "prof/input/loaded_profile.h"
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

  /// For clients that must not print: `tell` gets what is wrong with each input that is left out,
  /// and `meter`, which may stop the work, counts it in place of a status line.
  void Quietly(const std::function<void(const std::string& problem)>& tell, WorkMeter* meter);

  /// Checks the start of the only input before it is read. Throws Error.
  void RefuseUnreadable() const;

  /// Throws Error if an input holds records, which do not have what `option` needs (`wanted`:
  /// "copies"), before anything is printed.
  void RefuseRecords(std::string_view wanted, std::string_view option) const;

  /// An unreadable input is left out and reported at once. Throws Error if none can be read.
  Step Next(WaitingRow* row, Diagnostics* diagnostics) override;
  /// Reasons of records are counted when printed, those of profiles by their reader.
  bool counts_reasons() const override { return profile_ != nullptr; }
  std::string_view name() const override { return last_path_; }
  Family family() const override {
    return profile_ != nullptr ? profile_->trace.family : Family::kUnknown;
  }

  const parse::KernelRecords* profile() const override {
    return profile_ != nullptr && profile_->kernels ? &*profile_->kernels : nullptr;
  }

  /// Reads and joins all waiting inputs, which must be profiles, instead of Next(): in memory at
  /// the same time, in order, up to `threads` of them at once. Throws as Next() does, and
  /// Interrupted.
  std::vector<std::unique_ptr<LoadedProfile>> LoadAll(size_t threads);

  /// The next profile's trace; null after the last. Throws Error for records and unreadable inputs.
  const Trace* NextTrace(Diagnostics* diagnostics);

  /// Number of inputs that were left out so far.
  size_t left_out() const { return left_out_; }

  /// After the last input: a sentence per unused execution trace, and for an unused reference and
  /// unused counters.
  std::vector<std::string> UnusedFiles() const;

  /// Inputs not yet started, in order; only profiles if `OnlyProfilesWait()`.
  size_t waiting() const { return waiting_.size(); }
  const parse::ProfileInput& waiting(size_t place) const { return waiting_[place].file; }
  bool OnlyProfilesWait() const;
  /// Whether inputs are files of records or can be opened only once, so that LoadAll() cannot.
  bool CannotBeLoaded() const;

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
  /// Removes arguments that name nothing or an empty file, unless all do.
  std::vector<std::string> LeaveOutMissing(const std::vector<std::string>& arguments);
  bool OpenNext(Diagnostics* diagnostics);
  bool OpenProfile(const Input& input, Diagnostics* diagnostics);
  bool OpenRecords(const Input& input);
  static std::unique_ptr<LoadedProfile> ReadCounted(const Input& input);
  bool OpenCounted(const Input& input);
  /// Joins a profile that was read, up to its counters.
  void Join(LoadedProfile* profile, Diagnostics* diagnostics) const;
  void JoinCounters(LoadedProfile* profile);
  std::unique_ptr<LoadedProfile> ReadProfile(const Input& input, WorkMeter* meter,
                                             Diagnostics* diagnostics) const;
  void Settle(const Input& input, LoadedProfile* profile, Diagnostics* diagnostics);
  Step NextLine(WaitingRow* row, Diagnostics* diagnostics);
  void LeaveOut(const Error& error);
  void MarkRank(Trace* trace);

  std::deque<Input> waiting_;
  std::vector<std::string> paths_;
  std::vector<std::string> missing_;  // Problems of arguments that name nothing.
  parse::SkippedEntries skipped_;
  RunClaims claims_;
  TraceNeeds NeedsOf(const parse::ProfileFile& file) const;
  void ShowStage(std::string_view doing, WorkUnit unit);
  WorkMeter* meter() { return status_ == nullptr ? meter_ : status_->meter(); }

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
  WorkMeter* meter_ = nullptr;                                     // Without a status line.
  std::function<void(const std::string& problem)> tell_left_out_;  // Null: printed.
  std::optional<StatusLine::Stage> stage_;
  std::unique_ptr<RecordSource> lines_;
  std::unique_ptr<LoadedProfile> profile_;  // Being read.
  ProfileCursor cursor_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_PROFILE_RECORDS_H_
