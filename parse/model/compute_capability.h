#ifndef OPLENS_PARSE_MODEL_COMPUTE_CAPABILITY_H_
#define OPLENS_PARSE_MODEL_COMPUTE_CAPABILITY_H_

namespace oplens {

// Compute capabilities, as 10 * major + minor, from which NVIDIA's GPUs have something.
inline constexpr int kFirstWithTensorCores = 70;
inline constexpr int kFirstWithTf32 = 80;

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_COMPUTE_CAPABILITY_H_
