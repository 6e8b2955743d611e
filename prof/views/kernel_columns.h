#ifndef OPLENS_PROF_VIEWS_KERNEL_COLUMNS_H_
#define OPLENS_PROF_VIEWS_KERNEL_COLUMNS_H_

#include <span>
#include <string_view>
#include <vector>

#include "parse/model/need.h"
#include "prof/table/columns.h"

namespace oplens::prof {

/// Every column of a kernel in the order of `-c all`. To add one, add a row to the table in
/// kernel_columns.cc.
std::span<const Column> KernelColumns();

/// SelectColumns out of them.
std::vector<const Column*> SelectKernelColumns(std::string_view list);

/// What each of them needs, in their order.
std::vector<ColumnNeed> KernelColumnNeeds();

/// The columns without -c.
inline constexpr std::string_view kDefaultColumns = "idx,dir,sub,mod,op,kernel,params,sil";

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNEL_COLUMNS_H_
