#ifndef OPLENS_PROF_VIEWS_VIEWS_H_
#define OPLENS_PROF_VIEWS_VIEWS_H_

#include "prof/views/common/view.h"

namespace oplens::prof {

// Each view is defined at the end of its own file, with constant initialization.
extern const View kKernelsView;
extern const View kCopiesView;
extern const View kVerdictView;
extern const View kAdviceView;
extern const View kOverviewView;
extern const View kGpuView;
extern const View kOperatorsView;
extern const View kModulesView;
extern const View kStacksView;
extern const View kGroupsView;
extern const View kPlacesView;
extern const View kKernelTypesView;
extern const View kTemporalView;
extern const View kMemoryView;
extern const View kMemoryEventsView;
extern const View kMemoryOpsView;
extern const View kIdleView;
extern const View kGapsView;
extern const View kLaunchesView;
extern const View kQueueView;
extern const View kBandwidthView;
extern const View kCriticalPathView;
extern const View kRooflineView;
extern const View kMfuView;
extern const View kGemmsView;
extern const View kCountersView;
extern const View kEventsView;
extern const View kDistributedView;
extern const View kCollectivesView;
extern const View kRanksView;
extern const View kCulpritsView;
extern const View kStragglersView;
extern const View kImbalanceView;
extern const View kSetupView;
extern const View kLossesView;

/// All views, in the order in which they are printed.
// clang-format off
inline constexpr const View* kViews[] = {
    &kKernelsView,
    &kCopiesView,
    &kVerdictView,
    &kAdviceView,
    &kOverviewView,
    &kGpuView,
    &kOperatorsView,
    &kModulesView,
    &kStacksView,
    &kGroupsView,
    &kPlacesView,
    &kKernelTypesView,
    &kTemporalView,
    &kMemoryView,
    &kMemoryEventsView,
    &kMemoryOpsView,
    &kIdleView,
    &kGapsView,
    &kLaunchesView,
    &kQueueView,
    &kBandwidthView,
    &kCriticalPathView,
    &kRooflineView,
    &kMfuView,
    &kGemmsView,
    &kCountersView,
    &kEventsView,
    &kDistributedView,
    &kCollectivesView,
    &kRanksView,
    &kCulpritsView,
    &kStragglersView,
    &kImbalanceView,
    &kSetupView,
    &kLossesView,
};
// clang-format on

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_VIEWS_H_
