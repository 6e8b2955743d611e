#include "prof/views/copy_row.h"
#include "prof/views/gpu.h"
#include "prof/views/groups.h"
#include "prof/views/kernel_columns.h"
#include "prof/views/overview.h"
#include "prof/views/summary_columns.h"
#include "prof/views/view.h"

namespace oplens::prof {
namespace {

std::unique_ptr<KernelSink> StreamKernels(const std::vector<size_t>& places, Sink* sink) {
  Columns<PricedKernel> columns;
  for (const size_t place : places) columns.push_back(&KernelColumns()[place]);
  return std::make_unique<KernelTable>(std::move(columns), sink);
}

std::unique_ptr<KernelSink> StreamCopies(const std::vector<size_t>& places, Sink* sink) {
  Columns<CopyRow> columns;
  for (const size_t place : places) columns.push_back(&CopyColumns()[place]);
  return std::make_unique<CopyTable>(std::move(columns), sink);
}

/// The fields of a table of constants.
template <std::span<const Field> (*fields)()>
std::vector<Field> List() {
  const std::span<const Field> all = fields();
  return {all.begin(), all.end()};
}

constexpr View kViews[] = {
    {"kernels",
     "one row a kernel: op, cost, Tensor Cores",
     {},
     [] { return FieldsOf(KernelColumns()); },
     nullptr,
     StreamKernels,
     nullptr,
     kDefaultColumns},
    {"copies",
     "one row a memory copy or fill",
     {},
     [] { return FieldsOf(CopyColumns()); },
     nullptr,
     StreamCopies},
    {"overview", "where the time of each step went", kOverviewNeeds, List<OverviewFields>,
     MakeOverview},
    {"gpu", "how well each GPU was used", kGpuNeeds, List<GpuFields>, MakeGpu},
    {"groups",
     "one row a group of kernels that are alike in the keys of --by",
     {},
     GroupsFields,
     MakeGroups,
     nullptr,
     GroupKeys,
     {},
     true},
};

}  // namespace

std::span<const View> Views() { return kViews; }

}  // namespace oplens::prof
