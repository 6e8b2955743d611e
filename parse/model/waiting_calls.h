#ifndef OPLENS_PARSE_MODEL_WAITING_CALLS_H_
#define OPLENS_PARSE_MODEL_WAITING_CALLS_H_

#include <string_view>

namespace oplens {

/// Whether a CUDA or HIP API call returns only when a GPU has done something, by its name:
/// synchronisations ("cudaStreamSynchronize", "cuCtxSynchronize") and copies that are not
/// asynchronous ("cudaMemcpy", "cuMemcpyDtoH_v2", "hipMemcpyWithStream").
inline bool IsWaitingCall(std::string_view api) {
  const auto has = [api](std::string_view part) { return api.find(part) != api.npos; };
  return has("ynchronize") || (has("Memcpy") && !has("Async"));
}

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_WAITING_CALLS_H_
