#ifndef OPLENS_PARSE_COUNTERS_COUNTER_TABLE_H_
#define OPLENS_PARSE_COUNTERS_COUNTER_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/dim3.h"
#include "parse/model/kernel_counters.h"

namespace oplens::parse {

inline constexpr Dim3 kUnknownExtent{-1, -1, -1};

/// A kernel that a profiler ran alone to count. Unknown: "", kUnknownExtent, nullopt.
struct CountedKernel {
  std::string name;  ///< As the file spells it.
  Dim3 grid = kUnknownExtent;
  Dim3 block = kUnknownExtent;
  std::optional<int64_t> blocks;   ///< Of the grid, where its extents are not known.
  std::optional<int64_t> threads;  ///< Of a block, likewise.
  std::optional<int64_t> device;
  KernelCounters counters;
};

/// What a file says of kernels, in the order of their launches.
struct CounterTable {
  std::vector<CountedKernel> kernels;
  bool rounded = false;  ///< Figures were written with scaled units (Mbyte): to a few digits.
};

/// Whether a file begins, possibly behind what a program printed, as an export of Nsight Compute:
/// `ncu --csv`.
bool LooksLikeCounters(std::string_view head);

/// Reads the text of `ncu --csv`, of any page, or a trace of PyTorch's profiler with counters
/// (docs/formats.md, "Hardware counters"). Lines that are no rows of a table are skipped: ncu
/// prints them among what the program prints. Throws Error, with line and column, for a damaged
/// table, and for a file without one.
CounterTable ParseCounters(std::string_view text, std::string_view path);

/// ParseCounters() of a file, which may be packed.
CounterTable ReadCounters(const std::string& path);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_COUNTER_TABLE_H_
