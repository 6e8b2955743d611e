#ifndef OPLENS_PROF_TABLE_JSON_SCHEMA_H_
#define OPLENS_PROF_TABLE_JSON_SCHEMA_H_

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "prof/table/field.h"

namespace oplens::prof {

/// The version of all schemas of rows, by Semantic Versioning: kJsonSchema, then one that new keys
/// raise, then one for their texts.
inline constexpr std::string_view kSchemaVersion = "1.0.0";

/// What a line of --json is, in the words of JSON Schema 2020-12: an object with `schema`, perhaps
/// `view` with the name of the table, and any of the fields; null is unknown. Units stand in
/// `x-unit`.
nlohmann::ordered_json RowSchema(std::string_view table, const std::vector<Field>& fields);

/// The head of a schema document about the tables of a name of --schema.
nlohmann::ordered_json SchemaHead(std::string_view name);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_JSON_SCHEMA_H_
