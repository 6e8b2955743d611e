#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_PRICE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_PRICE_H_

#include <string_view>
#include <vector>

#include "nvtx_annotate/torch/pyprof_value.h"

// Which calls PyProf's own prof prices. At a call whose name it knows and whose arguments it does
// not expect it aborts; one whose name it does not know it shows with its shapes. No header of
// PyTorch in here.

namespace oplens::annotate::torch {

/// Whether prof has a price for calls of a function, and so demands on them.
bool PyprofPrices(std::string_view mod, std::string_view op);

/// Whether it takes these arguments of such a call. `backward`: for a kernel of the backward pass
/// too. It does not know bfloat16.
bool PyprofTakes(std::string_view mod, std::string_view op, const std::vector<PyprofArg>& args,
                 bool backward);

/// The name under which prof prices the same work in both directions; the op's own where it does,
/// or where there is no such name.
std::string_view PyprofNameInBackward(std::string_view op);

/// A comparison, or an operator of bits: has no gradient.
bool PyprofIsComparison(std::string_view op);

/// Whether shapes can be broadcast to one.
bool PyprofBroadcasts(const std::vector<std::vector<int64_t>>& shapes);

/// Whether a list of words with blanks in between holds a word.
bool HasPyprofWord(std::string_view words, std::string_view word);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_PRICE_H_
