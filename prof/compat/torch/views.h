#ifndef OPLENS_PROF_COMPAT_TORCH_VIEWS_H_
#define OPLENS_PROF_COMPAT_TORCH_VIEWS_H_

#include <memory>

#include "prof/views/view.h"

namespace oplens::prof {

// Views by the rules of PyTorch's profilers. All are documents, in the words of PyTorch.

/// The table of key_averages() of torch.profiler, PyTorch 1.13 (prof/compat/torch/table.h). `by`
/// takes shape, stack and rank; UsageError for other words.
std::unique_ptr<Partial> MakeTorchEvents(const ViewOptions& options);

/// The table of torch.autograd.profiler of PyTorch 1.0, of calls alone. `by` takes rank, call and
/// total; UsageError for other words.
std::unique_ptr<Partial> MakeTorchLegacyEvents(const ViewOptions& options);

/// The lines of export_stacks. `by` as our view stacks.
std::unique_ptr<Partial> MakeTorchStacks(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TORCH_VIEWS_H_
