#ifndef OPLENS_PROF_VIEWS_TB_ADVICE_H_
#define OPLENS_PROF_VIEWS_TB_ADVICE_H_

#include <memory>

#include "parse/model/trace_needs.h"
#include "prof/advice/tb_rules.h"
#include "prof/run/tb_tree.h"
#include "prof/views/gpu.h"
#include "prof/views/overview.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// What the TensorBoard plugin advises, a row a rule and rank; fields as those of the view.
std::unique_ptr<Partial> MakeTbAdvice();
inline constexpr TraceNeeds kTbAdviceNeeds =
    kOverviewNeeds | kTbOverviewNeeds | kGpuNeeds | kTbGpuNeeds | kTbTreeNeeds;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TB_ADVICE_H_
