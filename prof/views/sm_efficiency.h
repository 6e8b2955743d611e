#ifndef OPLENS_PROF_VIEWS_SM_EFFICIENCY_H_
#define OPLENS_PROF_VIEWS_SM_EFFICIENCY_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace oplens::prof {

/// How much of a GPU's multiprocessors had a block, over time: at each moment the blocks per
/// multiprocessor of all kernels that run, at most 1.
class SmEfficiency {
 public:
  /// A kernel; `blocks` per multiprocessor, above 0. 24 bytes each.
  void Add(int64_t start_ns, int64_t end_ns, double blocks);
  /// The integral, ns, of all that was added. O(n log n); O(n) in the order of the starts as long
  /// as few run at once.
  double Finish();
  bool any() const { return !kernels_.empty(); }

 private:
  struct Kernel {
    int64_t start_ns;
    int64_t end_ns;
    double blocks;
  };
  using Running = std::pair<int64_t, double>;  // Until when, blocks.

  void RunUntil(int64_t time_ns);

  std::vector<Kernel> kernels_;
  std::vector<Running> running_;  // A heap: the first to end is its top.
  double blocks_ = 0;
  double integral_ns_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_SM_EFFICIENCY_H_
