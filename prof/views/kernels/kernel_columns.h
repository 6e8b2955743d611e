#ifndef OPLENS_PROF_VIEWS_KERNELS_KERNEL_COLUMNS_H_
#define OPLENS_PROF_VIEWS_KERNELS_KERNEL_COLUMNS_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/model/need.h"
#include "prof/price/kernel_sink.h"
#include "prof/price/priced_kernel.h"
#include "prof/table/columns.h"

namespace oplens::prof {

using KernelColumn = Column<PricedKernel>;

/// Every column of a kernel in the order of `-c all`, from the table in kernel_columns.cc.
std::span<const KernelColumn> KernelColumns();

/// SelectColumns out of KernelColumns().
Columns<PricedKernel> SelectKernelColumns(std::string_view list);

/// The needs of KernelColumns(), in the same order.
std::vector<ColumnNeed> KernelColumnNeeds();

/// How many of KernelColumns(), the first ones, are PyProf's.
inline constexpr size_t kPyProfColumns = 20;

/// Columns if -c is not given.
inline constexpr std::string_view kDefaultColumns = "idx,dir,sub,mod,op,kernel,params,sil";

/// Columns that stay longest in a narrow line, most important first.
inline constexpr std::string_view kImportantColumns =
    "kernel,sil,op,params,dir,idx,mod,tc,flops,bytes,layer,sub";

/// A table with one row per kernel.
class KernelTable : public KernelSink {
 public:
  /// `sink`: has begun with the fields of `columns`. It must outlive this object.
  KernelTable(Columns<PricedKernel> columns, Sink* sink) : table_(std::move(columns), sink) {}
  void Add(const PricedKernel& kernel) override { table_.Add(kernel); }

 private:
  TableOf<PricedKernel> table_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_KERNEL_COLUMNS_H_
