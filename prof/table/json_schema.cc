#include "prof/table/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "prof/table/text_sinks.h"

namespace oplens::prof {
namespace {

using SchemaJson = nlohmann::ordered_json;

SchemaJson ListOfType(std::string_view item) {
  return {{"type", {"array", "null"}}, {"items", {{"type", item}}}};
}

SchemaJson TypeOf(FieldType type) {
  switch (type) {
    case FieldType::kInteger:
      return {{"type", {"integer", "null"}}};
    case FieldType::kDecimal:
      return {{"type", {"number", "null"}}};
    case FieldType::kText:
    case FieldType::kName:
      return {{"type", {"string", "null"}}};
    case FieldType::kIntegerList:
      return ListOfType("integer");
    case FieldType::kTextList:
    case FieldType::kFileList:
      return ListOfType("string");
    case FieldType::kExtent: {
      SchemaJson schema = ListOfType("integer");
      schema["minItems"] = 3;
      schema["maxItems"] = 3;
      return schema;
    }
  }
  return SchemaJson::object();
}

}  // namespace

SchemaJson SchemaHead(std::string_view name) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"$id", fmt::format("urn:oplens:prof:{}:{}", name, kSchemaVersion)},
          {"title", fmt::format("prof --json: {}", name)},
          {"version", kSchemaVersion}};
}

SchemaJson RowSchema(std::string_view table, const std::vector<Field>& fields) {
  SchemaJson properties;
  properties["schema"] = {{"const", kJsonSchema}};
  properties["view"] = {{"const", table}};
  for (const Field& field : fields) {
    SchemaJson& schema = properties[std::string(field.key)];
    // A field of the name `view` stands in place of the table's name.
    if (!schema.is_null() && field.key != "view") continue;
    schema = TypeOf(field.type);
    // A row that is the mean of others may have fractions of what they count.
    if (field.type == FieldType::kInteger && field.fold == Fold::kSum) {
      schema = TypeOf(FieldType::kDecimal);
    }
    // What has a word of its own for unknown may be a figure that stands like a word: tc.
    if (!field.unknown.empty() && !IsNumber(field)) schema["type"] = {"integer", "string", "null"};
    if (!field.help.empty()) schema["description"] = field.help;
    if (!field.unit.empty()) schema["x-unit"] = field.unit;
    if (field.type != FieldType::kTextList && field.type != FieldType::kFileList) continue;
    // How many items the record does not hold.
    properties[fmt::format("{}Cut", field.key)] = {{"type", "integer"}, {"minimum", 1}};
  }
  return {{"type", "object"}, {"properties", properties}, {"required", {"schema"}}};
}

}  // namespace oplens::prof
