#include "record/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>
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

/// Of a plain file that is not too large; else "". What somebody else put there is not waited for.
std::string TextOf(const std::filesystem::path& path) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return "";
  std::string text;
  struct stat facts {};
  if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
      static_cast<size_t>(facts.st_size) <= kMostBytes) {
    text.resize(static_cast<size_t>(facts.st_size));
    const ssize_t got = ::read(fd, text.data(), text.size());
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  }
  ::close(fd);
  return text;
}

bool BeginsWithNumber(const std::string& text) {
  return !text.empty() && text.front() >= '1' && text.front() <= '9';
}

/// Whether what everything hangs on is there.
bool IsWhole(const Session& session) {
  return BeginsWithNumber(ValueOf(session, "version")) &&
         BeginsWithNumber(ValueOf(session, "program"));
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
  std::istringstream file(TextOf(spool / kFile));
  std::string line;
  while (std::getline(file, line)) {
    if (line == kEnd) return IsWhole(session) ? session : Session();
    const size_t equals = line.find('=');
    if (equals == std::string::npos) break;
    session[line.substr(0, equals)] = Unescaped(std::string_view(line).substr(equals + 1));
  }
  return {};
}

}  // namespace oplens::record
