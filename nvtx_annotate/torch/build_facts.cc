#include <torch/version.h>

#include "nvtx_annotate/torch/torch_annotate.h"

// What the library was built for. Must be known before loading it, because a library for another
// PyTorch may load that PyTorch too: so the Python package and the preload library read the text
// below from the file.

#define OPLENS_TEXT_OF(number) #number
#define OPLENS_TEXT(number) OPLENS_TEXT_OF(number)

extern "C" {

const char* oplens_torch_version(void) { return TORCH_VERSION; }

OPLENS_TORCH_EXPORT extern const char oplens_torch_build[];
const char oplens_torch_build[] =
    "oplens_torch build: torch " TORCH_VERSION " soname " OPLENS_TORCH_SONAME
    " abi " OPLENS_TEXT(_GLIBCXX_USE_CXX11_ABI) " end";

}  // extern "C"
