#ifndef OPLENS_OPLENS_KERNEL_TIMES_H_
#define OPLENS_OPLENS_KERNEL_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "oplens/screen.h"
#include "prof/table/sink.h"

namespace oplens::screen {

/// A name with its numbers folded: "TimesformerLayer_12" is "TimesformerLayer_*", "block.3.mlp"
/// "block.*.mlp". Digits within words stay: "Conv2d_1" is "Conv2d_*".
std::string FoldNumbers(std::string_view name);

/// Times of kernels that have something in common, of rows of the view `kernels`.
struct TimesOf {
  static constexpr size_t kBounds = 3;  ///< math, dram, latency

  int64_t kernels = 0;
  int64_t total_ns = 0;
  int64_t communication_ns = 0;  ///< Of a layer: of its collectives, which are in nothing else.
  double flops = 0;
  int64_t flops_ns = 0;  ///< Of the kernels whose FLOPs are known.
  double bytes = 0;
  int64_t bytes_ns = 0;
  int64_t tc_ns = 0;
  int64_t tc_known_ns = 0;
  std::array<int64_t, kBounds> bound_ns{};
  double roof_ns = 0;  ///< Time x share of the nearer roof.

  /// The roof that most of the time is nearest to; "mixed" where none has four fifths of that of
  /// which it is known, "" where it is known of less than half.
  std::string_view Bound() const;
  /// Percent of the nearer roof, by time, over the kernels whose roofs are known; nullopt where
  /// Bound() is "".
  std::optional<double> RoofPct() const;
  /// As the figures of prof --by; nullopt where they are known of less than half of the time.
  std::optional<double> Tflops() const;
  std::optional<double> Gbps() const;
  std::optional<double> TensorCorePct() const;
};

/// Sums the rows of the view `kernels`, which it takes one by one, by op, by kernel and by layer.
class KernelTimes : public prof::Sink {
 public:
  void Begin(std::string_view table, std::vector<prof::Field> fields) override;
  void Row(std::span<const prof::Cell> cells) override;

  /// The fields of the view that it reads.
  static std::string_view Columns() {
    return "op,kernel,layer,sil,tc,tc_elig,flops,bytes,pct_math,pct_dram,bound,family";
  }

  const TimesOf* OfOp(std::string_view op) const { return Find(ops_, op); }
  const TimesOf* OfKernel(std::string_view kernel) const { return Find(kernels_, kernel); }
  /// The op that most of a kernel's time is for; "" where it is none.
  std::string MainOpOf(std::string_view kernel) const;
  /// Layers by their innermost name, numbers folded, largest first: at most `most`. Kernels in no
  /// layer are in none; empty where no kernel is in one. Collectives are no layer's work: those of
  /// a layer stand beside it, and all together in a row of their own. `whole_ns`: what shares are
  /// of.
  Costs Layers(size_t most, double whole_ns) const;
  int64_t kernels() const { return kernel_count_; }
  int64_t total_ns() const { return total_ns_; }
  /// Of the kernels whose op, whose FLOPs are known.
  int64_t op_known_ns() const { return op_known_ns_; }
  int64_t flops_known_ns() const { return flops_known_ns_; }
  /// Time of the products that could run on Tensor Cores, and do not.
  int64_t missed_tc_ns() const { return missed_tc_ns_; }
  /// Of how much of the time it is known whether it could.
  int64_t tc_judged_ns() const { return tc_judged_ns_; }

 private:
  static const TimesOf* Find(const TextMap<TimesOf>& map, std::string_view key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }

  TextMap<TimesOf> ops_;
  TextMap<TimesOf> kernels_;
  TextMap<TimesOf> layers_;                   // By path, names joined by '\n'.
  TextMap<TextMap<int64_t>> ops_of_kernels_;  // Time by kernel and op.
  TimesOf collectives_;
  std::string path_;
  int64_t kernel_count_ = 0;
  int64_t total_ns_ = 0;
  int64_t op_known_ns_ = 0;
  int64_t flops_known_ns_ = 0;
  int64_t missed_tc_ns_ = 0;
  int64_t tc_judged_ns_ = 0;
};

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_KERNEL_TIMES_H_
