#ifndef OPLENS_PROF_VIEWS_PLACES_H_
#define OPLENS_PROF_VIEWS_PLACES_H_

#include <memory>
#include <span>
#include <string_view>

#include "parse/model/trace_needs.h"
#include "prof/table/field.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The view `places`: what each call of each layer ran on the GPU (docs/views.md). Its rows by step
/// are what `prof --diff` aligns.
std::unique_ptr<Partial> MakePlaces(const ViewOptions& options);
std::span<const Field> PlacesFields();
std::span<const std::string_view> PlacesKeys();
inline constexpr TraceNeeds kPlacesNeeds{};

/// Words of its key `work`.
inline constexpr std::string_view kComputeWork = "compute";
inline constexpr std::string_view kCommunicationWork = "communication";
inline constexpr std::string_view kCopyWork = "copy";
inline constexpr std::string_view kFillWork = "fill";
inline constexpr std::string_view kReplayWork = "replay";

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PLACES_H_
