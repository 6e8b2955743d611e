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
  if (end_ns > start_ns && blocks > 0) kernels_.push_back({start_ns, end_ns, blocks});
}

double SmEfficiency::Finish() {
  if (kernels_.empty()) return 0;
  const auto by_start = [](const Kernel& a, const Kernel& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(kernels_.begin(), kernels_.end(), by_start)) {
    std::stable_sort(kernels_.begin(), kernels_.end(), by_start);
  }
  now_ns_ = kernels_.front().start_ns;
  for (const Kernel& kernel : kernels_) {
    RunUntil(kernel.start_ns);
    running_.emplace_back(kernel.end_ns, kernel.blocks);
    std::push_heap(running_.begin(), running_.end(), std::greater<>());
    blocks_ += kernel.blocks;
  }
  RunUntil(INT64_MAX);
  return integral_ns_;
}

}  // namespace oplens::prof
