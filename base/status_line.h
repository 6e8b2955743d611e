#ifndef OPLENS_BASE_STATUS_LINE_H_
#define OPLENS_BASE_STATUS_LINE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/work_meter.h"

namespace oplens {

enum class WorkUnit : uint8_t { kBytes, kKernels };

/// One line about progress: "reading run.json: 120 of 203 MB (59 %), 95 MB/s, 1 s left"; for an
/// unknown total only the amount done and the rate. At most `width` characters: `what` is truncated
/// on its left.
std::string StatusText(std::string_view doing, std::string_view what, WorkUnit unit, int64_t done,
                       int64_t total, std::chrono::milliseconds elapsed, size_t width);

/// A progress line on standard error if that is a terminal, from one second after the program's
/// start, at most ten times per second. It is overwritten with "\r" and erased at the end of each
/// stage, so output between stages has a clean line. A thread draws it; without a terminal there is
/// no thread.
class StatusLine {
 public:
  StatusLine(std::string_view tool, bool wanted);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// While it lives, the line "DOING WHAT: ..." may be shown, for the work that meter() counts, and
  /// nothing else may be printed. `rows`: rows may go to standard output; if that is a terminal
  /// too, nothing is shown.
  class Stage {
   public:
    Stage(StatusLine* line, std::string_view doing, std::string_view what, WorkUnit unit,
          bool rows = false)
        : line_(line) {
      line_->Begin(doing, what, unit, rows);
    }
    ~Stage() { line_->End(); }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

   private:
    StatusLine* line_;
  };

  WorkMeter* meter() { return &meter_; }

 private:
  class Drawer;

  void Begin(std::string_view doing, std::string_view what, WorkUnit unit, bool rows);
  void End();

  std::string tool_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  WorkMeter meter_;
  bool wanted_ = false;
  bool stdout_is_terminal_ = false;
  std::unique_ptr<Drawer> drawer_;  // Created once there is something to show.
};

}  // namespace oplens

#endif  // OPLENS_BASE_STATUS_LINE_H_
