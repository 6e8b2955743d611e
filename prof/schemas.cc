#include "prof/schemas.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/near_words.h"
#include "prof/diff/compare.h"
#include "prof/diff/print_diff.h"
#include "prof/gate/gate_output.h"
#include "prof/table/json_schema.h"
#include "prof/table/row_kind.h"
#include "prof/views/common/view.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/views/kernels/kernel_columns.h"
#include "prof/views/kernels/summary_columns.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {
namespace {

/// Null if there is none.
const View* FindViewOf(std::string_view name) {
  const auto found = std::ranges::find(Views(), name, &View::name);
  return found == Views().end() ? nullptr : &*found;
}

void AddFields(std::span<const Field> more, std::vector<Field>* fields) {
  for (const Field& field : more) {
    const auto same = [&](const Field& known) { return known.key == field.key; };
    if (std::ranges::none_of(*fields, same)) fields->push_back(field);
  }
}

/// All that a view can print, whatever --by names.
std::vector<Field> AllFieldsOf(const View& view) {
  std::vector<Field> fields = FieldsOf(view, {});
  for (const std::string_view word : view.by) {
    try {
      AddFields(FieldsOf(view, {.by = {std::string(word)}}), &fields);
    } catch (const UsageError&) {
      // A word of the view under other rules (--compat).
    }
  }
  AddFields({&kRowKindField, 1}, &fields);
  return fields;
}

/// Keys of two runs are compared as texts; those of `operators` are those of the view it is made
/// of.
std::vector<Field> DiffFieldsOf(std::string_view view) {
  std::vector<Field> fields = AllFieldsOf(*FindViewOf(view));
  if (view == "operators") AddFields(AllFieldsOf(*FindViewOf("places")), &fields);
  std::erase_if(fields, [](const Field& field) { return field.fold != Fold::kKey; });
  for (Field& field : fields) field.type = FieldType::kText;
  AddFields(DiffRowFields(), &fields);
  return fields;
}

std::vector<Field> SummaryFields() {
  std::vector<Field> fields = AllFieldsOf(*FindViewOf("groups"));
  AddFields(FigureFields(), &fields);
  AddFields(FieldsOf(CopyColumns()), &fields);
  AddFields(CopyFigureFields(), &fields);
  return fields;
}

}  // namespace

std::string SchemaText(std::string_view name) {
  using Json = nlohmann::ordered_json;
  Json schema = SchemaHead(name);
  if (name == "summary") {
    schema.update(RowSchema("summary", SummaryFields()));
    return schema.dump(2) + "\n";
  }
  if (name == "gate") {
    const std::span<const Field> fields = GateFields();
    schema.update(RowSchema("gate", {fields.begin(), fields.end()}));
    return schema.dump(2) + "\n";
  }
  if (name == "diff") {
    Json& any = schema["anyOf"] = Json::array();
    for (const auto& [table, fields] : DiffSchemas()) any.push_back(RowSchema(table, fields));
    for (const DiffPlan::Of& of : PlanDiff("all", "").views) {
      any.push_back(RowSchema("diff_" + of.view, DiffFieldsOf(of.view)));
    }
    const std::span<const Field> gate = GateFields();
    any.push_back(RowSchema("gate", {gate.begin(), gate.end()}));
    return schema.dump(2) + "\n";
  }
  const View* const view = FindViewOf(name);
  if (view == nullptr) {
    std::vector<std::string_view> names = {"summary", "diff", "gate"};
    for (const View& one : Views()) names.push_back(one.name);
    throw UsageError(fmt::format("--schema: {}", NoSuchName("table", name, names, "they are")));
  }
  schema.update(RowSchema(name, AllFieldsOf(*view)));
  return schema.dump(2) + "\n";
}

}  // namespace oplens::prof
