#include "prof/views/kernels/kernel_where.h"

#include <utility>

#include "prof/views/kernels/summary_columns.h"
#include "prof/where/read_where.h"

namespace oplens::prof {
namespace {

template <typename Item>
Where<Item> ReadKernelWhereFile(std::string_view text, std::string_view name, std::string_view rows,
                                Columns<Item> columns, std::vector<Field> groups) {
  std::vector<WhereScope> scopes;
  scopes.push_back({name, rows, FieldsOf(columns)});
  if (!groups.empty()) scopes.push_back({"group", "groups", std::move(groups), {"share"}});
  const auto conditions = ReadWhere(text, scopes);
  Where<Item> where;
  if (conditions[0] != nullptr) {
    where.items = std::make_unique<ItemFilter<Item>>(std::move(columns), conditions[0]);
  }
  if (conditions.size() > 1) where.groups = conditions[1];
  return where;
}

}  // namespace

Where<PricedKernel> ReadKernelWhere(std::string_view text, std::vector<Field> groups) {
  return ReadKernelWhereFile(text, "kernel", "kernels", NamedKernelColumns(), std::move(groups));
}

Where<CopyRow> ReadCopyWhere(std::string_view text, std::vector<Field> groups) {
  Columns<CopyRow> columns;
  for (const Column<CopyRow>& column : CopyColumns()) columns.push_back(&column);
  return ReadKernelWhereFile(text, "copy", "copies", std::move(columns), std::move(groups));
}

}  // namespace oplens::prof
