#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_PRICE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_PRICE_H_

#include <string_view>
#include <vector>

#include "nvtx_annotate/torch/pyprof_value.h"

// Which calls PyProf's own prof prices. It aborts at calls with a known name and unexpected
// arguments, and shows calls with unknown names with their shapes. Independent of PyTorch's
// headers.

namespace oplens::annotate::torch {

/// Whether prof prices calls of a function, and so has requirements for them.
bool PyprofPrices(std::string_view mod, std::string_view op);

/// Whether prof accepts these arguments of such a call; `backward`: also for backward kernels. It
/// does not know bfloat16.
bool PyprofTakes(std::string_view mod, std::string_view op, const std::vector<PyprofArg>& args,
                 bool backward);

/// The name under which prof prices the same work in both directions; `op` if it does so itself or
/// there is no such name.
std::string_view PyprofNameInBackward(std::string_view op);

/// A comparison or bitwise operator: has no gradient.
bool PyprofIsComparison(std::string_view op);

/// Whether the shapes can be broadcast together.
bool PyprofBroadcasts(const std::vector<std::vector<int64_t>>& shapes);

/// Whether a blank-separated list contains a word.
bool HasPyprofWord(std::string_view words, std::string_view word);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_PRICE_H_
