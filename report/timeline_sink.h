#ifndef OPLENS_REPORT_TIMELINE_SINK_H_
#define OPLENS_REPORT_TIMELINE_SINK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "prof/price_all.h"
#include "prof/views/run_views.h"
#include "report/timeline/collector.h"

namespace oplens::report {

/// Passes kernels to views and to a timeline, which share the analysis of a run.
class TimelineSink : public prof::KernelSink {
 public:
  /// `views`: asked before each use, from the first input on. `collector` must outlive this object.
  TimelineSink(std::function<prof::ViewRunner&()> views, Collector* collector)
      : views_(std::move(views)), collector_(*collector) {}

  void BeginInput(const parse::KernelRecords* profile) override {
    views_().BeginInput(profile);
    collector_.Begin(views_().run());
  }
  void Add(const prof::PricedKernel& kernel) override {
    views_().Add(kernel);
    collector_.Add(kernel);
  }
  bool AddReplay(const prof::PricedKernel& replay) override {
    views_().AddReplay(replay);
    return true;  // The timeline shows it.
  }
  void EndInput() override { views_().EndBeside(EndOfTimeline(), false); }
  void EndLastInput() override { views_().EndBeside(EndOfTimeline(), true); }
  std::optional<int64_t> StepOf(const prof::PricedKernel& kernel,
                                std::optional<int64_t> told) const override {
    return views_().StepOf(kernel, told);
  }
  size_t Lanes() override { return views_().Lanes(); }
  void TakeHeld(HeldRows* rows) override { views_().TakeHeld(rows); }
  void Look(size_t lane, const HeldRows& rows) override { views_().Look(lane, rows); }

 private:
  std::function<void()> EndOfTimeline() {
    return [this, run = views_().run()] { collector_.End(run); };
  }

  std::function<prof::ViewRunner&()> views_;
  Collector& collector_;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_SINK_H_
