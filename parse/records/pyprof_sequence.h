#ifndef OPLENS_PARSE_RECORDS_PYPROF_SEQUENCE_H_
#define OPLENS_PARSE_RECORDS_PYPROF_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace oplens::parse {

class Joined;
struct Surroundings;

/// The sequence number of each kernel as PyProf chooses it among those around its launch, and which
/// kernel of one number and op in a row it is. PyProf carries its state from one kernel to the
/// next; here it is kept by thread and follows the order of launches, so that neither the order of
/// rows nor other threads matter. Rules: docs/correlation.md, "Sequence ids, direction, op". 8
/// bytes a kernel.
class PyProfSequence {
 public:
  explicit PyProfSequence(const Joined& joined);

  /// Fills `numbers` with those around a call, ascending, each once; 0 beside others is dropped.
  static void NumbersOf(const Joined& joined, const Surroundings& around,
                        std::vector<int64_t>* numbers);

  /// Which of the numbers around its launch is the kernel's; nullopt: none.
  std::optional<size_t> ChosenOf(size_t kernel) const {
    const uint32_t chosen = kernels_[kernel].chosen;
    return chosen == kNone ? std::nullopt : std::optional<size_t>(chosen);
  }
  uint32_t SubSequenceOf(size_t kernel) const { return kernels_[kernel].sub_sequence; }

 private:
  class Follower;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct OfKernel {
    uint32_t chosen = kNone;
    uint32_t sub_sequence = 0;
  };

  std::vector<OfKernel> kernels_;  // In output order.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_RECORDS_PYPROF_SEQUENCE_H_
