#include "prof/views/kernels/priced_timeline.h"

#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "parse/records/kernel_records.h"
#include "prof/run/run.h"
#include "prof/table/json_cell.h"
#include "prof/views/kernels/timeline_overlay.h"

namespace oplens::prof {

TraceNeeds NeedsOfTimeline() { return parse::kChromeNeeds | kTimelineOverlayNeeds; }

PricedTimeline::PricedTimeline(Columns<PricedKernel> columns, Output* output)
    : columns_(std::move(columns)), writer_(output) {}

void PricedTimeline::BeginInput(const parse::KernelRecords* profile) {
  if (profile == nullptr) {
    throw Error("standard input", "holds records, not a timeline",
                "give the profile itself to --chrome");
  }
  profile_ = profile;
  members_ = {};
}

void PricedTimeline::Add(const PricedKernel& kernel) {
  if (kernel.work == PricedKernel::kNoWork) return;
  scratch_.clear();
  for (const KernelColumn* column : columns_) {
    const Cell cell = column->get(kernel);
    if (IsUnknown(cell)) continue;
    if (!scratch_.empty()) scratch_ += ',';
    AppendJsonString(column->key, &scratch_);
    scratch_ += ':';
    AppendJsonCell(cell, &scratch_);
  }
  members_.Set(kernel.work, scratch_);
}

bool PricedTimeline::AddReplay(const PricedKernel& replay) {
  return replay.work != PricedKernel::kNoWork;
}

void PricedTimeline::EndInput() {
  parse::ChromeOverlay overlay = TimelineOverlayOf(Run(*profile_));
  overlay.kernel_members = std::move(members_);
  writer_.Add(profile_->joined(), profile_->names(), overlay);
  profile_ = nullptr;
}

}  // namespace oplens::prof
