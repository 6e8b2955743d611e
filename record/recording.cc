#include "record/recording.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/program.h"
#include "base/run_files.h"
#include "record/chunk_rings.h"
#include "record/conversion_run.h"
#include "record/launcher.h"
#include "record/messages.h"
#include "record/preflight.h"
#include "record/process_table.h"
#include "record/signals.h"
#include "record/spool/futex.h"
#include "record/spool/spool_format.h"
#include "record/spool_folder.h"
#include "record/spool_reader.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;
using RecordingClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Request {
  SharedPage page;
  uint32_t number = 0;

  uint32_t Served() const { return page->flush_done.load(std::memory_order_acquire); }
  bool IsServedBy(uint32_t served) const { return static_cast<int32_t>(served - number) >= 0; }
};

/// Sends a flush request to the last image of each process.
std::vector<Request> Ask(const fs::path& spool_folder, const std::vector<int32_t>& processes) {
  std::vector<Request> requests;
  const std::vector<ImageFolder> images = ListImages(spool_folder);
  for (size_t i = 0; i < images.size(); ++i) {
    const bool last = i + 1 == images.size() || images[i + 1].process_id != images[i].process_id;
    if (!last || std::count(processes.begin(), processes.end(), images[i].process_id) == 0)
      continue;
    SharedPage page = MapRunningPage(images[i].path);
    if (!page || page->cuda.load(std::memory_order_acquire) != spool::CudaState::kRecording) {
      continue;
    }
    const uint32_t number = page->flush_requested.fetch_add(1, std::memory_order_release) + 1;
    spool::WakeAll(page->flush_requested);
    requests.push_back({std::move(page), number});
  }
  return requests;
}

/// Requests that `processes` with GPU recording flush CUPTI into the spool; waits at most `most`.
void RequestFlush(const fs::path& spool, const std::vector<int32_t>& processes, milliseconds most) {
  const auto end = RecordingClock::now() + most;
  for (const Request& request : Ask(spool, processes)) {
    uint32_t served = request.Served();
    for (; !request.IsServedBy(served); served = request.Served()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::nanoseconds>(end - RecordingClock::now());
      if (left.count() <= 0) return;
      spool::WaitForChange(request.page->flush_done, served, left.count());
    }
  }
}

constexpr milliseconds kIdle{50};
constexpr milliseconds kConversionBudget{200};
constexpr std::chrono::seconds kGrace{5};     // From SIGTERM to SIGKILL.
constexpr milliseconds kFlushPatience{1000};  // Before a signal.
constexpr int kExitTimeout = 124;

