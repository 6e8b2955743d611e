#ifndef OPLENS_OPS_KERNELS_FUNCTION_NAME_H_
#define OPLENS_OPS_KERNELS_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace oplens::ops {

/// The kernel's function with namespaces, without return type, template arguments and parameters:
/// "void a::(anonymous namespace)::b<int>(int*)" -> "a::_::b". If a mangled name cannot be
/// demangled, the identifiers in it.
std::string FunctionOf(std::string_view kernel_name);

/// A name of any spelling as lower-case words, with '_' between them and at both ends:
/// "ns::LayerNormForwardCUDAKernel" -> "_ns_layer_norm_forward_cuda_kernel_".
std::string AsWords(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_FUNCTION_NAME_H_
