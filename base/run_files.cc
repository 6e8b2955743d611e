#include "base/run_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace oplens {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardOutput = "standard output";

bool IsStandardOutput(const std::string& path) { return path.empty() || path == "-"; }

/// The identity of an existing file; "" for a device, pipe or folder.
std::string IdentityOfStat(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return "";
  return fmt::format("{}:{}", info.st_dev, info.st_ino);
}

/// The identity of a file that does not exist yet: its resolved folder and its name, with symbolic
/// links followed.
std::string IdentityOfNewFile(const std::string& path) {
  constexpr int kMostLinks = 40;  // The limit of Linux.
  fs::path place(path);
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(place, error)); ++i) {
    // An absolute target replaces the folder.
    place = place.parent_path() / fs::read_symlink(place, error);
  }
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  fs::path canonical = fs::weakly_canonical(folder, error);
  if (error) canonical = fs::absolute(folder, error).lexically_normal();
  return (canonical / place.filename()).string();
}

/// An id that all names of a file share; "" if nothing can be overwritten.
std::string IdentityOfFile(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return IdentityOfStat(info);
  return IdentityOfNewFile(path);
}

std::string IdentityOfStandardOutput() {
  struct stat info {};
  if (::fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode)) return IdentityOfStat(info);
  return std::string(kStandardOutput);
}

}  // namespace

void RunFiles::Read(const std::string& path, std::string_view what) {
  struct stat info {};
  if (path.empty() || path == "-" || ::stat(path.c_str(), &info) != 0) return;
  std::string identity = IdentityOfStat(info);
  if (!identity.empty()) read_.try_emplace(identity, File{identity, std::string(what)});
}

void RunFiles::Read(const std::vector<std::string>& paths, std::string_view what) {
  for (const std::string& path : paths) Read(path, what);
}

void RunFiles::Write(const std::string& path, std::string_view option) {
  const bool standard = IsStandardOutput(path);
  std::string identity = standard ? IdentityOfStandardOutput() : IdentityOfFile(path);
  if (identity.empty()) return;
  written_.push_back({std::move(identity), standard ? std::string(kStandardOutput)
                                                    : fmt::format("{} {}", option, path)});
}

void RunFiles::RefuseOverwriting() const {
  std::unordered_map<std::string_view, const File*> first;
  for (const File& output : written_) {
    if (const auto input = read_.find(output.identity); input != read_.end()) {
      throw UsageError(
          fmt::format("{} is {} itself: name another file", output.name, input->second.name));
    }
    const auto [same, fresh] = first.try_emplace(output.identity, &output);
    if (fresh) continue;
    throw UsageError(
        fmt::format("{} and {} are the same: name two files", same->second->name, output.name));
  }
}

}  // namespace oplens
