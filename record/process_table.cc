#include "record/process_table.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

/// Appends the children of a process, which the system keeps for each of its threads.
void AppendChildren(int32_t process_id, std::vector<int32_t>* found) {
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("/proc/{}/task", process_id), error), end;
       !error && at != end; at.increment(error)) {
    std::ifstream children(at->path() / "children");
    for (int32_t child = 0; children >> child;) found->push_back(child);
  }
}

}  // namespace

bool MapsFile(int32_t process_id, std::string_view path) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process_id));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

bool HasNoDescriptorLeft(int32_t process_id) {
  rlimit limit;
  if (::prlimit(process_id, RLIMIT_NOFILE, nullptr, &limit) != 0) return false;
  rlim_t used = 0;
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("/proc/{}/fd", process_id), error), end;
       !error && at != end; at.increment(error)) {
    // Those above a limit that was lowered later do not count.
    if (std::stoull(at->path().filename().string()) < limit.rlim_cur) ++used;
  }
  return used > 0 && used == limit.rlim_cur;
}

std::vector<int32_t> Descendants() {
  // Processes come and go meanwhile: a number may be seen twice, but not without end.
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
