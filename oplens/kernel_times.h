#ifndef OPLENS_OPLENS_KERNEL_TIMES_H_
#define OPLENS_OPLENS_KERNEL_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "oplens/screen.h"
#include "prof/views/kernels/summary_columns.h"

namespace oplens::screen {

/// A name with its numbers folded: "TimesformerLayer_12" is "TimesformerLayer_*", "block.3.mlp"
/// "block.*.mlp". Digits within words stay: "Conv2d_1" is "Conv2d_*".
std::string FoldNumbers(std::string_view name);

/// The sums of `prof --by` over kernels that have something in common, and how near they are to
/// their roofs.
struct RoofTimes {
  static constexpr size_t kBounds = 3;  ///< math, dram, latency

  prof::GroupSums sums;
  int64_t communication_ns = 0;  ///< Of a layer: of its collectives, which are in nothing else.
  std::array<int64_t, kBounds> bound_ns{};
  double roof_ns = 0;  ///< Time x share of the nearer roof.

  void Add(const prof::PricedKernel& kernel);
  void Add(const RoofTimes& more);

  /// The roof that most of the time is nearest to; "mixed" where none has four fifths of that of
  /// which it is known, "" where it is known of less than half.
  std::string_view Bound() const;
  /// Percent of the nearer roof, by time, over the kernels whose roofs are known; nullopt where
  /// Bound() is "".
  std::optional<double> RoofPct() const;
};

/// Sums kernels by op, by kernel and by layer.
class KernelTimes {
 public:
  void Add(const prof::PricedKernel& kernel);

  const RoofTimes* OfOp(std::string_view op) const { return Find(ops_, op); }
  const RoofTimes* OfKernel(std::string_view kernel) const { return Find(kernels_, kernel); }
  /// The op that most of a kernel's time is for; "" where it is none.
  std::string MainOpOf(std::string_view kernel) const;
  /// Layers by their innermost name, numbers folded, largest first: at most `most`. Kernels in no
  /// layer are in none; empty where no kernel is in one. Collectives are no layer's work: those of
  /// a layer stand beside it, and all together in a row of their own. `whole_ns`: what shares are
  /// of.
  Costs Layers(size_t most, double whole_ns) const;
  /// Of all kernels.
  const prof::GroupSums& all() const { return all_; }
  /// Of the kernels whose op is known.
  int64_t op_known_ns() const { return op_known_ns_; }
  /// Time of the products that could run on Tensor Cores, and do not.
  int64_t missed_tc_ns() const { return missed_tc_ns_; }
  /// Of how much of the time it is known whether it could.
  int64_t tc_judged_ns() const { return tc_judged_ns_; }

 private:
  static const RoofTimes* Find(const TextMap<RoofTimes>& map, std::string_view key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }

  TextMap<RoofTimes> ops_;
  TextMap<RoofTimes> kernels_;
  TextMap<RoofTimes> layers_;                 // By path, names joined by '\n'.
  TextMap<TextMap<int64_t>> ops_of_kernels_;  // Time by kernel and op.
  RoofTimes collectives_;
  prof::GroupSums all_;
  std::string path_;
  int64_t op_known_ns_ = 0;
  int64_t missed_tc_ns_ = 0;
  int64_t tc_judged_ns_ = 0;
};

/// Whether a rate is shown of what is known of a share of the time: of little it would be that of
/// something else.
inline bool ShowsRate(std::optional<double> known_pct) { return known_pct.value_or(0) >= 50; }

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_KERNEL_TIMES_H_