/// The command line to store.
std::string CommandLine(const Options& options) {
  if (!options.keep_arguments) return options.command.front();
  std::string line;
  for (const std::string& word : options.command) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// Whether orphaned descendants become children of this process.
bool TakesOrphans(const Options& options) { return options.children || options.timeout_s > 0; }

/// The processes of a recording, from the start of the program to the end of the last process that
/// is waited for.
class Processes {
 public:
  Processes(const Options& options, pid_t program, std::string library, fs::path spool)
      : options_(options),
        program_(program),
        library_(std::move(library)),
        spool_(std::move(spool)) {
    if (options.timeout_s > 0)
      deadline_ = RecordingClock::now() + std::chrono::seconds(options.timeout_s);
  }

  /// Handles signals for at most `idle`. False: every process ended.
  bool Step(Signals* signals, milliseconds idle) {
    std::optional<Signals::Signal> signal = signals->Wait(idle);
    for (; signal; signal = signals->Wait(milliseconds(0))) {
      if (signal->number != SIGCHLD) Forward(*signal);
    }
    Reap();
    if (RecordingClock::now() >= deadline_) EndThem(signals->witness());
    if (stage_ == Stage::kRunning) return program_runs_ || ChildrenRun();
    return stage_ != Stage::kGivenUp && OthersRun(signals->witness());
  }

  /// Looks for reasons why the library is not loaded yet: loading it takes a descriptor.
  void LookAtProgram() { out_of_descriptors_ |= HasNoDescriptorLeft(program_); }
  bool out_of_descriptors() const { return out_of_descriptors_; }
  /// Whether the program ended as another user, who may not be able to write to the spool.
  bool other_user() const { return other_user_; }

  int exit_code() const { return stage_ == Stage::kRunning ? ExitCodeOf(status_) : kExitTimeout; }

  /// The message about the program's end; "" for none.
  std::string EndLine() const {
    if (stage_ != Stage::kRunning) {
      return fmt::format(
          "record: the program was ended after --timeout {} s{}\n", options_.timeout_s,
          stage_ == Stage::kGivenUp ? "; not all that it started could be killed" : "");
    }
    if (!WIFSIGNALED(status_)) return "";
    const int number = WTERMSIG(status_);
    return fmt::format("record: the program was killed by signal {} ({})\n", number,
                       ::strsignal(number));
  }

 private:
  enum class Stage { kRunning, kTerminated, kKilled, kGivenUp };

  /// The children with the library. A newly forked one is in the spool only once it has something
  /// to record.
  std::vector<int32_t> RecordedChildren() const {
    std::vector<int32_t> children;
    if (!options_.children) return children;
    for (const int32_t process_id : Descendants()) {
      if (process_id == program_ && program_runs_) continue;
      if (MapsFile(process_id, library_)) children.push_back(process_id);
    }
    return children;
  }

  /// Forwards a signal to the program or, after its end, to recorded processes that it left; not to
  /// those that got it with the group.
  void Forward(const Signals::Signal& signal) {
    std::vector<int32_t> targets = {program_};
    if (!program_runs_) targets = RecordedChildren();
    if (signal.of_group) {
      std::erase_if(targets, [](int32_t target) { return ::getpgid(target) == ::getpgrp(); });
    }
    Send(targets, signal.number);
  }

  /// Flushes CUPTI first, because a process may end at once.
  void Send(const std::vector<int32_t>& targets, int number) const {
    RequestFlush(spool_, targets, kFlushPatience);
    for (const int32_t target : targets) ::kill(target, number);
  }

  /// All descendants except the witness.
  static std::vector<int32_t> AllBut(pid_t witness) {
    std::vector<int32_t> processes = Descendants();
    std::erase(processes, witness);
    return processes;
  }

  void Reap() {
    // Orphans of the program may have become our children.
    const idtype_t whom = TakesOrphans(options_) ? P_ALL : P_PID;
    while (true) {
      siginfo_t ended{};
      const int answer =
          ::waitid(whom, static_cast<id_t>(program_), &ended, WEXITED | WNOHANG | WNOWAIT);
      if (answer < 0 && errno == EINTR) continue;
      if (answer < 0 || ended.si_pid == 0) return;
      const bool is_program = ended.si_pid == program_ && program_runs_;
      // Read before waitpid, after which the system forgets it.
      if (is_program) other_user_ = IsOfOtherUser(program_);
      int status = 0;
      ::waitpid(ended.si_pid, &status, WNOHANG);
      if (!is_program) continue;
      program_runs_ = false;
      status_ = status;
    }
  }

  /// The next step after the timeout: asks the program and all its descendants to end, later kills
  /// them.
  void EndThem(pid_t witness) {
    deadline_ = RecordingClock::now() + kGrace;
    if (stage_ == Stage::kRunning) {
      stage_ = Stage::kTerminated;
      Send(AllBut(witness), SIGTERM);
    } else if (stage_ == Stage::kTerminated) {
      stage_ = Stage::kKilled;
      Send(AllBut(witness), SIGKILL);
    } else {
      stage_ = Stage::kGivenUp;
    }
  }

  bool OthersRun(pid_t witness) const {
    const std::vector<int32_t> left = AllBut(witness);
    // New ones may have been created during the killing.
    for (const int32_t process : left) {
      if (stage_ == Stage::kKilled) ::kill(process, SIGKILL);
    }
    return program_runs_ || !left.empty();
  }

  bool ChildrenRun() {
    const std::vector<int32_t> children = RecordedChildren();
    const size_t running = children.size();
    if (running > 0 && !told_) {
      if (!options_.quiet) {
        PrintError(
            running == 1
                ? fmt::format("record: the program ended; waiting for recorded child process "
                              "{}: end it to have the databases now\n",
                              children.front())
                : fmt::format("record: the program ended; waiting for {} recorded child "
                              "processes, {} for one: end them to have the databases now\n",
                              running, children.front()));
      }
      told_ = true;
    }
    return running > 0;
  }

  const Options& options_;
  pid_t program_;
  std::string library_;
  fs::path spool_;
  bool out_of_descriptors_ = false;
  bool other_user_ = false;
  bool program_runs_ = true;
  int status_ = 0;
  Stage stage_ = Stage::kRunning;
  RecordingClock::time_point deadline_ = RecordingClock::time_point::max();
  bool told_ = false;
};

/// The file run for the first word of a command, found in PATH if it has no folder; "" if none.
std::string FileOfProgram(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const fs::path file = fs::path(folders.substr(0, end)) / word;
    if (::access(file.c_str(), X_OK) == 0) return file.string();
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return "";
}

/// CheckedOutput(), but refuses the program and files among its arguments, such as its script.
fs::path OutputFor(const std::string& pattern, int32_t process_id, const Options& options) {
  const fs::path output = CheckedOutput(pattern, process_id, options.force);
  RunFiles files;
  files.Read(FileOfProgram(options.command.front()), "the program");
  for (size_t i = 1; i < options.command.size(); ++i) {
    files.Read(options.command[i], "an argument of the program");
  }
  files.Write(output.string(), "-o");
  files.RefuseOverwriting();
  return output;
}

class Recording {
 public:
  Recording(const Options& options, const Inherited& inherited)
      : options_(options),
        library_(FindLibrary()),
        pattern_(AbsolutePattern(options.output)),
        launcher_(options.command, inherited),
        program_(IdentityOf(launcher_.process_id())),
        output_(OutputFor(pattern_, launcher_.process_id(), options)),
        spool_(SpoolFolder::Create(output_, options.force)) {
    program_.process_id = launcher_.process_id();  // Set even without /proc.
  }

  int Run() {
    AllowManyFiles();  // After the fork, so that the program keeps its own limit.
    const int error = Start();
    if (error != 0) return SayNotStarted(error);
    Processes processes(options_, launcher_.process_id(), library_.string(), spool_.path());
    using Talk = ConversionRun::Talk;
    // With one database per process, --recover takes the pattern.
    const fs::path name = options_.children ? fs::path(pattern_) : output_;
    ConversionRun conversion({spool_.path(), options_.force, false, OPLENS_VERSION},
                             ShortName(name, Directory()),
                             options_.quiet ? Talk::kFaults : Talk::kAll);
    bool more = false;
    bool library_seen = false;
    std::optional<RingThread> rings(spool_.path());
    while (processes.Step(&signals_, more ? milliseconds(0) : kIdle)) {
      library_seen = library_seen || spool_.HasProcesses();
      if (!library_seen) processes.LookAtProgram();
      more = conversion.Advance(kConversionBudget);
    }
    rings.reset();
    PrintError(processes.EndLine());
    RecordingFacts facts = Facts();
    facts.out_of_descriptors = processes.out_of_descriptors();
    facts.other_user = processes.other_user();
    if (NeedsEmptyDatabase(facts, spool_)) NoteUnseen(&conversion);
    const bool written = conversion.Finish(facts, &spool_);
    const int code = processes.exit_code();
    if (code != 0) return code;
    if (!written) return kExitCannotRead;
    return options_.strict && !conversion.is_whole() ? kExitStrict : kExitOk;
  }

 private:
  /// Each recorded process has an open database.
  static void AllowManyFiles() {
    rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

  static fs::path Directory() {
    std::error_code error;
    return fs::current_path(error);
  }

  int Start() {
    const std::string clock = std::to_string(ClockOffset());
    const std::string words = LibraryOptions(options_);
    std::array<char, 64> program{};
    FormatIdentity(program_, program.data(), program.size());
    Session session = {{"version", std::to_string(spool::kVersion)},
                       {"oplens", OPLENS_VERSION},
                       {"output", pattern_},
                       {"database", output_.string()},
                       {"command", CommandLine(options_)},
                       {"options", words},
                       {"clock_offset_ns", clock}};
    SetProgram(program_, &session);
    try {
      WriteSession(spool_.path(), session);
    } catch (...) {
      spool_.Remove();
      throw;
    }
    if (TakesOrphans(options_)) ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return launcher_.Start({{spool::kSpoolVariable, spool_.path().string()},
                            {spool::kOutputVariable, pattern_},
                            {spool::kRootVariable, program.data()},
                            {spool::kOptionsVariable, words},
                            {spool::kClockVariable, clock},
                            {"NVTX_INJECTION64_PATH", library_.string()},
                            {"CUDA_INJECTION64_PATH", library_.string()}});
  }

  int SayNotStarted(int error) {
    spool_.Remove();
    const std::string& name = options_.command.front();
    const bool in_path = name.find('/') == std::string::npos;
    const char* const advice = error != ENOENT ? "check that it is an executable file"
                               : in_path ? "no folder of PATH has it: write ./NAME for one here"
                                         : "check its name";
    PrintError(
        fmt::format("record: {}: cannot be started: {}; {}\n", name, std::strerror(error), advice));
    return ExitCodeOfFailedStart(error);
  }

  RecordingFacts Facts() const {
    RecordingFacts facts;
    const auto& trace = options_.trace;
    facts.requested_cuda = std::find(trace.begin(), trace.end(), "cuda") != trace.end();
    facts.requested_children = options_.children;
    facts.has_driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
    facts.program_seen = spool_.HasProcess(program_);
    facts.library_failed = spool_.HasFailedProcess();
    facts.library_error = spool_.ErrorOfFailedProcess();
    facts.directory = Directory();
    return facts;
  }

  /// A program without NVTX and CUDA gets a database too.
  void NoteUnseen(ConversionRun* conversion) const {
    try {
      spool_.AddUnseenProcess(program_, output_.string(), CommandLine(options_));
    } catch (const std::exception& error) {
      conversion->Fail(error.what());
    }
  }

  const Options& options_;
  Signals signals_;  // First: it must be in effect before there is a child.
  fs::path library_;
  std::string pattern_;
  Launcher launcher_;
  ProcessIdentity program_;
  fs::path output_;
  SpoolFolder spool_;
};

}  // namespace

int RecordProgram(const Options& options, const Inherited& inherited) {
  RefuseOtherTools();
  return Recording(options, inherited).Run();
}

}  // namespace oplens::record
