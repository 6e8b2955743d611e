#ifndef OPLENS_PROF_VIEWS_KERNELS_PRICED_TIMELINE_H_
#define OPLENS_PROF_VIEWS_KERNELS_PRICED_TIMELINE_H_

#include <string>
#include <string_view>

#include "base/output.h"
#include "parse/chrome/chrome_writer.h"
#include "parse/model/trace_needs.h"
#include "prof/price/kernel_sink.h"
#include "prof/views/kernels/kernel_columns.h"

namespace oplens::prof {

TraceNeeds NeedsOfTimeline();

/// Writes the timeline of `parse --format chrome`, with columns of prof among the arguments of each
/// kernel, named as in -c: FLOPs, bytes, distance to the roofs. Unknown cells are left out. Keeps
/// the texts of the current profile, about 150 bytes per kernel.
class PricedTimeline : public KernelSink {
 public:
  /// The columns if -c is not given.
  static constexpr std::string_view kColumns =
      "params,phase,flops,bytes,tc,tflops,gbps,pct_math,pct_dram,bound";

  /// `output` must outlive this object.
  PricedTimeline(Columns<PricedKernel> columns, Output* output);

  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  bool AddReplay(const PricedKernel& replay) override;
  void EndInput() override;
  void Finish() { writer_.Finish(); }

 private:
  Columns<PricedKernel> columns_;
  parse::ChromeWriter writer_;
  const parse::KernelRecords* profile_ = nullptr;
  parse::ChromeOverlay::KernelMembers members_;
  std::string scratch_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_PRICED_TIMELINE_H_
