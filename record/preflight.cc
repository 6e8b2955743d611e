#include "record/preflight.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <system_error>

#include "base/error.h"
#include "record/spool/output_name.h"
#include "record/spool/spool_format.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "liboplens_record.so";

fs::path WorkingDirectory() {
  std::error_code error;
  fs::path directory = fs::current_path(error);
  if (error) {
    throw Error("the working directory", error.message(), "change into another one");
  }
  return directory;
}

void CheckFolder(const fs::path& output) {
  const fs::path folder = output.parent_path();
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw UsageError(fmt::format("-o {}: there is no folder {}: make it, or choose another",
                                 output.string(), folder.string()));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw UsageError(fmt::format("-o {}: the folder {} cannot be written: {}", output.string(),
                                 folder.string(), std::strerror(errno)));
  }
}

int64_t Nanoseconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

fs::path FindLibrary() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = program.parent_path();
  for (const char* const place : {OPLENS_LIBRARY_FOLDER, "../lib", "."}) {
    const fs::path library = folder / place / kLibrary;
    if (fs::is_regular_file(library, error)) return fs::canonical(library, error);
  }
  throw Error(kLibrary, fmt::format("is neither beside {} nor in ../lib", program.string()),
              "install oplens anew");
}

void RefuseOtherTools() {
  for (const char* const variable : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    if (fs::path(value).filename() == kLibrary) continue;
    throw UsageError(
        fmt::format("{} is set to {}: the program would be recorded by that tool; unset {}",
                    variable, value, variable));
  }
}

std::string AbsolutePattern(const std::string& pattern) {
  if (pattern.starts_with('/')) return pattern;
  std::string absolute;
  for (const char c : WorkingDirectory().string()) absolute.append(c == '%' ? 2 : 1, c);
  if (!absolute.ends_with('/')) absolute += '/';
  return absolute + pattern;
}

fs::path CheckedOutput(const std::string& absolute_pattern, int32_t process_id, bool force) {
  std::array<char, sizeof(spool::ProcessPage::output)> name{};
  // Process ids of child processes may be longer.
  constexpr int32_t kLongest = std::numeric_limits<int32_t>::max();
  if (ExpandOutputName(absolute_pattern.c_str(), kLongest, name.data(), name.size()) == 0) {
    throw UsageError(
        fmt::format("-o {}: the name is longer than {} bytes", absolute_pattern, name.size() - 1));
  }
  ExpandOutputName(absolute_pattern.c_str(), process_id, name.data(), name.size());
  const fs::path output = name.data();
  CheckFolder(output);
  std::error_code error;
  const fs::file_status status = fs::symlink_status(output, error);
  if (fs::is_directory(output, error)) {
    throw UsageError(fmt::format("-o {} is a folder: give the name of a file", output.string()));
  }
  // A dangling link may be replaced, but not a link to a device or pipe.
  const fs::file_status target = fs::status(output, error);
  const bool no_file = fs::is_symlink(status) ? fs::exists(target) && !fs::is_regular_file(target)
                                              : fs::exists(status) && !fs::is_regular_file(status);
  if (no_file) {
    throw UsageError(fmt::format("-o {} is no regular file: choose another name", output.string()));
  }
  if (fs::exists(status) && !force) {
    throw UsageError(fmt::format("-o {} is there already: give -f to replace it, or another name",
                                 output.string()));
  }
  return output;
}

int64_t ClockOffset() {
  constexpr int kReadings = 32;
  int64_t least_gap = std::numeric_limits<int64_t>::max();
  int64_t offset = 0;
  for (int i = 0; i < kReadings; ++i) {
    const int64_t before = Nanoseconds(CLOCK_MONOTONIC);
    const int64_t real = Nanoseconds(CLOCK_REALTIME);
    const int64_t gap = Nanoseconds(CLOCK_MONOTONIC) - before;
    if (gap >= least_gap) continue;
    least_gap = gap;
    offset = real - before - gap / 2;
  }
  return offset;
}

std::string LibraryOptions(const Options& options) {
  std::string words;
  const auto add = [&](const std::string& word) {
    if (!words.empty()) words += ',';
    words += word;
  };
  for (const std::string& word : options.trace) add(word);
  if (!options.from_start) add(spool::kWaitOption);
  if (options.children) add(spool::kChildrenOption);
  if (options.keep_arguments) add(spool::kArgumentsOption);
  if (options.reference) add(spool::kReferenceOption);
  return words;
}

}  // namespace oplens::record
