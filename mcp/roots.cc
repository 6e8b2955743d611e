#include "mcp/roots.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/shown_text.h"
#include "base/size_text.h"

namespace oplens::mcp {
namespace {

namespace fs = std::filesystem;

/// A folder with more files than this is no run.
constexpr size_t kMostFiles = 20'000;

/// "" if it is not there.
std::string Resolve(const fs::path& path) {
  std::error_code failed;
  const fs::path resolved = fs::canonical(path, failed);
  return failed ? std::string() : resolved.string();
}

Error Refused(const std::string& path, std::string_view problem, std::string_view advice) {
  return Error(prof::ShownText(path), problem, advice);
}

}  // namespace

Roots::Roots(const std::vector<std::string>& folders, int64_t most_bytes)
    : most_bytes_(most_bytes) {
  for (const std::string& folder : folders) {
    std::string resolved = Resolve(folder);
    std::error_code failed;
    if (resolved.empty() || !fs::is_directory(resolved, failed)) {
      throw Error(folder, "is not a folder", "give one that is there with --root");
    }
    folders_.push_back(std::move(resolved));
  }
}

bool Roots::Holds(const std::string& resolved) const {
  return std::ranges::any_of(folders_, [&](const std::string& root) {
    if (root == "/" || resolved == root) return true;
    return resolved.starts_with(root) && resolved[root.size()] == '/';
  });
}

Place Roots::Find(const std::string& path) const {
  if (path.empty() || path.find('\0') != std::string::npos) {
    throw UsageError("path: name a file or folder");
  }
  Place place;
  place.named = path;
  if (fs::path(path).is_absolute()) {
    place.resolved = Resolve(path);
  } else {
    for (const std::string& root : folders_) {
      place.resolved = Resolve(fs::path(root) / path);
      if (!place.resolved.empty() && Holds(place.resolved)) break;
    }
  }
  // What is outside and what is not there look alike from outside.
  if (place.resolved.empty() || !Holds(place.resolved)) {
    throw Refused(path, "is not below the folders that this server may read",
                  "start it with another --root, or name a file below them");
  }
  AddFiles(&place);
  return place;
}

void Roots::AddFiles(Place* place) const {
  const auto add = [&](const std::string& file) {
    struct stat facts {};
    if (::stat(file.c_str(), &facts) != 0) return false;
    if (S_ISDIR(facts.st_mode)) return false;
    if (!S_ISREG(facts.st_mode)) {
      if (place->is_folder) return false;  // It is not read.
      throw Refused(place->named, "is no file: a pipe, a socket or a device",
                    "save what it gives in a file");
    }
    place->files.push_back(file);
    place->bytes += facts.st_size;
    return true;
  };
  std::error_code failed;
  place->is_folder = fs::is_directory(place->resolved, failed);
  if (!place->is_folder) {
    add(place->resolved);
  } else {
    fs::recursive_directory_iterator entries(place->resolved,
                                             fs::directory_options::skip_permission_denied, failed);
    for (; !failed && entries != fs::recursive_directory_iterator(); entries.increment(failed)) {
      std::error_code ignored;
      if (entries->is_symlink(ignored)) {
        const std::string target = Resolve(entries->path());
        if (!target.empty() && !Holds(target)) {
          throw Refused(place->named, "holds a link to what this server may not read",
                        "name the files one by one");
        }
      }
      add(entries->path().string());
      if (place->files.size() > kMostFiles) {
        throw Refused(place->named, fmt::format("holds more than {} files", kMostFiles),
                      "name a smaller folder");
      }
    }
    std::ranges::sort(place->files);
  }
  if (place->bytes > most_bytes_) {
    throw Refused(place->named,
                  fmt::format("has {} bytes, more than the {} that this server reads", place->bytes,
                              most_bytes_),
                  "use oplens itself, or start the server with a larger --max-file");
  }
}

}  // namespace oplens::mcp
