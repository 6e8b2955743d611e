#ifndef OPLENS_PROF_VIEWS_QUEUE_H_
#define OPLENS_PROF_VIEWS_QUEUE_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// The view `queue`: how much work waited on each stream (docs/views.md).
inline constexpr TraceNeeds kQueueNeeds = {};
std::span<const Field> QueueFields();
std::span<const std::string_view> SeriesKeys();  ///< Of --by, of `bandwidth` too.
std::unique_ptr<Partial> MakeQueue(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_QUEUE_H_
