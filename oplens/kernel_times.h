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

/// Replaces numbers in a name: "TimesformerLayer_12" becomes "TimesformerLayer_*", "block.3.mlp"
/// "block.*.mlp". Digits inside words stay: "Conv2d_1" becomes "Conv2d_*".
std::string FoldNumbers(std::string_view name);

/// The sums of `prof --by` over a group of kernels, and how close they come to their roofs.
struct RoofTimes {
  static constexpr size_t kBounds = 3;  ///< math, dram, latency

  prof::GroupSums sums;
  int64_t communication_ns = 0;  ///< For a layer: its collectives, which no other sum includes.
  std::array<int64_t, kBounds> bound_ns{};
  double roof_ns = 0;  ///< Sum of time * share of the nearer roof.

  void Add(const prof::PricedKernel& kernel);
  void Add(const RoofTimes& more);

  /// The roof that limits at least four fifths of the time for which it is known, otherwise
  /// "mixed"; "" if it is known for less than half of the time.
  std::string_view Bound() const;
  /// Time-weighted percent of the nearer roof, over kernels with known roofs; nullopt if Bound() is
  /// "".
  std::optional<double> RoofPct() const;
};

/// Sums kernels by op, kernel name and layer.
class KernelTimes {
 public:
  void Add(const prof::PricedKernel& kernel);

  const RoofTimes* OfOp(std::string_view op) const { return Find(ops_, op); }
  const RoofTimes* OfKernel(std::string_view kernel) const { return Find(kernels_, kernel); }
  /// The op with most of a kernel's time; "" for none.
  std::string MainOpOf(std::string_view kernel) const;
  /// Layers by innermost name with numbers replaced, largest first, at most `most`; empty if no
  /// kernel is in a layer. Kernels outside layers are left out. Collectives are not a layer's work:
  /// each layer has its own in a separate field, and all of them form a separate row. `whole_ns`:
  /// 100 % for the shares.
  Costs Layers(size_t most, double whole_ns) const;
  const prof::GroupSums& all() const { return all_; }
  /// Time of kernels with a known op.
  int64_t op_known_ns() const { return op_known_ns_; }
  /// Time of matrix products that could use Tensor Cores but do not.
  int64_t missed_tc_ns() const { return missed_tc_ns_; }
  /// Time of kernels for which that is known.
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

/// Whether to show a rate, given the share of time for which it is known: from half on; below that
/// it would mislead.
inline bool ShowsRate(std::optional<double> known_pct) { return known_pct.value_or(0) >= 50; }

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_KERNEL_TIMES_H_
