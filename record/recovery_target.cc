#include "record/recovery_target.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "record/preflight.h"
#include "record/spool/output_name.h"
#include "record/spool_folder.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

std::string Expand(const std::string& pattern, int32_t process_id) {
  std::array<char, 4096> name{};
  ExpandOutputName(pattern.c_str(), process_id, name.data(), name.size());
  return name.data();
}

/// A folder of ours: what others left is not looked into.
bool IsOwnFolder(const fs::path& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

/// The one spool in a folder of which `is_it` is true; empty: there is none.
fs::path OnlySpool(const fs::path& folder, const std::string& name,
                   const std::function<bool(const fs::path&)>& is_it) {
  std::vector<fs::path> spools;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    if (SpoolFolder::OutputOf(path) != path && IsOwnFolder(path) && is_it(path)) {
      spools.push_back(path);
    }
  }
  if (spools.size() > 1) {
    throw Error(name,
                fmt::format("{} recordings have that name, {} for one", spools.size(),
                            std::min_element(spools.begin(), spools.end())->string()),
                "give --recover one of the folders NAME.spool");
  }
  return spools.empty() ? fs::path() : spools.front();
}

[[noreturn]] void ThrowNone(const fs::path& output, const fs::path& spool) {
  std::error_code error;
  throw Error(output.string(), fmt::format("there is no {}", spool.string()),
              fs::exists(output, error) ? "the recording is complete: nothing is to be recovered"
                                        : "check the name: it is that of record -o");
}

}  // namespace

RecoveryTarget::RecoveryTarget(const std::string& name) : name_(name) {
  while (name_.size() > 1 && name_.ends_with('/')) name_.pop_back();
  if (TakeLiteral(fs::absolute(name_))) return;
  if (HasSequences(name_.c_str())) {
    TakePattern(AbsolutePattern(name_));
  } else {
    FindByProcess(fs::absolute(name_));
  }
}

bool RecoveryTarget::TakeLiteral(const fs::path& path) {
  output_ = SpoolFolder::OutputOf(path);
  spool_ = SpoolFolder::PathFor(output_);
  std::error_code error;
  return fs::exists(fs::symlink_status(spool_, error));
}

void RecoveryTarget::TakePattern(const std::string& pattern) {
  const size_t slash = pattern.rfind('/');
  const std::string folder = pattern.substr(0, slash + 1);
  if (NamesProcess(folder.c_str())) {
    throw Error(name_, "has %p in the name of a folder", "give --recover the folder NAME.spool");
  }
  folder_ = Expand(folder, 0);
  base_ = pattern.substr(slash + 1);
  // The spool has the name of the program's own database.
  spool_ = OnlySpool(folder_, name_, [this](const fs::path& spool) {
    const std::string own = SpoolFolder::OutputOf(spool).filename().string();
    const auto fits = [&](int32_t process_id) {
      return MatchesOutputName(base_.c_str(), process_id, own.c_str());
    };
    if (fits(ProgramOf(ReadSession(spool)).process_id)) return true;
    const std::vector<ImageFolder> images = ListImages(spool);
    return std::any_of(images.begin(), images.end(), [&](const ImageFolder& image) {
      return fits(static_cast<int32_t>(image.process_id));
    });
  });
  if (spool_.empty()) ThrowNone(name_, SpoolFolder::PathFor(folder_ / base_));
}

void RecoveryTarget::FindByProcess(const fs::path& output) {
  const fs::path found = OnlySpool(output.parent_path(), name_, [&](const fs::path& spool) {
    const std::vector<ImageFolder> images = ListImages(spool);
    return std::any_of(images.begin(), images.end(), [&](const ImageFolder& image) {
      return fs::path(ReadPage(image.path).output).filename() == output.filename();
    });
  });
  if (found.empty()) ThrowNone(output, spool_);
  spool_ = found;
}

std::string RecoveryTarget::OutputOf(const PageFacts& facts) const {
  if (!is_pattern()) return output_.string();
  const int32_t process_id = facts.identity.process_id;
  std::string own = fs::path(facts.output).filename().string();
  if (own.empty()) own = Expand(base_, process_id);  // Its page is damaged.
  const bool fits = MatchesOutputName(base_.c_str(), process_id, own.c_str());
  return fits ? (folder_ / own).string() : "";
}

}  // namespace oplens::record
