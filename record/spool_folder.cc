#include "record/spool_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "record/image_conversion.h"
#include "record/process_table.h"
#include "record/spool/spool_format.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".spool";
constexpr char kLockFile[] = "lock";
constexpr char kSessionFile[] = "session";
constexpr char kProcessFile[] = "process";

enum class Lock { kTaken, kBusy };

/// Locks the folder as long as the descriptor is open. File systems without locks are let through.
Lock LockFolder(const fs::path& folder, int* descriptor) {
  *descriptor = ::open((folder / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (*descriptor < 0) return Lock::kTaken;
  if (::flock(*descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return Lock::kTaken;
  ::close(std::exchange(*descriptor, -1));
  return Lock::kBusy;
}

[[noreturn]] void ThrowBusy(const fs::path& folder) {
  throw Error(folder.string(), "belongs to a recording that still runs",
              "wait for its end, or choose another name with -o");
}

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

/// The process id of a folder "PID.N" of a process image.
std::optional<int32_t> ProcessOfFolder(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  int32_t process_id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + dot, process_id);
  if (error != std::errc() || end != name.data() + dot || process_id <= 0) return std::nullopt;
  return process_id;
}

/// The state that the library wrote, if it wrote one.
std::optional<spool::ProcessState> StateOf(const fs::path& process_file) {
  const int fd = ::open(process_file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  alignas(spool::ProcessPage) std::array<char, spool::kProcessPageBytes> bytes{};
  const ssize_t n = ::read(fd, bytes.data(), bytes.size());
  ::close(fd);
  if (n < static_cast<ssize_t>(sizeof(spool::ProcessPage))) return std::nullopt;
  if (std::memcmp(bytes.data(), spool::kProcessMagic, sizeof spool::kProcessMagic) != 0) {
    return std::nullopt;
  }
  return reinterpret_cast<const spool::ProcessPage*>(bytes.data())->state.load();
}

template <size_t kSize>
void CopyText(const std::string& text, char (&to)[kSize]) {
  text.copy(to, kSize - 1);
}

void WriteWhole(const fs::path& file, std::string_view bytes) {
  const fs::path partial = file.string() + ".part";
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  if (out) fs::rename(partial, file, error);
  if (!out || error) {
    throw Error(file.string(), fmt::format("cannot be written: {}", std::strerror(errno)),
                "free some space or choose another place with -o");
  }
}

/// Whether the folder of a process has a page that was completed.
bool HasPage(const fs::path& folder) {
  std::ifstream file(folder / kProcessFile, std::ios::binary);
  char magic[sizeof spool::kProcessMagic] = {};
  file.read(magic, sizeof magic);
  return file && std::memcmp(magic, spool::kProcessMagic, sizeof magic) == 0;
}

std::vector<int32_t> RunningProcessesIn(const fs::path& spool) {
  std::vector<int32_t> running;
  std::error_code error;
  const std::string mapped = fs::canonical(spool, error).string() + "/";
  if (error) return running;
  for (fs::directory_iterator at(spool, error), end; !error && at != end; at.increment(error)) {
    const std::optional<int32_t> process_id = ProcessOfFolder(at->path().filename().string());
    if (!process_id || StateOf(at->path() / kProcessFile) != spool::ProcessState::kRunning)
      continue;
    if (MapsFile(*process_id, mapped)) running.push_back(*process_id);
  }
  std::sort(running.begin(), running.end());
  running.erase(std::unique(running.begin(), running.end()), running.end());
  return running;
}

void RefuseRunning(const fs::path& spool, const std::vector<int32_t>& running) {
  if (running.empty()) return;
  throw Error(spool.string(), fmt::format("process {} still writes into it", running.front()),
              "wait for its end, or end it");
}

Session SessionIn(const fs::path& spool) {
  Session session;
  std::ifstream file(spool / kSessionFile, std::ios::binary);
  std::string line;
  while (std::getline(file, line)) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    session[line.substr(0, equals)] = Unescaped(std::string_view(line).substr(equals + 1));
  }
  return session;
}

/// Whether the recording was started with `output` as its name, or one of its processes has that
/// as its database.
bool Makes(const fs::path& spool, const std::string& output) {
  const Session session = SessionIn(spool);
  const auto given = session.find("output");
  if (given != session.end() && given->second == output) return true;
  std::error_code error;
  for (fs::directory_iterator at(spool, error), end; !error && at != end; at.increment(error)) {
    if (!ProcessOfFolder(at->path().filename().string())) continue;
    if (ReadPage(at->path()).output == output) return true;
  }
  return false;
}

void MakeFolder(const fs::path& path, bool force) {
  if (::mkdir(path.c_str(), 0700) == 0) return;
  if (errno != EEXIST) {
    throw Error(path.string(), fmt::format("cannot be made: {}", std::strerror(errno)),
                "choose a place that can be written with -o");
  }
  int lock = -1;
  if (LockFolder(path, &lock) == Lock::kBusy) ThrowBusy(path);
  // The lock is given up with the file, which is gone then.
  if (lock >= 0) ::close(lock);
  if (!force) {
    const std::string output = path.string().substr(0, path.string().size() - sizeof kSuffix + 1);
    throw UsageError(
        fmt::format("{} holds a recording that was interrupted: make its database with "
                    "`record --recover {}`, or discard it with -f",
                    path.string(), output));
  }
  RefuseRunning(path, RunningProcessesIn(path));
  std::error_code error;
  fs::remove_all(path, error);
  if (error || ::mkdir(path.c_str(), 0700) != 0) {
    throw Error(path.string(), fmt::format("cannot be replaced: {}", std::strerror(errno)),
                "remove it");
  }
}

}  // namespace

SpoolFolder::SpoolFolder(fs::path path, int lock) : path_(std::move(path)), lock_(lock) {}

SpoolFolder::~SpoolFolder() {
  if (lock_ >= 0) ::close(lock_);
}

SpoolFolder::SpoolFolder(SpoolFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

fs::path SpoolFolder::PathFor(const fs::path& output) { return output.string() + kSuffix; }

SpoolFolder SpoolFolder::Create(const fs::path& output, bool force) {
  const fs::path path = PathFor(output);
  MakeFolder(path, force);
  int lock = -1;
  if (LockFolder(path, &lock) == Lock::kBusy) ThrowBusy(path);
  return {path, lock};
}

std::vector<fs::path> SpoolFolder::Find(const fs::path& output) {
  std::vector<fs::path> spools;
  std::error_code error;
  const fs::path folder = output.parent_path();
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == kSuffix && Makes(at->path(), output.string())) {
      spools.push_back(at->path());
    }
  }
  std::sort(spools.begin(), spools.end());
  return spools;
}

SpoolFolder SpoolFolder::Take(const fs::path& output) {
  fs::path path = PathFor(output);
  std::error_code error;
  if (!fs::exists(path, error)) {
    const std::vector<fs::path> spools = Find(output);
    if (spools.size() > 1) {
      throw Error(output.string(),
                  fmt::format("{} recordings have that name, {} for one", spools.size(),
                              spools.front().string()),
                  "give --recover one of the folders NAME.spool");
    }
    if (spools.size() == 1) path = spools.front();
  }
  if (!fs::is_directory(path, error)) {
    throw Error(output.string(), fmt::format("there is no {}", path.string()),
                fs::exists(output, error) ? "the recording is complete: nothing is to be recovered"
                                          : "check the name: it is that of record -o");
  }
  int lock = -1;
  if (LockFolder(path, &lock) == Lock::kBusy) ThrowBusy(path);
  SpoolFolder folder(path, lock);
  RefuseRunning(path, folder.RunningProcesses());
  return folder;
}

void SpoolFolder::WriteSession(const Session& session) const {
  std::string text;
  for (const auto& [name, value] : session) {
    text += fmt::format("{}={}\n", name, Escaped(value));
  }
  WriteWhole(path_ / kSessionFile, text);
}

Session SpoolFolder::ReadSession() const { return SessionIn(path_); }

std::vector<int32_t> SpoolFolder::Processes(bool with_page) const {
  std::vector<int32_t> processes;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    const std::optional<int32_t> process_id = ProcessOfFolder(at->path().filename().string());
    if (process_id && HasPage(at->path()) == with_page) processes.push_back(*process_id);
  }
  return processes;
}

