#include "record/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "record/cupti_advice.h"

namespace oplens::record {
namespace {

/// "1 range", "2 ranges"
std::string Count(int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

int64_t Dropped(const ProcessSummary& process) {
  return process.lost_events + process.lost_rows + process.cupti_lost;
}

std::string WhyNotStored(int error) {
  if (error == ENOSPC || error == EDQUOT) {
    return fmt::format("{}: free some space, or record to another disk", std::strerror(error));
  }
  if (error == EFBIG) return fmt::format("{}: raise the limit (ulimit -f)", std::strerror(error));
  if (error != 0) return std::strerror(error);
  return "the reason is unknown";
}

/// The lines of one database, each without its beginning.
class Lines {
 public:
  explicit Lines(const ProcessSummary& process) : process_(process) {
    Add(fmt::format("{}, {}, {}", Count(process.kernels, "kernel"), Count(process.ranges, "range"),
                    Count(Dropped(process), "dropped record")));
    SayWhatWasLost();
    if (process.cuda == spool::CudaState::kFailed) Add(CuptiAdvice(process));
    for (const std::string& note : process.notes) Add(note);
    if (process.open_ranges > 0) {
      Add(fmt::format("{} never ended{}", Count(process.open_ranges, "range"),
                      process.ended ? "" : ": the program was killed, or left without an exit"));
    }
    if (!process.damage.empty()) Add("not all that was recorded could be read: " + process.damage);
  }

  std::vector<std::string> Take() { return std::move(lines_); }

 private:
  void Add(std::string line) { lines_.push_back(std::move(line)); }

  void SayWhatWasLost() {
    const int64_t not_stored = process_.lost_events + process_.lost_rows;
    if (not_stored > 0) {
      Add(fmt::format("{} could not be stored: {}", Count(not_stored, "record"),
                      WhyNotStored(process_.first_error)));
    }
    if (process_.cupti_lost > 0) {
      Add(
          fmt::format("CUPTI dropped {}, its buffers being full: record less with --trace, or a "
                      "part with --profile-from-start off",
                      Count(process_.cupti_lost, "record")));
    }
    if (process_.odd_rows > 0) {
      Add(fmt::format("{} of unknown kinds left out", Count(process_.odd_rows, "record")));
    }
  }

  const ProcessSummary& process_;
  std::vector<std::string> lines_;
};

/// Why there is no GPU activity where nothing failed; "": there may be some.
std::string WhyRangesOnly(const std::vector<ProcessSummary>& processes,
                          const RecordingFacts& facts) {
  const bool unused = std::all_of(processes.begin(), processes.end(), [](const auto& process) {
    return process.cuda == spool::CudaState::kUnused;
  });
  if (!facts.wanted_cuda || !unused) return "";
  if (!facts.has_driver) return "no NVIDIA driver on this machine: ranges only";
  return facts.program_seen ? "the program used no CUDA: ranges only" : "";
}

std::string AboutTheProgram(const RecordingFacts& facts) {
  if (facts.library_failed) {
    return "a process could not write into the spool and was not recorded: is the disk full, or "
           "does it run as another user?";
  }
  if (facts.program_seen) return "";
  if (facts.wanted_children) return "the program itself used neither CUDA nor NVTX";
  return "the program used neither CUDA nor NVTX: its database is empty";
}

std::string AboutChildren(const RecordingFacts& facts) {
  if (facts.skipped_processes == 0) return "";
  return fmt::format("{} not recorded: give --profile-child-processes, and %p in the name",
                     facts.skipped_processes == 1
                         ? "1 child process was"
                         : fmt::format("{} child processes were", facts.skipped_processes));
}

}  // namespace

std::string ShortName(const std::filesystem::path& path, const std::filesystem::path& directory) {
  const std::string name = path.string();
  std::string folder = directory.string();
  if (folder.empty()) return name;
  if (folder.back() != '/') folder += '/';
  const bool inside = name.size() > folder.size() && name.starts_with(folder);
  return inside ? name.substr(folder.size()) : name;
}

std::string Summary(const std::vector<ProcessSummary>& processes, const RecordingFacts& facts) {
  std::string text;
  for (const ProcessSummary& process : processes) {
    const std::string name = ShortName(process.output, facts.directory);
    for (const std::string& line : Lines(process).Take()) {
      text += fmt::format("record: {}: {}\n", name, line);
    }
  }
  for (const std::string& line :
       {AboutTheProgram(facts), WhyRangesOnly(processes, facts), AboutChildren(facts)}) {
    if (!line.empty()) text += fmt::format("record: {}\n", line);
  }
  return text;
}

}  // namespace oplens::record
