#include "prof/input/profile_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/program.h"
#include "parse/counters/counter_trace.h"
#include "parse/readers/split_ranks.h"
#include "parse/records/reference_profile.h"
#include "parse/source/file_kind.h"
#include "parse/source/profile_file.h"
#include "prof/input/line_records.h"

namespace oplens::prof {
namespace {

// Shown in the status line.
constexpr std::string_view kReading = "reading";
constexpr std::string_view kPricing = "pricing";

bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_directory(path, ignored);
}

struct RecordFile {
  parse::ProfileInput file;
  size_t profiles_before;  // Profiles named by earlier arguments.
  bool counted = false;
};

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// Whether a file is an export of Nsight Compute, which is read without a profile.
bool IsCounted(const std::string& path) {
  // "-" is standard input, even if a file has that name.
  return path != "-" && IsFile(path) && parse::LooksLikeCounters(parse::InputBytes(path).head());
}

/// Whether an input is for parse's readers, which may reject it with advice; otherwise it is read
/// as records. Sets *piped for inputs that can only be opened once.
bool IsProfile(const std::string& path, WorkMeter* meter,
               std::shared_ptr<parse::InputBytes>* piped) {
  if (IsFolder(path) || parse::IsInterruptedRecording(path)) return true;
  if (parse::IsPipe(path)) {
    *piped = std::make_shared<parse::InputBytes>(path, meter);
    return parse::IsProfileContent((*piped)->head());
  }
  if (!IsFile(path)) return false;  // Opening it gives the error.
  if (parse::KindOfName(path) != parse::FileKind::kUnknown) return true;
  return parse::IsProfileContent(parse::InputBytes(path).head());
}

/// Throws Error if the file is empty.
void RefuseEmpty(const std::string& path) {
  std::error_code ignored;
  if (IsFile(path) && std::filesystem::file_size(path, ignored) == 0) throw EmptyFile(path);
}

[[noreturn]] void FailOfRecords(const std::string& path, std::string_view wanted,
                                std::string_view option) {
  throw Error(path == "-" ? "standard input" : path, fmt::format("holds records, not {}", wanted),
              fmt::format("give the profile itself to --{}", option));
}

}  // namespace

std::vector<std::string> FilesReadFor(const std::vector<std::string>& arguments) {
  return parse::FilesReadFor(arguments);
}

Inputs::Inputs(const std::vector<std::string>& arguments,
               const std::vector<std::string>& execution_traces, TraceNeeds needs,
               TraceNeeds json_needs, std::string_view tool, StatusLine* status)
    : needs_(needs), json_needs_(json_needs), tool_(tool), status_(status) {
  std::vector<std::string> profiles;
  std::deque<RecordFile> records;
  std::map<std::string, std::shared_ptr<parse::InputBytes>> pipes;
  size_t counted = 0;  // Arguments in `profiles` whose files are counted.
  size_t count = 0;
  const std::vector<std::string> given = arguments.empty()      ? std::vector<std::string>{"-"}
                                         : arguments.size() > 1 ? LeaveOutMissing(arguments)
                                                                : arguments;
  for (const std::string& path : given) {
    std::shared_ptr<parse::InputBytes> piped;
    if (pipes.contains(path)) {
      throw UsageError(fmt::format("{} can be read only once: name it once", path));
    }
    const bool is_counted = IsCounted(path);
    if (!is_counted && IsProfile(path, meter(), &piped)) {
      profiles.push_back(path);
    } else {
      // A longer list starts with the files of the shorter one.
      if (counted != profiles.size()) count = parse::ListProfiles(profiles).size();
      counted = profiles.size();
      records.push_back({{path, path, false, piped}, count, is_counted});
    }
    if (piped != nullptr) pipes.emplace(path, std::move(piped));
  }
  // All at once, since names depend on each other.
  std::vector<parse::ProfileInput> listed;
  if (!profiles.empty()) listed = parse::ListProfiles(profiles, &skipped_);
  size_t files = 0;
  const auto take_records = [&] {
    for (; !records.empty() && records.front().profiles_before <= files; records.pop_front()) {
      waiting_.push_back({std::move(records.front().file), true, records.front().counted});
    }
  };
  for (parse::ProfileInput& input : parse::SplitRanks(std::move(listed))) {
    const bool same_file = input.part && !waiting_.empty() && waiting_.back().file.part &&
                           waiting_.back().file.path == input.path;
    if (!same_file) {
      take_records();
      ++files;
    }
    const auto pipe = pipes.find(input.path);
    if (pipe != pipes.end()) input.piped = pipe->second;
    waiting_.push_back({std::move(input), false});
    ++profile_count_;
  }
  take_records();
  for (const Input& input : waiting_) paths_.push_back(input.file.path);
  if (!execution_traces.empty() && profile_count_ == 0) {
    throw UsageError("--execution-trace is about profiles: give it to parse, which makes records");
  }
  execution_traces_.emplace(execution_traces, profile_count_);
}

