#ifndef OPLENS_PROF_VIEWS_TORCH_TABLE_H_
#define OPLENS_PROF_VIEWS_TORCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::prof {

/// One row of a table of PyTorch's profilers: events that are alike.
struct TorchEventRow {
  std::string_view name;
  bool device = false;  ///< Of what a GPU did, else of calls.
  int64_t calls = 0;
  int64_t host_self_ns = 0;
  int64_t host_total_ns = 0;
  int64_t device_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t host_bytes = 0;
  int64_t host_self_bytes = 0;
  int64_t device_bytes = 0;
  int64_t device_self_bytes = 0;
  std::string_view shapes = {};              ///< "[[2, 3], []]"; "": not asked for.
  std::vector<std::string_view> stack = {};  ///< Innermost frame first.
};

/// Words by which the tables can be sorted: attributes of a row.
std::span<const std::string_view> TorchSortWords();
std::span<const std::string_view> TorchLegacySortWords();
/// What a row is sorted by; 0 for an unknown word.
double TorchSortValue(const TorchEventRow& row, std::string_view word);

struct TorchTableOptions {
  bool memory = false;        ///< With columns of memory: profile_memory.
  size_t row_limit = 100;     ///< Rows that are printed.
  std::string_view header{};  ///< A line above the table; "": none.
};

/// The text of `EventList.table()` of PyTorch 1.13 (torch/autograd/profiler_util.py) for rows in
/// their order, byte for byte; "" without rows. Control characters of names are '_'.
///
///  - columns are 12 wide, that of names as wide as the longest and 4 more, at most 55, that of
///    shapes at most 80, that of call stacks at most 75; all but the last are right-justified;
///  - percentages are of the sum of self times, on the device of the rows of the device;
///  - "CUDA" columns are there when a row has time of its own on the device, those of its memory
///    when a row holds more of it after than before;
///  - of a stack five frames are printed, and an empty line after each row.
std::string TorchTable(std::span<const TorchEventRow> rows, const TorchTableOptions& options);

/// The text of `EventList.table()` of PyTorch 1.0, in true microseconds.
std::string TorchLegacyTable(std::span<const TorchEventRow> rows, std::string_view header);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TORCH_TABLE_H_
