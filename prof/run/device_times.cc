#include "prof/run/device_times.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/saturating.h"
#include "prof/run/run.h"

namespace oplens::prof {
int64_t ClassTimes::AnyOf(unsigned bits) const {
  int64_t sum = 0;
  for (unsigned c = 0; c < kClassCombinations; ++c) {
    if ((c & bits) != 0) SaturatingAdd(&sum, ns[c]);
  }
  return sum;
}

int64_t ClassTimes::AllOf(unsigned bits) const {
  int64_t sum = 0;
  for (unsigned c = 0; c < kClassCombinations; ++c) {
    if ((c & bits) == bits) SaturatingAdd(&sum, ns[c]);
  }
  return sum;
}

int64_t ClassTimes::Sum() const { return AllOf(0); }

void ClassTimes::Add(const ClassTimes& other) {
  for (size_t c = 0; c < kClassCombinations; ++c) SaturatingAdd(&ns[c], other.ns[c]);
}

ClassSweep::ClassSweep(std::vector<Interval> windows)
    : windows_(std::move(windows)), times_(windows_.size()) {}

void ClassSweep::Add(unsigned bit, int64_t start_ns, int64_t end_ns) {
  if (!any_) {
    any_ = true;
    now_ns_ = start_ns;
    end_ns_.fill(start_ns);
  }
  MoveTo(start_ns);
  int64_t& end = end_ns_[static_cast<size_t>(std::countr_zero(bit))];
  end = std::max(end, end_ns);
}

void ClassSweep::MoveTo(int64_t time_ns) {
  while (now_ns_ < time_ns) {
    unsigned running = 0;
    int64_t next_ns = time_ns;
    for (size_t i = 0; i < kClasses; ++i) {
      if (end_ns_[i] <= now_ns_) continue;
      running |= 1U << i;
      next_ns = std::min(next_ns, end_ns_[i]);
    }
    Count(running, {now_ns_, next_ns});
    now_ns_ = next_ns;
  }
}

void ClassSweep::Count(unsigned running, Interval moments) {
  const auto add = [&](size_t place, int64_t start_ns, int64_t end_ns) {
    SaturatingAdd(&times_[place].ns[running], SaturatingDifference(end_ns, start_ns));
  };
  if (windows_.empty()) {
    if (!times_.empty()) add(0, moments.start_ns, moments.end_ns);
    return;
  }
  while (window_ < windows_.size() && windows_[window_].end_ns <= moments.start_ns) ++window_;
  for (size_t i = window_; i < windows_.size() && windows_[i].start_ns < moments.end_ns; ++i) {
    const int64_t start_ns = std::max(windows_[i].start_ns, moments.start_ns);
    const int64_t end_ns = std::min(windows_[i].end_ns, moments.end_ns);
    if (start_ns < end_ns) add(i, start_ns, end_ns);
  }
}

std::vector<ClassTimes> ClassSweep::Finish() {
  if (any_) MoveTo(*std::max_element(end_ns_.begin(), end_ns_.end()));
  for (size_t i = 0; i < windows_.size(); ++i) {
    const int64_t length = SaturatingDifference(windows_[i].end_ns, windows_[i].start_ns);
    times_[i].ns[0] = std::max(length - times_[i].AnyOf(kClassCombinations - 1), int64_t{0});
  }
  return std::move(times_);
}

std::vector<Interval> WindowsOf(const Steps& steps) {
  std::vector<Interval> windows;
  for (const Step& step : steps.all()) {
    Interval window = step.span;
    if (!windows.empty()) window.start_ns = std::max(window.start_ns, windows.back().end_ns);
    window.end_ns = std::max(window.end_ns, window.start_ns);
    windows.push_back(window);
  }
  return windows;
}

std::vector<Interval> WindowsOf(const Run& run) {
  const auto selected = run.windows();
  if (!selected) return {run.window()};
  std::vector<Interval> windows;
  for (Interval window : *selected) {
    if (!windows.empty()) window.start_ns = std::max(window.start_ns, windows.back().end_ns);
    window.end_ns = std::max(window.end_ns, window.start_ns);
    windows.push_back(window);
  }
  return windows;
}

}  // namespace oplens::prof