void Inputs::Explain(const std::string& evidence, const std::string& reference) {
  join_.evidence = parse::ReadEvidence(evidence);
  if (reference.empty()) return;
  if (profile_count_ == 0) {
    throw UsageError("--reference is about profiles: give it to parse, which makes records");
  }
  Diagnostics unsaid;
  reference_.emplace(reference, parse::OpenTrace(reference, parse::kReferenceNeeds, &unsaid));
}

void Inputs::Count(const std::string& counters) {
  if (counters.empty()) return;
  if (profile_count_ == 0) {
    throw UsageError("--counters is about profiles: records do not have the order of all kernels");
  }
  counters_path_ = counters;
  counters_ = parse::ReadCounters(counters);
}

/// Also counts what the reference explains.
void Inputs::JoinCounters(LoadedProfile* profile) {
  if (reference_) reference_->Count(*profile->kernels);
  const parse::CounterTable* table = profile->table ? &*profile->table : nullptr;
  if (table == nullptr && counters_) table = &*counters_;
  if (table == nullptr) {
    profile->samples.emplace(profile->trace);
    std::string sentence = profile->samples->Sentence();
    if (!sentence.empty()) sampled_.push_back(fmt::format("{}: {}", profile->path, sentence));
    return;
  }
  profile->counters.emplace(*table, profile->trace);
  if (profile->table) return;
  const parse::CounterTally& tally = profile->counters->tally();
  counted_.kernels += tally.kernels;
  counted_.joined += tally.joined;
  counted_.ambiguous += tally.ambiguous;
}

std::vector<std::string> Inputs::UnusedFiles() const {
  std::vector<std::string> unused = execution_traces_->Unused();
  if (reference_ && !reference_->Unused().empty()) unused.push_back(reference_->Unused());
  if (counters_ && counted_.joined == 0) {
    unused.push_back(fmt::format(
        "{}: no kernel of the profile has the name, grid and block of a counted one{}",
        counters_path_, counted_.ambiguous > 0 ? " that others of them do not contradict" : ""));
  }
  return unused;
}

std::vector<std::string> Inputs::Notes() const {
  std::vector<std::string> notes;
  if (std::string skipped = skipped_.Sentence(); !skipped.empty()) {
    notes.push_back(std::move(skipped));
  }
  if (counters_ && counted_.joined > 0) {
    std::string text = fmt::format("{} has counters for {} of {} kernels", counters_path_,
                                   counted_.joined, counted_.kernels);
    if (counted_.ambiguous > 0) {
      text +=
          fmt::format("; {} are ambiguous: counted kernels of their name, grid and block differ",
                      counted_.ambiguous);
    }
    if (counters_->rounded) {
      text += "; its figures are rounded: export with --print-units base";
    }
    notes.push_back(std::move(text));
  }
  notes.insert(notes.end(), sampled_.begin(), sampled_.end());
  return notes;
}

