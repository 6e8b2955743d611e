#ifndef OPLENS_REPORT_FIELD_JSON_H_
#define OPLENS_REPORT_FIELD_JSON_H_

#include <nlohmann/json.hpp>

#include "prof/table/field.h"

namespace oplens::report {

/// A field as FIELD of docs/report_format.md.
nlohmann::ordered_json FieldJson(const prof::Field& field);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_FIELD_JSON_H_
