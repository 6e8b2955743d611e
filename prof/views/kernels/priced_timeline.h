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

/// What a priced timeline needs of traces.
TraceNeeds NeedsOfTimeline();

/// Writes the timeline that `parse --format chrome` does, with columns of prof among the arguments
/// of each kernel, under the words of -c: FLOPs, bytes, how near to the roofs. A cell that is
/// unknown is no argument. Of the profile at hand it keeps the texts of these, about 150 bytes a
/// kernel.
class PricedTimeline : public KernelSink {
 public:
  /// The columns unless -c says which.
  static constexpr std::string_view kColumns =
      "params,phase,flops,bytes,tc,tflops,gbps,pct_math,pct_dram,bound";

  /// `output` must outlive this object.
  PricedTimeline(Columns<PricedKernel> columns, Output* output);

  void BeginInput(const parse::KernelRecords* profile) override;
  void Add(const PricedKernel& kernel) override;
  bool AddReplay(const PricedKernel& replay) override;
  void EndInput() override;
  /// Ends the document.
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