std::vector<std::string> Inputs::LeaveOutMissing(const std::vector<std::string>& arguments) {
  std::vector<std::string> there;
  std::vector<std::string> problems;
  for (const std::string& path : arguments) {
    try {
      if (path != "-" && !parse::IsPipe(path) && !IsFile(path)) parse::ListProfiles({path});
      RefuseEmpty(path);
      there.push_back(path);
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  if (there.empty()) return arguments;  // Opening them reports why.
  for (const std::string& problem : problems) {
    if (!tool_.empty()) PrintError(Complaint(tool_, fmt::format("{}; left out", problem)));
  }
  left_out_ += problems.size();
  missing_ = std::move(problems);
  return there;
}

void Inputs::Quietly(const std::function<void(const std::string& problem)>& tell,
                     WorkMeter* meter) {
  tell_left_out_ = tell;
  meter_ = meter;
  for (const std::string& problem : missing_) tell(problem);
}

void Inputs::RefuseUnreadable() const {
  if (waiting_.size() != 1 || paths_.size() != 1) return;
  const Input& input = waiting_.front();
  if (!input.records) {
    parse::ProfileFile file(input.file);
  } else if (input.file.piped == nullptr) {
    parse::InputBytes file(input.file.path);
    RefuseEmpty(input.file.path);
  }
}

void Inputs::RefuseRecords(std::string_view wanted, std::string_view option) const {
  for (const Input& input : waiting_) {
    if (!input.records) continue;
    if (input.file.piped == nullptr) parse::InputBytes file(input.file.path);
    FailOfRecords(input.file.path, wanted, option);
  }
}

void Inputs::ShowStage(std::string_view doing, WorkUnit unit) {
  stage_.reset();
  const bool rows = doing != kReading;
  if (status_ != nullptr) stage_.emplace(status_, doing, last_path_, unit, rows);
}

bool Inputs::OpenNext(Diagnostics* diagnostics) {
  lines_.reset();
  profile_.reset();
  stage_.reset();
  while (!waiting_.empty()) {
    const Input input = std::move(waiting_.front());
    waiting_.pop_front();
    last_path_ = input.file.piped == nullptr ? input.file.path : input.file.piped->name();
    if (meter() != nullptr) meter()->Start(0);
    if (input.records ? OpenRecords(input) : OpenProfile(input, diagnostics)) return true;
  }
  return false;
}

bool Inputs::OnlyProfilesWait() const {
  return std::none_of(waiting_.begin(), waiting_.end(), [](const Input& input) {
    return input.records || input.file.piped != nullptr;
  });
}

bool Inputs::CannotBeLoaded() const {
  return std::ranges::any_of(waiting_, [](const Input& input) {
    return (input.records && !input.counted) || input.file.piped != nullptr;
  });
}

void Inputs::TakeOnly(size_t place, std::function<std::string(size_t rank)> mark) {
  Input only = std::move(waiting_[place]);
  only.file.from_folder = false;
  waiting_.clear();
  waiting_.push_back(std::move(only));
  mark_ = std::move(mark);
  status_ = nullptr;
}

void Inputs::MarkRank(Trace* trace) {
  const int64_t number = trace->rank;
  trace->rank_name = trace->strings.Intern(mark_(marked_ranks_.size()));
  marked_ranks_.push_back(number == kUnknownId ? std::nullopt : std::optional(number));
}

TraceNeeds Inputs::NeedsOf(const parse::ProfileFile& file) const {
  const bool json = file.content() == parse::ProfileFile::Content::kJson;
  const TraceNeeds needs = needs_ | parse::NeedsOfEvidence(join_.evidence);
  return json ? needs | json_needs_ : needs;
}

std::unique_ptr<LoadedProfile> Inputs::ReadProfile(const Input& input, WorkMeter* meter,
                                                   Diagnostics* diagnostics) const {
  auto profile = std::make_unique<LoadedProfile>();
  profile->path = input.file.piped == nullptr ? input.file.path : input.file.piped->name();
  parse::ProfileFile file(input.file, meter);
  profile->trace = parse::ReadInput(&file, NeedsOf(file), diagnostics);
  return profile;
}

/// What depends on the inputs before it.
void Inputs::Settle(const Input& input, LoadedProfile* profile, Diagnostics* diagnostics) {
  Trace* const trace = &profile->trace;
  parse::NameRank(input.file, profile_count_, trace, &taken_);
  if (mark_ != nullptr) {
    MarkRank(trace);
  } else {
    const int64_t number = trace->rank;
    const std::optional<int64_t> known =
        number == kUnknownId ? std::nullopt : std::optional(number);
    claims_.Add({&known, 1}, input.file.name, input.file.path);
  }
  execution_traces_->Complete(trace, diagnostics);
  ++opened_;
}

bool Inputs::OpenProfile(const Input& input, Diagnostics* diagnostics) {
  try {
    ShowStage(kReading, WorkUnit::kBytes);
    profile_ = ReadProfile(input, meter(), diagnostics);
    Settle(input, profile_.get(), diagnostics);
    stage_.reset();
    return true;
  } catch (const Error& error) {
    stage_.reset();
    profile_.reset();
    LeaveOut(error);
    return false;
  }
}

std::unique_ptr<LoadedProfile> Inputs::ReadCounted(const Input& input) {
  auto profile = std::make_unique<LoadedProfile>();
  profile->path = input.file.path;
  profile->table = parse::ReadCounters(input.file.path);
  profile->trace = parse::TraceOfCounters(*profile->table);
  return profile;
}

bool Inputs::OpenCounted(const Input& input) {
  try {
    profile_ = ReadCounted(input);
    ++opened_;
    return true;
  } catch (const Error& error) {
    profile_.reset();
    LeaveOut(error);
    return false;
  }
}

bool Inputs::OpenRecords(const Input& input) {
  if (input.counted) return OpenCounted(input);
  try {
    lines_ = std::make_unique<LineRecords>(
        input.file.piped != nullptr ? input.file.piped
                                    : std::make_shared<parse::InputBytes>(last_path_, meter()));
    ShowStage(kPricing, WorkUnit::kBytes);
    ++opened_;
    return true;
  } catch (const Error& error) {
    LeaveOut(error);
    return false;
  }
}

RecordSource::Step Inputs::NextLine(WaitingRow* row, Diagnostics* diagnostics) {
  try {
    return lines_->Next(row, diagnostics);
  } catch (const Error& error) {
    --opened_;
    LeaveOut(error);
    return Step::kEnd;
  }
}

/// Call in a handler of `error`.
void Inputs::LeaveOut(const Error& error) {
  if (paths_.size() < 2) throw;
  if (tell_left_out_ != nullptr) {
    tell_left_out_(error.what());
  } else {
    PrintError(Complaint(tool_, fmt::format("{}; left out", error.what())));
  }
  ++left_out_;
  // If nothing could be read, the last error ends the run.
  if (opened_ == 0 && waiting_.empty()) throw;
}

void Inputs::Join(LoadedProfile* profile, Diagnostics* diagnostics) const {
  profile->kernels.emplace(&profile->trace, join_, diagnostics,
                           reference_ ? &reference_->records() : nullptr);
}

RecordSource::Step Inputs::Next(WaitingRow* row, Diagnostics* diagnostics) {
  if (lines_ == nullptr && profile_ == nullptr) {
    if (!OpenNext(diagnostics)) return Step::kEnd;
    if (profile_ != nullptr) {
      Join(profile_.get(), diagnostics);
      JoinCounters(profile_.get());
      cursor_ = {};
      ShowStage(kPricing, WorkUnit::kKernels);
      if (meter() != nullptr) meter()->Start(std::ssize(profile_->trace.kernels));
    }
    return Step::kInput;
  } else if (input_ended_) {
    input_ended_ = false;
    lines_.reset();
    profile_.reset();
    return Next(row, diagnostics);
  }
  if (lines_ != nullptr) {
    row->row.work = PricedKernel::kNoWork;
    row->row.counters = nullptr;
    const Step step = NextLine(row, diagnostics);
    if (step != Step::kEnd) return step;
  } else if (const Step step = cursor_.Next(*profile_, row); step != Step::kEnd) {
    if (meter() != nullptr) meter()->Set(cursor_.kernels());
    return step;
  }
  // Keeps what the last rows point to until the next call.
  input_ended_ = true;
  stage_.reset();
  return waiting_.empty() ? Step::kEnd : Step::kEndOfInput;
}

const Trace* Inputs::NextTrace(Diagnostics* diagnostics) {
  if (!OpenNext(diagnostics)) return nullptr;
  if (profile_ != nullptr) return &profile_->trace;
  FailOfRecords(last_path_, "copies", "copies");
}

}  // namespace oplens::prof
