#ifndef OPLENS_OPS_GPU_MATRIX_CORES_H_
#define OPLENS_OPS_GPU_MATRIX_CORES_H_

#include <string_view>

namespace oplens::ops {

/// Whether a kernel's name says that it multiplies on AMD's matrix cores: Tensile's names hold the
/// shape of the matrix instruction ("Cijk_..._MT128x128x32_MI32x32x8x1_..."), Composable Kernel's
/// "xdl" (its word for these instructions), others "mfma", the instruction itself.
bool NamesMatrixCores(std::string_view long_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_MATRIX_CORES_H_
