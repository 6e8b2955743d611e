#ifndef OPLENS_PARSE_READERS_COMMON_BAD_ROW_H_
#define OPLENS_PARSE_READERS_COMMON_BAD_ROW_H_

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "parse/model/reason.h"

namespace oplens::parse {

/// Counts a row of a database that is bad for `reason`.
inline void CountRow(Diagnostics* diagnostics, Reason reason, std::string_view table,
                     int64_t row_id) {
  diagnostics->Count(reason, diagnostics->KeepsExample(reason)
                                 ? fmt::format("table {}, row {}", table, row_id)
                                 : std::string());
}

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_BAD_ROW_H_
