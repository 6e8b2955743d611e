#include "prof/views/views.h"

#include <vector>

#include "base/byte_reader.h"
#include "base/error.h"

namespace oplens::prof {

std::span<const View> Views() {
  static const std::vector<View> views = {
      kKernelsView,     kCopiesView,    kAdviceView,      kOverviewView,     kGpuView,
      kOperatorsView,   kModulesView,   kStacksView,      kGroupsView,       kPlacesView,
      kKernelTypesView, kTemporalView,  kMemoryView,      kMemoryEventsView, kMemoryOpsView,
      kIdleView,        kLaunchesView,  kQueueView,       kBandwidthView,    kCriticalPathView,
      kRooflineView,    kEventsView,    kDistributedView, kCollectivesView,  kRanksView,
      kStragglersView,  kImbalanceView, kSetupView,       kLossesView,
  };
  return views;
}

void Partial::AddCalls(std::span<const CollectiveRow> /*calls*/) {}

void Partial::Save(ByteWriter* /*bytes*/) const {
  throw Error("what this view found cannot be saved: it needs the trace");
}

void Partial::Load(ByteReader* bytes) {
  bytes->Fail("what this view found cannot be saved: it needs the trace");
}

}  // namespace oplens::prof
