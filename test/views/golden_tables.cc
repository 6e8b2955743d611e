#include "test/views/golden_tables.h"

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "test/support/test_files.h"

namespace oplens::test {
namespace {

std::string TraceOf(const std::filesystem::path& stem) {
  if (std::filesystem::is_directory(stem)) return stem.string();  // Of several ranks.
  for (const std::string ending : {".json.gz", ".pt.trace.json.gz"}) {
    std::string path = stem.string() + ending;
    if (std::filesystem::exists(path)) return path;
  }
  throw std::runtime_error("no trace for " + stem.string());
}

/// The fields of one record; `at` moves behind it.
std::vector<std::string> ReadRecord(const std::string& text, size_t* at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; *at < text.size(); ++*at) {
    const char c = text[*at];
    if (c == '"') {
      if (quoted && *at + 1 < text.size() && text[*at + 1] == '"') {
        fields.back().push_back('"');
        ++*at;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++*at;
      break;
    } else if (c != '\r' || quoted) {
      fields.back().push_back(c);
    }
  }
  return fields;
}

}  // namespace

std::vector<GoldenTrace> GoldenTracesWith(const std::string& table) {
  const std::filesystem::path corpus = CorpusDir().path / "kineto";
  const std::filesystem::path golden = corpus / "golden";
  std::vector<GoldenTrace> traces;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden)) {
    if (entry.path().filename() != table) continue;
    const std::filesystem::path folder = entry.path().parent_path();
    const std::filesystem::path name = std::filesystem::relative(folder, golden);
    traces.push_back({name.string(), TraceOf(corpus / name), folder.string()});
  }
  std::sort(traces.begin(), traces.end(),
            [](const GoldenTrace& a, const GoldenTrace& b) { return a.name < b.name; });
  return traces;
}

std::vector<ViewRow> ReadGoldenTable(const std::string& path) {
  const std::string text = ReadFile(path);
  size_t at = 0;
  const std::vector<std::string> header = ReadRecord(text, &at);
  std::vector<ViewRow> rows;
  while (at < text.size()) {
    const std::vector<std::string> fields = ReadRecord(text, &at);
    ViewRow& row = rows.emplace_back();
    for (size_t i = 0; i < std::min(header.size(), fields.size()); ++i) row[header[i]] = fields[i];
  }
  return rows;
}

bool IsPrinted(double ours, const std::string& printed, int digits, double slack) {
  return std::abs(ours - std::stod(printed)) <= 0.5 * std::pow(10.0, -digits) * (1 + 1e-9) + slack;
}

}  // namespace oplens::test
