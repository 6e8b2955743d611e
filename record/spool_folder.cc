#include "record/spool_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "record/durable_file.h"
#include "record/image_conversion.h"
#include "record/process_table.h"
#include "record/spool/spool_format.h"

namespace oplens::record {
namespace {

constexpr char kFile[] = "session";
/// The last line; without it the file may be truncated.
constexpr char kEnd[] = "end";

/// Values may contain any byte; line feeds are escaped as \n.
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

/// The contents of a regular file of limited size, else "". Does not block on what others put
/// there.
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

/// Whether the essential values are there.
bool IsWhole(const Session& session) {
  return BeginsWithNumber(ValueOf(session, "version")) &&
         BeginsWithNumber(ValueOf(session, "program"));
}

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".spool";
constexpr char kProcessFile[] = "process";
constexpr char kProgramName[] = "program";

template <size_t kSize>
void CopyText(const std::string& text, char (&to)[kSize]) {
  text.copy(to, kSize - 1);
}

/// The pages of all images; unknown if missing or damaged.
std::vector<PageFacts> PagesIn(const fs::path& spool) {
  std::vector<PageFacts> pages;
  for (const ImageFolder& image : ListImages(spool)) pages.push_back(ReadPage(image.path));
  return pages;
}

bool StillWrites(const ImageFolder& image, const PageFacts& facts) {
  if (facts.known && facts.state != spool::ProcessState::kRunning) return false;
  return IsLocked(image.path / kProcessFile) || IsAlive(facts.identity);
}

std::vector<ProcessIdentity> RunningIn(const fs::path& spool) {
  std::vector<ProcessIdentity> running;
  for (const ImageFolder& image : ListImages(spool)) {
    PageFacts facts = ReadPage(image.path);
    if (!StillWrites(image, facts)) continue;
    facts.identity.process_id = static_cast<int32_t>(image.process_id);
    running.push_back(facts.identity);
  }
  // The program may not have made its first range yet.
  const ProcessIdentity program = ProgramOf(ReadSession(spool));
  if (IsAlive(program)) running.push_back(program);
  std::sort(running.begin(), running.end());
  running.erase(std::unique(running.begin(), running.end()), running.end());
  return running;
}

void RefuseRunning(const fs::path& spool) {
  // A process that was just killed takes a moment to vanish.
  constexpr int kLooks = 10;
  std::vector<ProcessIdentity> running = RunningIn(spool);
  for (int look = 1; look < kLooks && !running.empty(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    running = RunningIn(spool);
  }
  if (running.empty()) return;
  const ProcessIdentity& first = running.front();
  const bool is_here = first.pid_namespace == OwnIdentity().pid_namespace;
  throw Error(spool.string(),
              fmt::format("process {}{} still runs, and may write into it", first.process_id,
                          is_here ? "" : " (its number in its container)"),
              "wait for its end, or end it");
}

/// Does not read or remove what other users put under that name.
void RefuseForeign(const fs::path& spool) {
  struct stat facts {};
  if (::lstat(spool.c_str(), &facts) != 0) {
    throw Error(spool.string(), std::strerror(errno), "check the name");
  }
  constexpr char kAdvice[] = "choose another name with -o";
  if (!S_ISDIR(facts.st_mode)) throw Error(spool.string(), "is there and no folder", kAdvice);
  if (facts.st_uid != ::geteuid()) {
    throw Error(spool.string(), fmt::format("belongs to another user, number {}", facts.st_uid),
                kAdvice);
  }
}

/// Refuses a user's folder that happens to have the name.
void RefuseOthers(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (IsOfSpool(name)) continue;
    throw UsageError(
        fmt::format("{} is no recording: it holds {}; choose another name with -o, or move it away",
                    path.string(), name));
  }
}

void MakeFolder(const fs::path& path, bool force) {
  if (::mkdir(path.c_str(), 0700) == 0) return;
  if (errno != EEXIST) {
    throw Error(path.string(), fmt::format("cannot be made: {}", std::strerror(errno)),
                "choose a place that can be written with -o");
  }
  RefuseForeign(path);
  RefuseOthers(path);
  const SpoolLock lock(path);
  if (!force) {
    throw UsageError(
        fmt::format("{} holds a recording that was interrupted: make its database with "
                    "`record --recover {}`; -f would discard it",
                    path.string(), SpoolFolder::OutputOf(path).string()));
  }
  RefuseRunning(path);
  try {
    lock.Remove();
  } catch (const fs::filesystem_error& error) {
    throw Error(path.string(), fmt::format("cannot be replaced: {}", error.code().message()),
                "choose another name with -o");
  }
  if (::mkdir(path.c_str(), 0700) != 0) {
    throw Error(path.string(), fmt::format("cannot be made: {}", std::strerror(errno)),
                "choose another name with -o");
  }
}

/// Creates a folder with an unused image number; some images may have no page.
fs::path MakeImageFolder(const fs::path& spool, int32_t process_id) {
  constexpr int kMostImages = 10'000;
  for (int image = 0; image < kMostImages; ++image) {
    const fs::path folder = spool / fmt::format("{}.{}", process_id, image);
    if (::mkdir(folder.c_str(), 0700) == 0) return folder;
    if (errno != EEXIST) break;
  }
  throw Error((spool / std::to_string(process_id)).string(),
              fmt::format("cannot be made: {}", std::strerror(errno)),
              "free some space or choose another place with -o");
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
  SyncPath(spool.parent_path());  // The folder entry of the spool itself.
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

SpoolFolder::SpoolFolder(fs::path path, SpoolLock lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

fs::path SpoolFolder::PathFor(const fs::path& output) {
  return output.string() + std::string(kSuffix);
}

fs::path SpoolFolder::OutputOf(const fs::path& spool) {
  std::string name = spool.string();
  if (fs::path(spool).filename().string().size() > kSuffix.size() && name.ends_with(kSuffix)) {
    name.resize(name.size() - kSuffix.size());
  }
  return name;
}

SpoolFolder SpoolFolder::Create(const fs::path& output, bool force) {
  const fs::path path = PathFor(output);
  MakeFolder(path, force);
  return {path, SpoolLock(path)};
}

SpoolFolder SpoolFolder::Take(const fs::path& spool) {
  RefuseForeign(spool);
  SpoolFolder folder(spool, SpoolLock(spool));
  RefuseRunning(spool);
  return folder;
}

bool SpoolFolder::HasProcess(const ProcessIdentity& process) const {
  const std::vector<PageFacts> pages = PagesIn(path_);
  return std::any_of(pages.begin(), pages.end(), [&](const PageFacts& page) {
    return page.known && IsSameProcess(page.identity, process);
  });
}

bool SpoolFolder::HasProcesses() const {
  const std::vector<PageFacts> pages = PagesIn(path_);
  return std::any_of(pages.begin(), pages.end(), [](const PageFacts& page) { return page.known; });
}

bool SpoolFolder::HasFailedProcess() const {
  const std::vector<ImageFolder> images = ListImages(path_);
  return std::any_of(images.begin(), images.end(), [](const ImageFolder& image) {
    return !ReadPage(image.path).known && ListStreams(image.path).empty();
  });
}

int SpoolFolder::ErrorOfFailedProcess() const {
  std::error_code error;
  for (fs::recursive_directory_iterator at(path_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(spool::kErrorPrefix)) continue;
    const char* const digits = name.data() + std::strlen(spool::kErrorPrefix);
    int number = 0;
    std::from_chars(digits, name.data() + name.size(), number);
    if (number > 0) return number;
  }
  return 0;
}

void SpoolFolder::AddUnseenProcess(const ProcessIdentity& process, const std::string& output,
                                   const std::string& command) const {
  const fs::path folder = MakeImageFolder(path_, process.process_id);
  const auto page = std::make_unique<spool::ProcessPage>();
  std::copy(std::begin(spool::kProcessMagic), std::end(spool::kProcessMagic), page->magic);
  page->version = spool::kVersion;
  page->process_id = process.process_id;
  page->pid_namespace = process.pid_namespace;
  page->start_ticks = process.start_ticks;
  page->state = spool::ProcessState::kEnded;
  CopyText(output, page->output);
  CopyText(command, page->command);
  std::string bytes(spool::kProcessPageBytes, '\0');
  std::memcpy(bytes.data(), page.get(), sizeof *page);
  WriteDurably(folder / kProcessFile, bytes);
}

std::vector<ProcessIdentity> SpoolFolder::RunningProcesses() const { return RunningIn(path_); }

void SpoolFolder::Remove() {
  try {
    lock_.Remove();
  } catch (const fs::filesystem_error&) {  // What is left wastes disk space but is harmless.
  }
}

void SetProgram(const ProcessIdentity& program, Session* session) {
  std::array<char, 64> text{};
  FormatIdentity(program, text.data(), text.size());
  (*session)[kProgramName] = text.data();
}

ProcessIdentity ProgramOf(const Session& session) {
  return ParseIdentity(ValueOf(session, kProgramName).c_str());
}

}  // namespace oplens::record
