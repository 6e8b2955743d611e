#ifndef OPLENS_PROF_VIEWS_GROUP_DETAILS_H_
#define OPLENS_PROF_VIEWS_GROUP_DETAILS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "prof/price/priced_kernel.h"
#include "prof/table/columns.h"
#include "prof/views/histogram.h"

namespace oplens::prof {

class Run;
struct DeviceEvent;

/// What one kernel adds to its group.
struct KernelGroupDetails {
  std::optional<int64_t> duration_ns;
  std::optional<int64_t> delay_ns;
  std::optional<int64_t> gap_ns;
  std::optional<double> blocks;     ///< A multiprocessor.
  std::optional<double> occupancy;  ///< Percent.
};

/// What `--view groups` shows of a group besides the figures of --by. Sums are integers.
struct GroupDetails {
  int64_t calls = 0;
  Histogram durations;
  // Weighted by duration, in thousandths: over the kernels of which it is known, and their time.
  Checked blocks;
  Checked occupancy;
  int64_t blocks_ns = 0;
  int64_t occupancy_ns = 0;
  Checked delay_ns;
  Checked gap_ns;
  int64_t with_delay = 0;
  int64_t with_gap = 0;

  void Add(const GroupDetails& other);
  void Add(const KernelGroupDetails& kernel);

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->calls);
    bytes->Values(&self->durations, &self->blocks, &self->occupancy);
    bytes->Sums(&self->blocks_ns, &self->occupancy_ns);
    bytes->Values(&self->delay_ns, &self->gap_ns);
    bytes->Counts(&self->with_delay, &self->with_gap);
  }
};

/// The fields of these, and their cells.
std::vector<Field> GroupDetailFields();
void AppendDetails(const GroupDetails& details, std::vector<Cell>* cells);

/// Since when each stream has been idle when a kernel starts. Kernels must be asked for in the
/// order of their starts.
class StreamGaps {
 public:
  /// `run` must outlive this object.
  explicit StreamGaps(const Run& run) : run_(run) {}

  /// From the end of what the stream did before to the start of an event, 0 where these overlap;
  /// nullopt for the first of a stream, or where the event has no time.
  std::optional<int64_t> Before(const DeviceEvent& event);

 private:
  struct Stream {
    int32_t device_id;
    int32_t stream_id;
    int64_t end_ns;
  };

  const Run& run_;
  size_t next_ = 0;  // Into the run's events.
  std::vector<Stream> streams_;
};

/// `gap_ns`: of StreamGaps; `run` null: only the record is known.
KernelGroupDetails DetailsOf(const PricedKernel& kernel, const Run* run,
                             std::optional<int64_t> gap_ns);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GROUP_DETAILS_H_
