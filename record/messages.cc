#include "record/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/utf8.h"

namespace oplens::record {
namespace {

struct Advice {
  int result;  ///< CUptiResult
  const char* text;
};

constexpr char kOneProfiler[] =
    "another profiler is attached to the program, and CUPTI serves one: record without it";
constexpr char kNotOnThisGpu[] = "CUPTI cannot record on this kind of GPU or system: use another";

constexpr Advice kAdvice[] = {
    {7, "CUPTI is in another profiler's use, or the driver is too old for it: update the driver"},
    {8, "CUPTI had no memory: leave it some"},
    {15,
     "CUPTI does not fit the driver: name the one of the CUDA version that nvidia-smi shows with "
     "OPLENS_CUPTI"},
    {23, kOneProfiler},
    {27, kNotOnThisGpu},
    {33, kNotOnThisGpu},
    {35,
     "the driver lets administrators only see GPU activity: set its module option "
     "NVreg_RestrictProfilingToAdminUsers=0, or run as root or with CAP_SYS_ADMIN"},
    {36, kOneProfiler},
    {39, kOneProfiler},
    {40, "the hypervisor does not allow it: ask for profiling to be enabled for this virtual GPU"},
    {41, "the GPU is in confidential computing mode, which forbids it: leave that mode"},
    {42, kNotOnThisGpu},
    {43, kNotOnThisGpu},
    {44, kNotOnThisGpu},
    {45, kNotOnThisGpu},
    {999,
     "the driver did not answer CUPTI: see whether nvidia-smi works, and name the CUPTI of its "
     "CUDA "
     "version with OPLENS_CUPTI"},
};

constexpr char kGetCupti[] =
    "install the CUPTI of the CUDA version that nvidia-smi shows, 11.1 or newer, or name it with "
    "OPLENS_CUPTI";

std::string_view AdviceFor(int result) {
  for (const Advice& advice : kAdvice) {
    if (advice.result == result) return advice.text;
  }
  return kGetCupti;
}

/// "1 range", "2 ranges"
std::string Count(int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

int64_t Dropped(const ProcessSummary& process) {
  return process.lost_events + process.handler_events + process.child_events + process.lost_rows +
         process.cupti_lost;
}

std::string WhyNotStored(int error) {
  if (error == ENOSPC || error == EDQUOT) {
    return fmt::format("{}: free some space, or record to another disk", std::strerror(error));
  }
  if (error == EFBIG) return fmt::format("{}: raise the limit (ulimit -f)", std::strerror(error));
  if (error == EMFILE) return fmt::format("{}: raise the limit (ulimit -n)", std::strerror(error));
  if (error != 0) return std::strerror(error);
  return "the reason is unknown";
}

std::string WasNotRecorded(const RecordingFacts& facts) {
  if (facts.library_error == 0) {
    return "a process could not write into the spool and was not recorded: is the disk full, or "
           "does it run as another user?";
  }
  return fmt::format("a process could not write into the spool and was not recorded: {}",
                     WhyNotStored(facts.library_error));
}

/// "3 cycles, "; "" if there is one file for all.
std::string Cycles(const ProcessSummary& process) {
  const auto count = static_cast<int64_t>(process.cycle_outputs.size());
  return count == 0 ? "" : Count(count, "cycle") + ", ";
}

/// The name of the database, or of the first and last one.
std::string NameOf(const ProcessSummary& process, const std::filesystem::path& directory) {
  const std::vector<std::string>& cycles = process.cycle_outputs;
  if (cycles.empty()) return ShortName(process.output, directory);
  std::string first = ShortName(cycles.front(), directory);
  if (cycles.size() == 1) return first;
  return fmt::format("{} {} {}", first, cycles.size() == 2 ? "and" : "to",
                     std::filesystem::path(cycles.back()).filename().string());
}

/// The lines about one database, without the prefix.
class Lines {
 public:
  explicit Lines(const ProcessSummary& process) : process_(process) {
    Note(fmt::format("{}{}, {}, {}", Cycles(process),
                     Count(process.kernels - process.kernels_outside, "kernel"),
                     Count(process.ranges - process.ranges_outside, "range"),
                     Count(Dropped(process), "dropped record")));
    SayWhatOfTheSchedule();
    SayWhatWasLost();
    SayWhatWasCutOff();
    if (process.cuda == spool::CudaState::kFailed) Fault(CuptiAdvice(process));
    for (const std::string& note : process.notes) Fault(note);
    if (process.open_ranges > 0) {
      Note(fmt::format("{} never ended{}", Count(process.open_ranges, "range"),
                       process.ended ? "" : ": the program was killed, or left without an exit"));
    }
    if (!process.damage.empty())
      Fault("not all that was recorded could be read: " + process.damage);
  }

  std::vector<SummaryLine> Take() { return std::move(lines_); }

 private:
  void Note(std::string line) { lines_.push_back({std::move(line), false}); }
  void Fault(std::string line) { lines_.push_back({std::move(line), true}); }

  void SayWhatOfTheSchedule() {
    if (!process_.scheduled) return;
    if (process_.cycle_outputs.empty()) {
      Note("no cycle of the program's schedule was recorded: all that was is in one file");
    }
    if (process_.kernels_outside + process_.ranges_outside > 0) {
      Note(fmt::format("{} and {} outside of the cycles are in no file",
                       Count(process_.kernels_outside, "kernel"),
                       Count(process_.ranges_outside, "range")));
    }
    if (process_.joined_cycles > 0) {
      Note(fmt::format("the last file holds {} more: give the schedule a `repeat`",
                       Count(process_.joined_cycles, "cycle")));
    }
    if (process_.incomplete_cycles > 0) {
      Note(fmt::format("{} not completed by the program",
                       process_.incomplete_cycles == 1
                           ? "1 cycle was"
                           : fmt::format("{} cycles were", process_.incomplete_cycles)));
    }
  }

  void SayWhatWasLost() {
    const int64_t not_stored = process_.lost_events + process_.lost_rows;
    if (not_stored > 0) {
      Fault(fmt::format("{} could not be stored: {}", Count(not_stored, "record"),
                        WhyNotStored(process_.first_error)));
    }
    if (process_.handler_events > 0) {
      Fault(
          fmt::format("{} of signal handlers that interrupted another one dropped: annotate "
                      "outside of handlers",
                      Count(process_.handler_events, "NVTX call")));
    }
    if (process_.child_events > 0) {
      Fault(
          fmt::format("{} of child processes that were made without fork (_Fork, clone) dropped: "
                      "make them with fork, or let them execute a program",
                      Count(process_.child_events, "NVTX call")));
    }
    if (process_.cupti_lost > 0) {
      Fault(
          fmt::format("CUPTI dropped {}, its buffers being full: record less with --trace, or a "
                      "part with --profile-from-start off",
                      Count(process_.cupti_lost, "record")));
    }
    if (process_.cut_texts > 0) {
      Fault(fmt::format(
          "{} cut: those of events at {} KiB, names at {} KiB",
          process_.cut_texts == 1 ? "1 text was" : fmt::format("{} texts were", process_.cut_texts),
          spool::kMostTextBytes / 1024, spool::kMostNameBytes / 1024));
    }
    if (process_.odd_rows > 0) {
      Fault(fmt::format("{} of unknown kinds left out", Count(process_.odd_rows, "record")));
    }
  }

  void SayWhatWasCutOff() {
    const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
    if (process_.gpu_cut_off) {
      Fault(
          fmt::format("ended without exit (a signal, _exit or exec): up to {} s of GPU work may "
                      "be missing",
                      seconds(spool::kFlushPeriodNs)));
    }
    if (process_.gpu_busy_at_end) {
      Fault(
          fmt::format("the GPU was still at work {} s after the end of the program: what it did "
                      "last is missing",
                      seconds(spool::kEndWaitNs)));
    }
    if (process_.unfinished_launches > 0) {
      Fault(fmt::format("{} no kernel: the recording ended before",
                        process_.unfinished_launches == 1
                            ? "1 launch has"
                            : fmt::format("{} launches have", process_.unfinished_launches)));
    }
  }

  const ProcessSummary& process_;
  std::vector<SummaryLine> lines_;
};

/// Why there is no GPU activity although nothing failed; "": there may be some.
std::string WhyRangesOnly(const std::vector<ProcessSummary>& processes,
                          const RecordingFacts& facts) {
  const bool unused = std::all_of(processes.begin(), processes.end(), [](const auto& process) {
    return process.cuda == spool::CudaState::kUnused;
  });
  if (!facts.requested_cuda || !unused) return "";
  if (!facts.has_driver) return "no NVIDIA driver on this machine: ranges only";
  return facts.program_seen ? "the program used no CUDA: ranges only" : "";
}

SummaryLine AboutTheProgram(const RecordingFacts& facts) {
  if (facts.library_failed) return {WasNotRecorded(facts), true};
  if (facts.program_seen) return {};
  if (facts.out_of_descriptors) {
    return {
        "the program had no file descriptor left: where it uses CUDA or NVTX, the recorder "
        "could not be loaded: raise the limit (ulimit -n)",
        true};
  }
  if (facts.other_user) {
    return {
        "the program ran as another user, who may not write into the recording: run record as "
        "that user",
        true};
  }
  if (facts.requested_children) return {"the program itself used neither CUDA nor NVTX"};
  return {"the program used neither CUDA nor NVTX: its database is empty"};
}

/// Why a recording with --profile-from-start off is empty.
SummaryLine AboutTheStart(const std::vector<ProcessSummary>& processes) {
  bool waits = false;
  for (const ProcessSummary& process : processes) {
    waits |= process.waits_for_start;
    if (process.kernels + process.copies + process.calls + process.ranges + process.marks > 0) {
      return {};
    }
  }
  if (!waits) return {};
  return {
      "nothing was recorded: with --profile-from-start off, recording begins at "
      "oplens::annotate::Start(), or at cudaProfilerStart if `cuda` is traced, and neither was "
      "called",
      true};
}

std::string AboutChildren(const RecordingFacts& facts) {
  if (facts.skipped_processes == 0) return "";
  return fmt::format("{} not recorded: give --profile-child-processes, and %p in the name",
                     facts.skipped_processes == 1
                         ? "1 child process was"
                         : fmt::format("{} child processes were", facts.skipped_processes));
}

}  // namespace

std::string CuptiAdvice(const ProcessSummary& process) {
  if (process.cupti_result != 0) {
    return fmt::format("no GPU activity was recorded: {}: {} ({}); {}", process.cupti_step,
                       process.cupti_message, process.cupti_result,
                       AdviceFor(process.cupti_result));
  }
  if (process.cupti_version != 0) {
    return fmt::format("no GPU activity was recorded: CUPTI {} is {}; {}", process.cupti_version,
                       process.cupti_message, kGetCupti);
  }
  return fmt::format("no GPU activity was recorded: {} {}; {}", process.cupti_step,
                     process.cupti_message, kGetCupti);
}

std::string ShortName(const std::filesystem::path& path, const std::filesystem::path& directory) {
  const std::string name = path.string();
  std::string folder = directory.string();
  if (folder.empty()) return LineText(name);
  if (folder.back() != '/') folder += '/';
  const bool inside = name.size() > folder.size() && name.starts_with(folder);
  return LineText(inside ? name.substr(folder.size()) : name);
}

std::vector<SummaryLine> Summary(const std::vector<ProcessSummary>& processes,
                                 const RecordingFacts& facts) {
  std::vector<SummaryLine> lines;
  for (const ProcessSummary& process : processes) {
    const std::string name = NameOf(process, facts.directory);
    for (const SummaryLine& line : Lines(process).Take()) {
      lines.push_back({fmt::format("record: {}: {}\n", name, line.text), line.fault});
    }
  }
  for (const SummaryLine& line :
       {AboutTheProgram(facts), AboutTheStart(processes),
        SummaryLine{WhyRangesOnly(processes, facts)}, SummaryLine{AboutChildren(facts)}}) {
    if (!line.text.empty()) lines.push_back({fmt::format("record: {}\n", line.text), line.fault});
  }
  return lines;
}

}  // namespace oplens::record
