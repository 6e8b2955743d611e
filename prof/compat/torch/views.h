#ifndef OPLENS_PROF_COMPAT_TORCH_VIEWS_H_
#define OPLENS_PROF_COMPAT_TORCH_VIEWS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "prof/views/calls/event_sums.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// Words of --sort: attributes of a row.
std::span<const std::string_view> TorchSortWords();
std::span<const std::string_view> TorchLegacySortWords();
/// The value that a word sorts by; 0 for an unknown word.
double TorchSortValue(const EventRow& row, std::string_view word);

struct TorchTableOptions {
  bool memory = false;        ///< With columns of memory: profile_memory.
  size_t row_limit = 100;     ///< Maximum number of printed rows.
  std::string_view header{};  ///< Line above the table; "": none.
};

/// The text of `EventList.table()` of PyTorch 1.13 (torch/autograd/profiler_util.py) for sorted
/// rows, byte for byte; "" without rows. Control characters in names become '_'.
///
///  - Columns are 12 wide; names as wide as the longest plus 4, at most 55; shapes at most 80; call
///    stacks at most 75. All but the last are right-justified.
///  - Percentages are of the sum of self times, on the device of the device rows.
///  - "CUDA" columns are present if a row has self time on the device, those of its memory if a row
///    increases it.
///  - Five frames of a stack are printed, and an empty line after each row.
std::string TorchTable(std::span<const EventRow> rows, const TorchTableOptions& options);

/// The text of `EventList.table()` of PyTorch 1.0, in true microseconds.
std::string TorchLegacyTable(std::span<const EventRow> rows, std::string_view header);

// Views by the rules of PyTorch's profilers: documents in PyTorch's words.

/// The table of key_averages() of torch.profiler, PyTorch 1.13. `by` takes shape, stack and rank;
/// other words throw UsageError.
std::unique_ptr<Partial> MakeTorchEvents(const ViewOptions& options);

/// The table of torch.autograd.profiler of PyTorch 1.0, calls only. `by` takes rank, call and
/// total; other words throw UsageError.
std::unique_ptr<Partial> MakeTorchLegacyEvents(const ViewOptions& options);

/// The lines of export_stacks. `by` as in our view stacks.
std::unique_ptr<Partial> MakeTorchStacks(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TORCH_VIEWS_H_
