#ifndef OPLENS_PROF_COMPAT_TORCH_VIEWS_H_
#define OPLENS_PROF_COMPAT_TORCH_VIEWS_H_

#include <cstdint>
#include <memory>

#include "prof/compat/torch/table.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

// Views by the rules of PyTorch's profilers: documents in PyTorch's words. `version` is kTorch113
// or kTorch213; 0 is that of each run: 1.13 for files of PyTorch's profiler without anything that
// PyTorch writes since 2.x, else 2.13.

/// The table of key_averages() of torch.profiler. `by` takes shape, stack and rank, and overload
/// unless of 1.13; other words throw UsageError. Of 2.13 the rows are PyTorch's events where the
/// run has Trace::torch_functions, else calls and device events, as in 1.13.
template <uint32_t version>
std::unique_ptr<Partial> MakeTorchEvents(const ViewOptions& options);

/// The table of torch.autograd.profiler of PyTorch 1.0, calls only. `by` takes rank, call and
/// total; other words throw UsageError.
std::unique_ptr<Partial> MakeTorchLegacyEvents(const ViewOptions& options);

/// The lines of export_stacks. `by` as in our view stacks.
template <uint32_t version>
std::unique_ptr<Partial> MakeTorchStacks(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TORCH_VIEWS_H_
