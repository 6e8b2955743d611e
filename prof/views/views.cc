#include "prof/views/copy_row.h"
#include "prof/views/gpu.h"
#include "prof/views/groups.h"
#include "prof/views/kernel_columns.h"
#include "prof/views/overview.h"
#include "prof/views/summary_columns.h"
#include "prof/views/view.h"

namespace oplens::prof {
namespace {

template <typename Item>
Columns<Item> ColumnsAt(const std::vector<size_t>& places, std::span<const Column<Item>> all) {
  Columns<Item> columns;
  for (const size_t place : places) columns.push_back(&all[place]);
  return columns;
}

class KernelStream : public ViewStream {
 public:
  KernelStream(const std::vector<size_t>& places, Sink* sink)
      : table_(ColumnsAt(places, KernelColumns()), sink) {}
  void Add(const PricedKernel& kernel) override { table_.Add(kernel); }

 private:
  TableOf<PricedKernel> table_;
};

class CopyStream : public ViewStream {
 public:
  CopyStream(const std::vector<size_t>& places, Sink* sink)
      : table_(ColumnsAt(places, CopyColumns()), sink) {}

  void Begin(const Run* run) override {
    if (run == nullptr) return;
    for (CopyRow& copy : CopiesOf(run->trace())) {
      const WorkClass work = copy.fill ? WorkClass::kFill : WorkClass::kCopy;
      if (!run->Selects(
              {copy.start_ns, copy.start_ns, copy.place, copy.device_id, copy.stream_id, work})) {
        continue;
      }
      copy.index = ++row_count_;
      table_.Add(copy);
    }
  }

 private:
  TableOf<CopyRow> table_;
  int64_t row_count_ = 0;
};

template <typename Stream>
std::unique_ptr<ViewStream> Open(const std::vector<size_t>& places, Sink* sink) {
  return std::make_unique<Stream>(places, sink);
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
     Open<KernelStream>,
     nullptr,
     kDefaultColumns},
    {"copies",
     "one row a memory copy or fill",
     {},
     [] { return FieldsOf(CopyColumns()); },
     nullptr,
     Open<CopyStream>},
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
     false,
     true},
};

}  // namespace

std::span<const View> Views() { return kViews; }

}  // namespace oplens::prof
