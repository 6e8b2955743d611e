#include "prof/where/condition.h"

#include <algorithm>

namespace oplens::prof {
namespace {

void AddFields(const Condition::Node& node, std::vector<size_t>* fields) {
  if (node.kind == Condition::Kind::kCompare) fields->push_back(node.field);
  for (const Condition::Node& part : node.parts) AddFields(part, fields);
}

}  // namespace

std::vector<size_t> Condition::Fields() const {
  std::vector<size_t> fields;
  AddFields(root_, &fields);
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  return fields;
}

Truth Condition::Evaluate(const Node& node, const RowCells& row) {
  if (node.kind == Kind::kCompare) return node.comparison->Test(row.At(node.field));
  if (node.kind == Kind::kNot) {
    const Truth truth = Evaluate(node.parts.front(), row);
    if (truth == Truth::kUnknown) return truth;
    return truth == Truth::kYes ? Truth::kNo : Truth::kYes;
  }
  const Truth decides = node.kind == Kind::kAnd ? Truth::kNo : Truth::kYes;
  Truth truth = node.kind == Kind::kAnd ? Truth::kYes : Truth::kNo;
  for (const Node& part : node.parts) {
    const Truth of_part = Evaluate(part, row);
    if (of_part == decides) return decides;
    if (of_part == Truth::kUnknown) truth = Truth::kUnknown;
  }
  return truth;
}

}  // namespace oplens::prof
