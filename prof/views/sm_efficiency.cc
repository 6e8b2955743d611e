#include "prof/views/sm_efficiency.h"

#include <algorithm>
#include <functional>

namespace oplens::prof {

void SmEfficiency::RunUntil(int64_t time_ns) {
  const auto advance = [&](int64_t to_ns) {
    const double length_ns = static_cast<double>(to_ns) - static_cast<double>(now_ns_);
    // Differences of large times are exact below 2^53 ns only.
    int64_t exact_ns = 0;
    const bool fits = !__builtin_sub_overflow(to_ns, now_ns_, &exact_ns);
    integral_ns_ += std::min(blocks_, 1.0) * (fits ? static_cast<double>(exact_ns) : length_ns);
    now_ns_ = to_ns;
  };
  while (!running_.empty() && running_.front().first <= time_ns) {
    advance(running_.front().first);
    blocks_ -= running_.front().second;
    std::pop_heap(running_.begin(), running_.end(), std::greater<>());
    running_.pop_back();
    if (running_.empty()) blocks_ = 0;  // What rounding left.
  }
  if (!running_.empty()) advance(time_ns);
  now_ns_ = time_ns;
}

void SmEfficiency::Add(int64_t start_ns, int64_t end_ns, double blocks) {
  if (end_ns <= start_ns || blocks <= 0) return;
  if (!any_) now_ns_ = start_ns;
  any_ = true;
  RunUntil(std::max(start_ns, now_ns_));
  running_.emplace_back(end_ns, blocks);
  std::push_heap(running_.begin(), running_.end(), std::greater<>());
  blocks_ += blocks;
}

double SmEfficiency::Finish() {
  RunUntil(INT64_MAX);
  return integral_ns_;
}

}  // namespace oplens::prof
