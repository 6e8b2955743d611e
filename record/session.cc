#include "record/session.h"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

#include "record/durable_file.h"

namespace oplens::record {
namespace {

constexpr char kFile[] = "session";
/// The last line: without it the rest may be cut.
constexpr char kEnd[] = "end";

/// Values may hold any byte: lines end at line feeds, so those are written as \n.
std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\') {
      text += "\\\\";
    } else if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

std::string Unescaped(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      value += text[i];
      continue;
    }
    ++i;
    value += text[i] == 'n' ? '\n' : text[i];
  }
  return value;
}

}  // namespace

std::string ValueOf(const Session& session, const std::string& name) {
  const auto place = session.find(name);
  return place == session.end() ? "" : place->second;
}

void WriteSession(const std::filesystem::path& spool, const Session& session) {
  std::string text;
  for (const auto& [name, value] : session) text += fmt::format("{}={}\n", name, Escaped(value));
  text += fmt::format("{}\n", kEnd);
  WriteDurably(spool / kFile, text);
  SyncPath(spool.parent_path());  // The folder of the spool itself.
}

Session ReadSession(const std::filesystem::path& spool) {
  Session session;
  std::ifstream file(spool / kFile, std::ios::binary);
  std::string line;
  while (std::getline(file, line)) {
    if (line == kEnd) return session;
    const size_t equals = line.find('=');
    if (equals == std::string::npos) break;
    session[line.substr(0, equals)] = Unescaped(std::string_view(line).substr(equals + 1));
  }
  return {};
}

}  // namespace oplens::record
