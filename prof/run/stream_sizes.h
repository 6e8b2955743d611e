#ifndef OPLENS_PROF_RUN_STREAM_SIZES_H_
#define OPLENS_PROF_RUN_STREAM_SIZES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/id_map.h"
#include "ops/kernels/launch_sizes.h"
#include "parse/records/kernel_records.h"
#include "prof/run/name_reader.h"

namespace oplens::prof {

/// Sizes of a profile's kernels that their launches show together with the kernels beside them on
/// the stream (ops::ChainedKernelsOf). O(n log n); 4 bytes a kernel and 8 a text while it is made,
/// then 40 for each that it finds.
class StreamSizes {
 public:
  StreamSizes(const parse::KernelRecords& profile, NameReader* names);

  /// Whether they are probably needed, and worth a thread: the profile is large, and one of its
  /// first kernels has no op and a name whose sizes may be among them.
  static bool AreSoonAsked(const parse::KernelRecords& profile, NameReader* names);

  /// ops::ChainedKernel::elements of a kernel (index in Trace::kernels); nullopt: its launch shows
  /// all that is known.
  std::optional<ops::Bounds> ElementsOf(uint32_t kernel) const;

 private:
  IdMap places_;  // By kernel; in elements_.
  std::vector<ops::Bounds> elements_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STREAM_SIZES_H_
