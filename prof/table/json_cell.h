#ifndef OPLENS_PROF_TABLE_JSON_CELL_H_
#define OPLENS_PROF_TABLE_JSON_CELL_H_

#include <nlohmann/json.hpp>

#include "prof/table/sink.h"

namespace oplens::prof {

/// A cell as a JSON value; unknown is null. A truncated list has only its present part.
nlohmann::ordered_json JsonOf(const Cell& cell);

/// As text; invalid UTF-8 is replaced.
std::string JsonTextOf(const nlohmann::ordered_json& value);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_JSON_CELL_H_
