#ifndef OPLENS_PROF_VIEWS_ADVICE_H_
#define OPLENS_PROF_VIEWS_ADVICE_H_

#include <memory>
#include <span>

#include "prof/table/field.h"
#include "prof/views/advice_facts.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The view `advice`: what to change, and how much that can gain at most (docs/advice.md).
std::unique_ptr<Partial> MakeAdvice(const ViewOptions& options);
std::span<const Field> AdviceFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_ADVICE_H_
