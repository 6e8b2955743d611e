#ifndef OPLENS_PROF_VIEWS_STREAMS_GPU_ROWS_H_
#define OPLENS_PROF_VIEWS_STREAMS_GPU_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/saturating.h"
#include "base/sums.h"
#include "prof/run/interval_set.h"
#include "prof/table/columns.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/view.h"
#include "prof/views/common/view_notes.h"

namespace oplens::prof {

struct GpuSums {
  Max<std::string> name;
  Sum window_ns;
  Sum busy_ns;
  // For kernels of known blocks: the integral in 10 fs, and the window that it covers.
  Sum sm_integral;
  Sum sm_window_ns;
  // For kernels of known occupancy: percent x ns / 1000.
  Sum occupancy_sum;
  Sum occupancy_ns;
  Sum tc_ns;
  Sum tc_known_ns;
  Any tc_any;  ///< Some kernel of the rank uses Tensor Cores.
  Sum kernels;
  Sum kernel_ns;
  Sum copy_ns;
  Sum comm_ns;
  Sum replays;
  Sum replay_ns;
  Max<int64_t> memory_bytes;
  Max<std::optional<int64_t>> peak_allocated_bytes;

  /// Time of kernels, without replays.
  int64_t KernelNs() const { return SaturatingSum(kernel_ns, comm_ns); }
};

struct GpuRow {
  const RankName& rank;
  int64_t device;
  const GpuSums& sums;
};

std::span<const Column<GpuRow>> GpuColumns();

/// Rows of the view gpu: sums per GPU of each rank.
class GpuRows : public GroupedPartial<RankName, std::map<int64_t, GpuSums>, GpuRow, TextNotes> {
 public:
  const std::map<RankName, std::map<int64_t, GpuSums>>& ranks() const { return rows_; }

 protected:
  GpuRows(const ViewOptions& options, std::span<const Column<GpuRow>> columns)
      : GroupedPartial("gpu", options, {}, columns) {}

 private:
  void EmitGroup(const RankName& rank, const std::map<int64_t, GpuSums>& devices,
                 TableOf<GpuRow>* table) const override {
    for (const auto& [device, sums] : devices) table->Add({rank, device, sums});
  }
};

/// Length of the part of [start_ns, end_ns] in `window`.
int64_t ClippedLength(int64_t start_ns, int64_t end_ns, const Interval& window);

/// The time in a window in which work runs.
struct BusyTime {
  Sum ns;
  int64_t until_ns = INT64_MIN;  ///< The latest end so far.

  /// Call in order of start.
  void Add(const Interval& work, const Interval& window) {
    ns += ClippedLength(std::max(work.start_ns, until_ns), work.end_ns, window);
    until_ns = std::max(until_ns, work.end_ns);
  }
};

/// A sum as an integer, so that sums of several inputs do not depend on their order.
int64_t GpuRounded(double value);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAMS_GPU_ROWS_H_
