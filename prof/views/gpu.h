#ifndef OPLENS_PROF_VIEWS_GPU_H_
#define OPLENS_PROF_VIEWS_GPU_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/table/field.h"
#include "prof/views/gpu_sums.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// The view `gpu`: how well each GPU was used (docs/views.md).
std::unique_ptr<Partial> MakeGpu(const ViewOptions& options);
std::span<const Field> GpuFields();

/// The rows of gpu: sums over each GPU of each rank.
class GpuRows : public SavedPartial<GpuRows> {
 public:
  using Ranks = std::map<std::string, std::map<int64_t, GpuSums>, RankBefore>;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_, &self->notes_);
  }

  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override { return {GpuFields().begin(), GpuFields().end()}; }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return {notes_.begin(), notes_.end()}; }
  const Ranks& ranks() const { return ranks_; }

 protected:
  /// Changes the cells of a row where they are not as all sums say.
  virtual void Amend(const GpuSums& /*sums*/, std::vector<Cell>* /*cells*/) const {}

  Ranks ranks_;
  std::set<std::string> notes_;
};

inline constexpr TraceNeeds kGpuNeeds{TracePart::kMemoryEvents};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GPU_H_
