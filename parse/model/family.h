#ifndef OPLENS_PARSE_MODEL_FAMILY_H_
#define OPLENS_PARSE_MODEL_FAMILY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oplens {

/// The profilers whose files can be read.
enum class Family : uint8_t {
  kUnknown,  ///< Records do not say what they were made from.
  kNvprof,   ///< nvprof, the Visual Profiler, and oplens' record.
  kNsys,     ///< Nsight Systems.
  kKineto,   ///< PyTorch's profiler.
};
inline constexpr size_t kFamilyCount = 4;
constexpr size_t WordCountOf(Family) { return kFamilyCount; }

/// "nvprof", "nsys", "kineto" or "".
constexpr std::string_view FamilyWord(Family family) {
  constexpr std::string_view kWords[kFamilyCount] = {"", "nvprof", "nsys", "kineto"};
  return kWords[static_cast<size_t>(family)];
}

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_FAMILY_H_
