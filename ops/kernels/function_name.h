#ifndef OPLENS_OPS_KERNELS_FUNCTION_NAME_H_
#define OPLENS_OPS_KERNELS_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace oplens::ops {

/// The function of a kernel's full name with its namespaces, without type, template arguments and
/// parameters: "void a::(anonymous namespace)::b<int>(int*)" is "a::_::b". A mangled name that
/// cannot be demangled gives the names that stand in it.
std::string FunctionOf(std::string_view kernel_name);

/// A name as words of small letters with '_' between them and at both ends, whatever its spelling:
/// "ns::LayerNormForwardCUDAKernel" is "_ns_layer_norm_forward_cuda_kernel_".
std::string AsWords(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_FUNCTION_NAME_H_
