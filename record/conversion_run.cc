#include "record/conversion_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/program.h"

namespace oplens::record {
namespace {

using ConversionRunClock = std::chrono::steady_clock;

/// A progress line on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : wanted_(wanted && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (shown_) PrintError("\r\033[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const std::string& name, double done) {
    constexpr auto kPeriod = std::chrono::milliseconds(200);
    if (!wanted_ || ConversionRunClock::now() < next_) return;
    next_ = ConversionRunClock::now() + kPeriod;
    shown_ = true;
    PrintError(fmt::format("\rrecord: writing {}: {:.0f} %\033[K", name, done * 100));
  }

 private:
  bool wanted_;
  bool shown_ = false;
  ConversionRunClock::time_point next_ = ConversionRunClock::now() + std::chrono::milliseconds(500);
};

}  // namespace

ConversionRun::ConversionRun(ConversionOptions options, std::string output, Talk talk)
    : output_(std::move(output)), talk_(talk), conversion_(std::in_place, std::move(options)) {}

void ConversionRun::Fail(const char* what) {
  if (failure_.empty()) failure_ = what;
  conversion_.reset();
}

bool ConversionRun::Advance(std::chrono::milliseconds budget) {
  if (!conversion_) return false;
  try {
    return conversion_->Advance(budget);
  } catch (const std::exception& error) {
    Fail(error.what());
    return false;
  }
}

std::vector<ProcessSummary> ConversionRun::Complete() {
  ProgressLine line(talk_ == Talk::kAll);
  return conversion_->Finish([&](double done) { line.Show(output_, done); });
}

void ConversionRun::Tell(const std::vector<SummaryLine>& lines) {
  is_whole_ = true;
  for (const SummaryLine& line : lines) {
    if (line.fault) is_whole_ = false;
    if (line.fault || talk_ == Talk::kAll) PrintError(line.text);
  }
}

bool ConversionRun::Finish(RecordingFacts facts, SpoolFolder* spool) {
  std::error_code error;
  const bool has_spool = std::filesystem::is_directory(spool->path(), error);
  if (!has_spool) {
    conversion_.reset();
    failure_ = fmt::format("{}: was removed during the recording; record again, and leave it",
                           ShortName(spool->path(), facts.directory));
  }
  if (conversion_) {
    try {
      const std::vector<ProcessSummary> processes = Complete();
      facts.skipped_processes = conversion_->skipped_processes();
      const bool all_written = conversion_->unnamed_processes() == 0;
      const bool all_read = std::all_of(processes.begin(), processes.end(),
                                        [](const auto& process) { return process.damage.empty(); });
      if (all_written && all_read) spool->Remove();
      Tell(Summary(processes, facts));
      if (!all_written || !all_read) {
        is_whole_ = false;
        PrintError(fmt::format("record: the recording itself is kept in {}\n",
                               ShortName(spool->path(), facts.directory)));
      }
      return all_written;
    } catch (const std::exception& thrown) {
      Fail(thrown.what());
    }
  }
  PrintError(fmt::format("record: {}\n", failure_));
  if (has_spool) {
    PrintError(
        fmt::format("record: all that was recorded is in {}: make the database of it with `record "
                    "--recover {}`\n",
                    ShortName(spool->path(), facts.directory), output_));
  }
  return false;
}

}  // namespace oplens::record
