#include "base/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/program.h"
#include "base/terminal.h"

namespace oplens {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirst{1000};
constexpr milliseconds kPeriod{100};

/// Bytes for people, in the unit that suits `scale`.
std::string Bytes(double bytes, double scale) {
  if (scale >= 10e9) return fmt::format("{:.1f} GB", bytes * 1e-9);
  if (scale >= 1e6) return fmt::format("{:.0f} MB", bytes * 1e-6);
  return fmt::format("{:.0f} kB", bytes * 1e-3);
}

std::string Seconds(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  return fmt::format("{} min {} s", static_cast<int64_t>(seconds) / 60,
                     static_cast<int64_t>(seconds) % 60);
}

std::string Progress(WorkUnit unit, int64_t done, int64_t total, double seconds) {
  const auto amount = static_cast<double>(done);
  const auto all = static_cast<double>(total);
  const bool ends = total > 0;
  const double rate = seconds > 0 ? amount / seconds : 0;
  std::string text = unit == WorkUnit::kBytes ? Bytes(amount, ends ? all : amount)
                                              : fmt::format("{} kernels", done);
  if (ends && unit == WorkUnit::kBytes) {
    // "120 of 203 MB"
    text = fmt::format("{} of {}", text.substr(0, text.find(' ')), Bytes(all, all));
  } else if (ends) {
    text = fmt::format("{} of {} kernels", done, total);
  }
  if (ends) text += fmt::format(" ({:.0f} %)", std::min(100.0 * amount / all, 100.0));
  if (unit == WorkUnit::kBytes) text += fmt::format(", {}/s", Bytes(rate, rate));
  if (ends && rate > 0 && done < total)
    text += fmt::format(", {} left", Seconds((all - amount) / rate));
  return text;
}

}  // namespace

std::string StatusText(std::string_view doing, std::string_view what, WorkUnit unit, int64_t done,
                       int64_t total, milliseconds elapsed, size_t width) {
  const std::string progress =
      Progress(unit, done, total, static_cast<double>(elapsed.count()) * 1e-3);
  const size_t fixed = doing.size() + 3 + progress.size();
  std::string name(what);
  for (char& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  const size_t room = width > fixed ? width - fixed : 0;
  if (name.size() > room) {
    constexpr std::string_view kDots = "...";
    name = room > kDots.size() ? std::string(kDots) + name.substr(name.size() - room + kDots.size())
                               : std::string();
  }
  std::string text = fmt::format("{}{}{}: {}", doing, name.empty() ? "" : " ", name, progress);
  if (text.size() > width) text.resize(width);
  return text;
}

/// The drawing thread and the state that it shares.
class StatusLine::Drawer {
 public:
  Drawer(std::string tool, Clock::time_point began, const WorkMeter* meter)
      : tool_(std::move(tool)),
        first_(began + kFirst),
        meter_(meter),
        thread_([this] { Work(); }) {}
  ~Drawer() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Drawer(const Drawer&) = delete;
  Drawer& operator=(const Drawer&) = delete;

  void Begin(std::string_view doing, std::string_view what, WorkUnit unit) {
    {
      const std::lock_guard lock(mutex_);
      doing_ = doing;
      what_ = what;
      unit_ = unit;
      stage_began_ = Clock::now();
      active_ = true;
    }
    changed_.notify_one();
  }

  void End() {
    const std::lock_guard lock(mutex_);
    active_ = false;
    Erase();
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (!active_) {
        changed_.wait(lock, [this] { return stop_ || active_; });
        continue;
      }
      const auto now = Clock::now();
      if (now >= first_) Draw(now);
      changed_.wait_until(lock, std::max(now + kPeriod, first_),
                          [this] { return stop_ || !active_; });
    }
  }

  void Draw(Clock::time_point now) {
    const int columns = TerminalAt(STDERR_FILENO).columns;
    const size_t prefix = tool_.size() + 2;
    // The last column stays free: some terminals wrap after it.
    const size_t room = static_cast<size_t>(std::max(columns, 2)) - 1;
    if (room <= prefix) return;
    const auto elapsed = std::chrono::duration_cast<milliseconds>(now - stage_began_);
    const int64_t total = meter_->total();
    const std::string text =
        StatusText(doing_, what_, unit_, meter_->done(), total, elapsed, room - prefix);
    std::string line = fmt::format("\r{}: {}", tool_, text);
    const size_t size = prefix + text.size();
    if (shown_ > size) line.append(shown_ - size, ' ');
    shown_ = std::min(std::max(shown_, size), room);
    PrintError(line);
  }

  void Erase() {
    if (shown_ == 0) return;
    PrintError("\r" + std::string(shown_, ' ') + "\r");
    shown_ = 0;
  }

  const std::string tool_;
  const Clock::time_point first_;
  const WorkMeter* meter_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string doing_;
  std::string what_;
  WorkUnit unit_ = WorkUnit::kBytes;
  Clock::time_point stage_began_;
  size_t shown_ = 0;  // Characters on the terminal.
  bool active_ = false;
  bool stop_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

StatusLine::StatusLine(std::string_view tool, bool wanted)
    : tool_(tool),
      wanted_(wanted && TerminalAt(STDERR_FILENO).is_terminal),
      stdout_is_terminal_(TerminalAt(STDOUT_FILENO).is_terminal) {}

StatusLine::~StatusLine() = default;

void StatusLine::Begin(std::string_view doing, std::string_view what, WorkUnit unit, bool rows) {
  if (wanted_ && !(rows && stdout_is_terminal_)) {
    if (drawer_ == nullptr) drawer_ = std::make_unique<Drawer>(tool_, began_, &meter_);
    drawer_->Begin(doing, what, unit);
  }
}

void StatusLine::End() {
  if (drawer_ != nullptr) drawer_->End();
}

}  // namespace oplens
