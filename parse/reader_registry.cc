#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "parse/readers/nvprof_reader.h"
#include "parse/trace_reader.h"

namespace oplens::parse {
namespace {

// In order: the first that recognises a database reads it.
constexpr const TraceReader* kReaders[] = {
    &kNvprofReader,
};

/// Databases that are known and refused, by a table that only they have.
struct KnownForeign {
  std::string_view table;
  std::string_view problem;
  std::string_view advice;
};

constexpr KnownForeign kKnownForeign[] = {
    {"StringIds", "is an export of Nsight Systems", "this release reads nvprof databases only"},
    {"op_nodes", "is a result database of DLProf, not a profile",
     "give the profile that DLProf was run on"},
};

std::string ListSome(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  if (names.empty()) return "it has no tables";
  std::string text = "its tables are ";
  for (size_t i = 0; i < names.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kMost ? text + ", ..." : text;
}

}  // namespace

Trace OpenTrace(const std::string& path, Diagnostics* diagnostics) {
  SqliteDatabase database(path);
  for (const TraceReader* reader : kReaders) {
    if (reader->recognises(database)) return reader->read(&database, diagnostics);
  }
  for (const KnownForeign& foreign : kKnownForeign) {
    if (database.HasTable(foreign.table)) throw Error(path, foreign.problem, foreign.advice);
  }
  throw Error(path,
              fmt::format("is no profile of nvprof: table StringTable is missing ({})",
                          ListSome(database.table_names())),
              "give the file that nvprof -o wrote");
}

}  // namespace oplens::parse
