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

/// Words by which the tables can be sorted: attributes of a row.
std::span<const std::string_view> TorchSortWords();
std::span<const std::string_view> TorchLegacySortWords();
/// What a row is sorted by; 0 for an unknown word.
double TorchSortValue(const EventRow& row, std::string_view word);

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
std::string TorchTable(std::span<const EventRow> rows, const TorchTableOptions& options);

/// The text of `EventList.table()` of PyTorch 1.0, in true microseconds.
std::string TorchLegacyTable(std::span<const EventRow> rows, std::string_view header);

// Views by the rules of PyTorch's profilers. All are documents, in the words of PyTorch.

/// The table of key_averages() of torch.profiler, PyTorch 1.13. `by`
/// takes shape, stack and rank; UsageError for other words.
std::unique_ptr<Partial> MakeTorchEvents(const ViewOptions& options);

/// The table of torch.autograd.profiler of PyTorch 1.0, of calls alone. `by` takes rank, call and
/// total; UsageError for other words.
std::unique_ptr<Partial> MakeTorchLegacyEvents(const ViewOptions& options);

/// The lines of export_stacks. `by` as our view stacks.
std::unique_ptr<Partial> MakeTorchStacks(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TORCH_VIEWS_H_
