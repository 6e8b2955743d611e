#include "report/field_json.h"

#include <algorithm>
#include <string_view>

namespace oplens::report {
namespace {

using FieldJsonValue = nlohmann::ordered_json;
using prof::FieldType;
using prof::Fold;

std::string_view FieldJsonWordOf(FieldType type) {
  switch (type) {
    case FieldType::kInteger:
      return "integer";
    case FieldType::kDecimal:
      return "decimal";
    case FieldType::kText:
      return "text";
    case FieldType::kName:
      return "name";
    case FieldType::kIntegerList:
      return "integers";
    case FieldType::kTextList:
      return "texts";
    case FieldType::kFileList:
      return "files";
    case FieldType::kExtent:
      return "extent";
  }
  return "text";
}

std::string_view FieldJsonWordOf(Fold fold) {
  switch (fold) {
    case Fold::kNone:
      return "none";
    case Fold::kKey:
      return "key";
    case Fold::kSum:
      return "sum";
    case Fold::kMin:
      return "min";
    case Fold::kMax:
      return "max";
    case Fold::kMean:
      return "mean";
    case Fold::kQuantiles:
      return "quantiles";
  }
  return "none";
}

FieldJsonValue RatioOf(const prof::FieldRatio& ratio) {
  FieldJsonValue of = FieldJsonValue::array();
  for (size_t begin = 0; begin <= ratio.of.size();) {
    const size_t end = std::min(ratio.of.find('+', begin), ratio.of.size());
    of.push_back(ratio.of.substr(begin, end - begin));
    begin = end + 1;
  }
  return {{"of", std::move(of)}, {"over", ratio.over}, {"times", ratio.times}};
}

}  // namespace

FieldJsonValue FieldJson(const prof::Field& field) {
  FieldJsonValue of = {{"key", field.key},
                       {"header", field.header},
                       {"unit", field.unit},
                       {"type", FieldJsonWordOf(field.type)},
                       {"fold", FieldJsonWordOf(field.fold)},
                       {"help", field.help}};
  if (!field.whole.empty()) of["whole"] = field.whole;
  if (!field.ratio.empty()) of["ratio"] = RatioOf(field.ratio);
  return of;
}

}  // namespace oplens::report
