#include "record/process_table.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "base/parse_number.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

/// Appends the children of a process, which the system lists per thread.
void AppendChildren(int32_t process_id, std::vector<int32_t>* found) {
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("/proc/{}/task", process_id), error), end;
       !error && at != end; at.increment(error)) {
    std::ifstream children(at->path() / "children");
    for (int32_t child = 0; children >> child;) found->push_back(child);
  }
}

/// The process id in the innermost namespace.
int32_t InnermostNumber(int32_t process_id) {
  std::ifstream status(fmt::format("/proc/{}/status", process_id));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(line.find(':') + 1));
    int32_t last = 0;
    while (numbers >> last) {
    }
    return last;
  }
  return 0;
}

/// The process id in the name of a /proc folder; 0 if it is none.
int32_t NumberOf(const fs::path& folder) {
  const std::string name = folder.filename().string();
  int32_t number = 0;
  ParseNumber(name, &number);
  return number;
}

}  // namespace

bool IsAlive(const ProcessIdentity& identity) {
  if (identity.process_id <= 0) return false;
  const uint64_t here = OwnIdentity().pid_namespace;
  if (identity.pid_namespace == 0 || identity.pid_namespace == here) {
    return IsSameProcess(IdentityOf(identity.process_id), identity);
  }
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const int32_t number = NumberOf(at->path());
    if (number <= 0) continue;
    const ProcessIdentity found = IdentityOf(number);
    if (found.pid_namespace == identity.pid_namespace &&
        found.start_ticks == identity.start_ticks &&
        InnermostNumber(number) == identity.process_id) {
      return true;
    }
  }
  return false;
}

bool MapsFile(int32_t process_id, std::string_view path) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process_id));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

bool IsOfOtherUser(int32_t process_id) {
  struct stat facts {};
  return ::stat(fmt::format("/proc/{}", process_id).c_str(), &facts) == 0 &&
         facts.st_uid != ::geteuid();
}

bool HasNoDescriptorLeft(int32_t process_id) {
  rlimit limit;
  if (::prlimit(process_id, RLIMIT_NOFILE, nullptr, &limit) != 0) return false;
  rlim_t used = 0;
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("/proc/{}/fd", process_id), error), end;
       !error && at != end; at.increment(error)) {
    // Descriptors above a limit that was lowered later do not count.
    if (std::stoull(at->path().filename().string()) < limit.rlim_cur) ++used;
  }
  return used > 0 && used == limit.rlim_cur;
}

std::vector<int32_t> Descendants() {
  // Processes come and go meanwhile: an id may be seen twice, so bound the loop.
  constexpr size_t kMost = 100'000;
  std::vector<int32_t> found;
  AppendChildren(::getpid(), &found);
  for (size_t i = 0; i < found.size() && found.size() < kMost; ++i) {
    AppendChildren(found[i], &found);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace oplens::record
