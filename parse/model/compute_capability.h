#ifndef OPLENS_PARSE_MODEL_COMPUTE_CAPABILITY_H_
#define OPLENS_PARSE_MODEL_COMPUTE_CAPABILITY_H_

namespace oplens {

// First compute capabilities (10 * major + minor) of NVIDIA's GPUs that have the named feature.
inline constexpr int kFirstWithTensorCores = 70;
inline constexpr int kFirstWithTf32 = 80;

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_COMPUTE_CAPABILITY_H_
