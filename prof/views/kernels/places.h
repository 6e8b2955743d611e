#ifndef OPLENS_PROF_VIEWS_KERNELS_PLACES_H_
#define OPLENS_PROF_VIEWS_KERNELS_PLACES_H_

#include <string_view>

namespace oplens::prof {

/// Words of the key `work` of the view `places`, the rows of which by step `prof --diff` aligns.
inline constexpr std::string_view kComputeWork = "compute";
inline constexpr std::string_view kCommunicationWork = "communication";
inline constexpr std::string_view kCopyWork = "copy";
inline constexpr std::string_view kFillWork = "fill";
inline constexpr std::string_view kReplayWork = "replay";

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_PLACES_H_
