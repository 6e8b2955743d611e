#ifndef OPLENS_PROF_COMPAT_TORCH_TABLE_H_
#define OPLENS_PROF_COMPAT_TORCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "prof/views/calls/event_sums.h"

namespace oplens::prof {

// Versions of PyTorch by whose rules a table is made.
inline constexpr uint32_t kTorch113 = 113;
inline constexpr uint32_t kTorch213 = 213;

/// Words of --sort: attributes of a row. Those of 2.13 may call the device cuda, device, xpu or
/// privateuse1.
std::span<const std::string_view> TorchSortWords();
std::span<const std::string_view> Torch113SortWords();
std::span<const std::string_view> TorchLegacySortWords();
/// The value that a word sorts by; 0 for an unknown word.
double TorchSortValue(const EventRow& row, std::string_view word);

struct TorchTableOptions {
  bool memory = false;        ///< With columns of memory: profile_memory.
  size_t row_limit = 100;     ///< Maximum number of printed rows.
  std::string_view header{};  ///< Line above the table; "": none.
  uint32_t version = kTorch113;
  std::string_view device = "CUDA";  ///< As titles name it.
};

/// The text of `EventList.table()` of PyTorch 1.13 or 2.13 (torch/autograd/profiler_util.py) for
/// sorted rows, byte for byte; "" without rows. Control characters in names become '_'.
///
///  - Columns are 12 wide; names as wide as the longest plus 4, at most 55; shapes at most 80; call
///    stacks at most 75. All but the last are right-justified.
///  - Percentages are of the sum of self times, on the device of the device rows that are no label.
///  - Columns of the device are present if a row has self time on it, those of its memory if a row
///    increases it.
///  - Five frames of a stack are printed, and an empty line after each row.
///  - Bytes are "b", "Kb", .. in 1.13, "B", "KB", .. in 2.13.
std::string TorchTable(std::span<const EventRow> rows, const TorchTableOptions& options);

/// The text of `EventList.table()` of PyTorch 1.0, in true microseconds.
std::string TorchLegacyTable(std::span<const EventRow> rows, std::string_view header);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TORCH_TABLE_H_
