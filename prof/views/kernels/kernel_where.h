#ifndef OPLENS_PROF_VIEWS_KERNELS_KERNEL_WHERE_H_
#define OPLENS_PROF_VIEWS_KERNELS_KERNEL_WHERE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "prof/price/priced_kernel.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/where/row_filter.h"

namespace oplens::prof {

/// The conditions of --where on kernels or copies, and on their groups.
template <typename Item>
struct Where {
  std::unique_ptr<ItemFilter<Item>> items;  ///< Applied before grouping; null for none.
  std::shared_ptr<const Condition> groups;  ///< On rows of groups; null for none.
};

/// Reads a condition on kernels: on their columns and what they can be grouped by. `groups`: fields
/// of the groups' rows; empty if kernels are the rows. A name that both have means the kernel's,
/// except "share"; kernel.NAME and group.NAME are explicit. Throws UsageError.
Where<PricedKernel> ReadKernelWhere(std::string_view text, std::vector<Field> groups);
/// As ReadKernelWhere, for copies and memsets.
Where<CopyRow> ReadCopyWhere(std::string_view text, std::vector<Field> groups);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_KERNEL_WHERE_H_
