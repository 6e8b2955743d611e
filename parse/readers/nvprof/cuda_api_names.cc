#include "parse/readers/nvprof/cuda_api_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace oplens::parse {
namespace {

struct ApiName {
  int id;
  std::string_view name;
};

// Callback ids of CUDA 13.0 (cupti_runtime_cbid.h, cupti_driver_cbid.h); ids are never reused. Only
// calls that launch, copy, fill or wait; per-thread-stream variants share the plain name. Sorted.
// clang-format off
constexpr ApiName kRuntimeNames[] = {
    {13, "cudaLaunch"}, {31, "cudaMemcpy"}, {32, "cudaMemcpy2D"}, {33, "cudaMemcpyToArray"},
    {34, "cudaMemcpy2DToArray"}, {35, "cudaMemcpyFromArray"}, {36, "cudaMemcpy2DFromArray"},
    {37, "cudaMemcpyArrayToArray"}, {38, "cudaMemcpy2DArrayToArray"}, {39, "cudaMemcpyToSymbol"},
    {40, "cudaMemcpyFromSymbol"}, {41, "cudaMemcpyAsync"}, {42, "cudaMemcpyToArrayAsync"},
    {43, "cudaMemcpyFromArrayAsync"}, {44, "cudaMemcpy2DAsync"}, {45, "cudaMemcpy2DToArrayAsync"},
    {46, "cudaMemcpy2DFromArrayAsync"}, {47, "cudaMemcpyToSymbolAsync"},
    {48, "cudaMemcpyFromSymbolAsync"}, {49, "cudaMemset"}, {50, "cudaMemset2D"},
    {51, "cudaMemsetAsync"}, {52, "cudaMemset2DAsync"}, {126, "cudaThreadSynchronize"},
    {131, "cudaStreamSynchronize"}, {137, "cudaEventSynchronize"}, {142, "cudaMemset3D"},
    {143, "cudaMemset3DAsync"}, {144, "cudaMemcpy3D"}, {145, "cudaMemcpy3DAsync"},
    {147, "cudaStreamWaitEvent"}, {160, "cudaMemcpyPeer"}, {161, "cudaMemcpyPeerAsync"},
    {162, "cudaMemcpy3DPeer"}, {163, "cudaMemcpy3DPeerAsync"}, {165, "cudaDeviceSynchronize"},
    {211, "cudaLaunchKernel"}, {213, "cudaLaunch"}, {214, "cudaLaunchKernel"}, {215, "cudaMemcpy"},
    {216, "cudaMemcpy2D"}, {217, "cudaMemcpyToArray"}, {218, "cudaMemcpy2DToArray"},
    {219, "cudaMemcpyFromArray"}, {220, "cudaMemcpy2DFromArray"}, {221, "cudaMemcpyArrayToArray"},
    {222, "cudaMemcpy2DArrayToArray"}, {223, "cudaMemcpyToSymbol"}, {224, "cudaMemcpyFromSymbol"},
    {225, "cudaMemcpyAsync"}, {226, "cudaMemcpyToArrayAsync"}, {227, "cudaMemcpyFromArrayAsync"},
    {228, "cudaMemcpy2DAsync"}, {229, "cudaMemcpy2DToArrayAsync"},
    {230, "cudaMemcpy2DFromArrayAsync"}, {231, "cudaMemcpyToSymbolAsync"},
    {232, "cudaMemcpyFromSymbolAsync"}, {233, "cudaMemset"}, {234, "cudaMemset2D"},
    {235, "cudaMemsetAsync"}, {236, "cudaMemset2DAsync"}, {239, "cudaStreamSynchronize"},
    {243, "cudaMemset3D"}, {244, "cudaMemset3DAsync"}, {245, "cudaMemcpy3D"},
    {246, "cudaMemcpy3DAsync"}, {247, "cudaStreamWaitEvent"}, {249, "cudaMemcpy3DPeer"},
    {250, "cudaMemcpy3DPeerAsync"}, {269, "cudaLaunchCooperativeKernel"},
    {270, "cudaLaunchCooperativeKernel"}, {272, "cudaLaunchCooperativeKernelMultiDevice"},
    {311, "cudaGraphLaunch"}, {312, "cudaGraphLaunch"}, {430, "cudaLaunchKernelExC"},
    {431, "cudaLaunchKernelExC"}, {482, "cudaMemcpyBatchAsync"}, {483, "cudaMemcpyBatchAsync"},
    {484, "cudaMemcpy3DBatchAsync"}, {485, "cudaMemcpy3DBatchAsync"}, {505, "__cudaLaunchKernel"},
    {506, "__cudaLaunchKernel"}, {509, "cudaMemcpyBatchAsync"}, {510, "cudaMemcpyBatchAsync"},
    {511, "cudaMemcpy3DBatchAsync"}, {512, "cudaMemcpy3DBatchAsync"},
};

constexpr ApiName kDriverNames[] = {
    {17, "cuCtxSynchronize"}, {43, "cuMemcpyHtoD"}, {44, "cu64MemcpyHtoD"}, {45, "cuMemcpyDtoH"},
    {46, "cu64MemcpyDtoH"}, {47, "cuMemcpyDtoD"}, {48, "cu64MemcpyDtoD"}, {49, "cuMemcpyDtoA"},
    {50, "cu64MemcpyDtoA"}, {51, "cuMemcpyAtoD"}, {52, "cu64MemcpyAtoD"}, {53, "cuMemcpyHtoA"},
    {54, "cuMemcpyAtoH"}, {55, "cuMemcpyAtoA"}, {56, "cuMemcpy2D"}, {57, "cuMemcpy2DUnaligned"},
    {58, "cuMemcpy3D"}, {59, "cu64Memcpy3D"}, {60, "cuMemcpyHtoDAsync"},
    {61, "cu64MemcpyHtoDAsync"}, {62, "cuMemcpyDtoHAsync"}, {63, "cu64MemcpyDtoHAsync"},
    {64, "cuMemcpyDtoDAsync"}, {65, "cu64MemcpyDtoDAsync"}, {66, "cuMemcpyHtoAAsync"},
    {67, "cuMemcpyAtoHAsync"}, {68, "cuMemcpy2DAsync"}, {69, "cuMemcpy3DAsync"},
    {70, "cu64Memcpy3DAsync"}, {71, "cuMemsetD8"}, {72, "cu64MemsetD8"}, {73, "cuMemsetD16"},
    {74, "cu64MemsetD16"}, {75, "cuMemsetD32"}, {76, "cu64MemsetD32"}, {77, "cuMemsetD2D8"},
    {78, "cu64MemsetD2D8"}, {79, "cuMemsetD2D16"}, {80, "cu64MemsetD2D16"}, {81, "cuMemsetD2D32"},
    {82, "cu64MemsetD2D32"}, {115, "cuLaunch"}, {116, "cuLaunchGrid"}, {117, "cuLaunchGridAsync"},
    {121, "cuEventSynchronize"}, {126, "cuStreamSynchronize"}, {216, "cuMemsetD8Async"},
    {217, "cu64MemsetD8Async"}, {218, "cuMemsetD16Async"}, {219, "cu64MemsetD16Async"},
    {220, "cuMemsetD32Async"}, {221, "cu64MemsetD32Async"}, {222, "cuMemsetD2D8Async"},
    {223, "cu64MemsetD2D8Async"}, {224, "cuMemsetD2D16Async"}, {225, "cu64MemsetD2D16Async"},
    {226, "cuMemsetD2D32Async"}, {227, "cu64MemsetD2D32Async"}, {232, "cu64Memcpy2D"},
    {233, "cu64Memcpy2DUnaligned"}, {234, "cu64Memcpy2DAsync"}, {248, "cuMemcpy"},
    {249, "cuMemsetD8"}, {250, "cuMemsetD16"}, {251, "cuMemsetD32"}, {252, "cuMemsetD2D8"},
    {253, "cuMemsetD2D16"}, {254, "cuMemsetD2D32"}, {276, "cuMemcpyHtoD"},
    {277, "cuMemcpyHtoDAsync"}, {278, "cuMemcpyDtoH"}, {279, "cuMemcpyDtoHAsync"},
    {280, "cuMemcpyDtoD"}, {281, "cuMemcpyDtoDAsync"}, {282, "cuMemcpyAtoH"},
    {283, "cuMemcpyAtoHAsync"}, {284, "cuMemcpyAtoD"}, {285, "cuMemcpyDtoA"},
    {286, "cuMemcpyAtoA"}, {287, "cuMemcpy2D"}, {288, "cuMemcpy2DUnaligned"},
    {289, "cuMemcpy2DAsync"}, {290, "cuMemcpy3D"}, {291, "cuMemcpy3DAsync"}, {292, "cuMemcpyHtoA"},
    {293, "cuMemcpyHtoAAsync"}, {295, "cuStreamWaitEvent"}, {305, "cuMemcpy"},
    {306, "cuMemcpyAsync"}, {307, "cuLaunchKernel"}, {318, "cuMemcpyPeer"},
    {319, "cuMemcpyPeerAsync"}, {320, "cuMemcpy3DPeer"}, {321, "cuMemcpy3DPeerAsync"},
    {397, "cuMemcpyHtoD"}, {398, "cuMemcpyDtoH"}, {399, "cuMemcpyDtoD"}, {400, "cuMemcpyDtoA"},
    {401, "cuMemcpyAtoD"}, {402, "cuMemcpyHtoA"}, {403, "cuMemcpyAtoH"}, {404, "cuMemcpyAtoA"},
    {405, "cuMemcpy2D"}, {406, "cuMemcpy2DUnaligned"}, {407, "cuMemcpy3D"}, {408, "cuMemcpy"},
    {409, "cuMemcpyPeer"}, {410, "cuMemcpy3DPeer"}, {411, "cuMemsetD8"}, {412, "cuMemsetD16"},
    {413, "cuMemsetD32"}, {414, "cuMemsetD2D8"}, {415, "cuMemsetD2D16"}, {416, "cuMemsetD2D32"},
    {418, "cuMemcpyAsync"}, {419, "cuMemcpyHtoAAsync"}, {420, "cuMemcpyAtoHAsync"},
    {421, "cuMemcpyHtoDAsync"}, {422, "cuMemcpyDtoHAsync"}, {423, "cuMemcpyDtoDAsync"},
    {424, "cuMemcpy2DAsync"}, {425, "cuMemcpy3DAsync"}, {426, "cuMemcpyPeerAsync"},
    {427, "cuMemcpy3DPeerAsync"}, {428, "cuMemsetD8Async"}, {429, "cuMemsetD16Async"},
    {430, "cuMemsetD32Async"}, {431, "cuMemsetD2D8Async"}, {432, "cuMemsetD2D16Async"},
    {433, "cuMemsetD2D32Async"}, {436, "cuStreamWaitEvent"}, {440, "cuStreamSynchronize"},
    {442, "cuLaunchKernel"}, {477, "cuLaunchCooperativeKernel"},
    {478, "cuLaunchCooperativeKernel"}, {480, "cuLaunchCooperativeKernelMultiDevice"},
    {514, "cuGraphLaunch"}, {515, "cuGraphLaunch"}, {652, "cuLaunchKernelEx"},
    {653, "cuLaunchKernelEx"}, {776, "cuMemcpyBatchAsync"}, {777, "cuMemcpyBatchAsync"},
    {778, "cuMemcpy3DBatchAsync"}, {779, "cuMemcpy3DBatchAsync"}, {796, "cuMemcpyBatchAsync"},
    {797, "cuMemcpyBatchAsync"}, {798, "cuMemcpy3DBatchAsync"}, {799, "cuMemcpy3DBatchAsync"},
    {800, "cuCtxSynchronize"},
};
// clang-format on

template <size_t N>
std::string Find(const ApiName (&names)[N], int64_t id, std::string_view kind) {
  const auto* found =
      std::lower_bound(std::begin(names), std::end(names), id,
                       [](const ApiName& name, int64_t key) { return name.id < key; });
  if (found != std::end(names) && found->id == id) return std::string(found->name);
  return fmt::format("{}:{}", kind, id);
}

}  // namespace

std::string RuntimeApiName(int64_t callback_id) {
  return Find(kRuntimeNames, callback_id, "runtime");
}

std::string DriverApiName(int64_t callback_id) { return Find(kDriverNames, callback_id, "driver"); }

}  // namespace oplens::parse
