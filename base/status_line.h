#ifndef OPLENS_BASE_STATUS_LINE_H_
#define OPLENS_BASE_STATUS_LINE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace oplens {

/// How far a piece of work is, of which a StatusLine tells: written on any thread by whoever does
/// it, at the cost of a store.
class WorkMeter {
 public:
  /// The work begins, or begins anew. `total` <= 0: not known.
  void Start(int64_t total) {
    done_.store(0, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }
  void Add(int64_t amount) { done_.fetch_add(amount, std::memory_order_relaxed); }
  void Set(int64_t done) { done_.store(done, std::memory_order_relaxed); }
  int64_t done() const { return done_.load(std::memory_order_relaxed); }
  int64_t total() const { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> total_{0};
};

/// What a meter counts.
enum class WorkUnit : uint8_t { kBytes, kKernels };

/// One line about work: "reading run.json: 120 of 203 MB (59 %), 95 MB/s, 1 s left". Of a total
/// that is not known, what is done and the rate. `width`: the most characters; the name of what is
/// worked on gives way on its left.
std::string StatusText(std::string_view doing, std::string_view what, WorkUnit unit, int64_t done,
                       int64_t total, std::chrono::milliseconds elapsed, size_t width);

/// A line on standard error that says how far a long run is, where that is a terminal: from one
/// second after the program began, at most ten times a second, written over with "\r" and erased at
/// the end of each stage, so that what is printed between stages has the line for itself. A thread
/// of its own draws it; without a terminal there is none, and nothing is written.
class StatusLine {
 public:
  /// `wanted`: false with --quiet.
  StatusLine(std::string_view tool, bool wanted);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// As long as it lives the line may be there: "DOING WHAT: ..." of work that meter() counts.
  /// Nothing else may be printed meanwhile. `rows`: rows may go to standard output; where that is a
  /// terminal too, nothing is shown.
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
  std::unique_ptr<Drawer> drawer_;  // Once something is to be shown.
};

}  // namespace oplens

#endif  // OPLENS_BASE_STATUS_LINE_H_
