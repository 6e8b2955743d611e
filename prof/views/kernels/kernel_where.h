#ifndef OPLENS_PROF_VIEWS_KERNELS_KERNEL_WHERE_H_
#define OPLENS_PROF_VIEWS_KERNELS_KERNEL_WHERE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/where/row_filter.h"

namespace oplens::prof {

/// What --where asks of kernels or copies, and of their groups.
template <typename Item>
struct Where {
  std::unique_ptr<ItemFilter<Item>> items;  ///< Before they are grouped; null for none.
  std::shared_ptr<const Condition> groups;  ///< Of the rows of groups; null for none.
};

/// Reads a condition on kernels: their columns, and what they can be grouped by. `groups`: the
/// fields of the groups that they go into; empty where they are rows themselves. A name that both
/// have is the kernel's, but for "share"; kernel.NAME and group.NAME say which. Throws UsageError.
Where<PricedKernel> ReadKernelWhere(std::string_view text, std::vector<Field> groups);
/// The same of copies and fills.
Where<CopyRow> ReadCopyWhere(std::string_view text, std::vector<Field> groups);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_KERNEL_WHERE_H_