bool SpoolFolder::HasProcess(int32_t process_id) const {
  const std::vector<int32_t> processes = Processes(true);
  return std::find(processes.begin(), processes.end(), process_id) != processes.end();
}

bool SpoolFolder::HasProcesses() const { return !Processes(true).empty(); }

bool SpoolFolder::HasFailedProcess() const { return !Processes(false).empty(); }

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

void SpoolFolder::AddUnseenProcess(int32_t process_id, const std::string& output,
                                   const std::string& command) const {
  fs::path folder = path_ / fmt::format("{}.0", process_id);
  // There may be folders of images that could not even make their page.
  constexpr int kMostImages = 10'000;
  int made = ::mkdir(folder.c_str(), 0700);
  for (int image = 1; made != 0 && errno == EEXIST && image < kMostImages; ++image) {
    folder = path_ / fmt::format("{}.{}", process_id, image);
    made = ::mkdir(folder.c_str(), 0700);
  }
  if (made != 0) {
    throw Error(folder.string(), fmt::format("cannot be made: {}", std::strerror(errno)),
                "free some space or choose another place with -o");
  }
  const auto page = std::make_unique<spool::ProcessPage>();
  std::copy(std::begin(spool::kProcessMagic), std::end(spool::kProcessMagic), page->magic);
  page->version = spool::kVersion;
  page->process_id = process_id;
  page->state = spool::ProcessState::kEnded;
  CopyText(output, page->output);
  CopyText(command, page->command);
  std::string bytes(spool::kProcessPageBytes, '\0');
  std::memcpy(bytes.data(), page.get(), sizeof *page);
  WriteWhole(folder / kProcessFile, bytes);
}

std::vector<int32_t> SpoolFolder::RunningProcesses() const { return RunningProcessesIn(path_); }

void SpoolFolder::Remove() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace oplens::record
