#ifndef OPLENS_PROF_TABLE_JSON_CELL_H_
#define OPLENS_PROF_TABLE_JSON_CELL_H_

#include <nlohmann/json.hpp>

#include "prof/table/sink.h"

namespace oplens::prof {

/// A cell as a JSON value: null where it is unknown. Of a list that was cut only the part that is
/// there.
nlohmann::ordered_json JsonOf(const Cell& cell);

/// As text. What is no valid UTF-8 is replaced.
std::string JsonTextOf(const nlohmann::ordered_json& value);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_JSON_CELL_H_
