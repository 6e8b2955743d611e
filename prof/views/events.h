#ifndef OPLENS_PROF_VIEWS_EVENTS_H_
#define OPLENS_PROF_VIEWS_EVENTS_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kEventsNeeds = {TracePart::kMemoryEvents};

/// Calls and device events by name, with self and total times: docs/views.md, "events". `by` takes
/// shape, stack and rank, with Compat::kTorchLegacy rank, call and total; UsageError for other
/// words. With Compat::kTorch and kTorchLegacy it is a document: the tables of PyTorch's profilers
/// (prof/views/torch_table.h).
std::unique_ptr<Partial> MakeEvents(const ViewOptions& options);

/// Its fields without those that `by` adds.
std::span<const Field> EventsFields();
/// The words of --by.
std::span<const std::string_view> EventKeys();
/// Those of --sort with the rules of others.
std::span<const std::string_view> EventSortWords(Compat compat);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_EVENTS_H_
