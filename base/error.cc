#include "base/error.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace oplens {
namespace {

std::string Place(std::string_view file, std::string_view table, long long row) {
  if (row < 0) return fmt::format("{}: table {}", file, table);
  return fmt::format("{}: table {}, row {}", file, table, row);
}

}  // namespace

// File and table names, also inside the problem, come from outside: LineText keeps them harmless.
Error::Error(std::string_view file, std::string_view problem, std::string_view advice)
    : std::runtime_error(LineText(fmt::format("{}: {}; {}", file, problem, advice))), file_(file) {}

Error::Error(std::string_view file, std::string_view table, long long row, std::string_view problem,
             std::string_view advice)
    : std::runtime_error(
          LineText(fmt::format("{}: {}; {}", Place(file, table, row), problem, advice))),
      file_(file),
      row_(row) {}

}  // namespace oplens
