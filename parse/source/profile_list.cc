#include "parse/source/profile_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "base/ascii.h"
#include "base/error.h"
#include "parse/source/file_kind.h"

namespace oplens::parse {
namespace {

namespace fs = std::filesystem;

/// Length of the run of digits that starts at `i`.
size_t DigitsAt(const std::string& text, size_t i) {
  size_t end = i;
  while (end < text.size() && IsDigit(text[end])) ++end;
  return end - i;
}

/// Compares two runs of digits as numbers of any size: less, equal, greater than 0.
int CompareNumbers(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

constexpr std::string_view kSpool = ".spool";

/// The entries of a folder, unordered; `error` says why some are missing.
std::vector<fs::path> EntriesOf(const fs::path& folder, std::error_code* error) {
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, *error), end; !*error && it != end; it.increment(*error)) {
    entries.push_back(it->path());
  }
  return entries;
}

/// The database of a spool, a folder that `record` leaves when it is killed; "" if it is none.
std::string DatabaseOfSpool(const fs::path& folder) {
  const fs::path path = folder.has_filename() ? folder : folder.parent_path();
  std::error_code error;
  if (path.extension() != kSpool || !fs::is_directory(path, error)) return "";
  return (path.parent_path() / path.stem()).string();
}

[[noreturn]] void ThrowSpool(const std::string& path, const std::string& database) {
  std::error_code error;
  if (fs::exists(database, error)) {
    throw Error(path, "holds what is left of a recording, not a profile",
                fmt::format("give its database, {}", database));
  }
  throw Error(path, "the recording was interrupted, or still runs",
              fmt::format("run `record --recover {}`", database));
}

/// Returns the first spool among the entries of a folder for which `is_it` holds.
template <typename F>
std::string FindSpool(const fs::path& folder, F is_it) {
  std::error_code error;
  std::vector<fs::path> entries = EntriesOf(folder, &error);
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    const std::string database = DatabaseOfSpool(entry);
    if (!database.empty() && is_it(entry)) return database;
  }
  return "";
}

bool IsOfOplens(const std::string& name) {
  return name.ends_with(".oplens") || name.ends_with(kSpool);
}

bool IsProvenanceName(std::string_view name) {
  return std::any_of(std::begin(kProvenanceNames), std::end(kProvenanceNames),
                     [&](const ProvenanceName& known) { return known.name == name; });
}

/// Counts an entry that is no profile.
void Skip(const fs::path& path, SkippedEntries* skipped) {
  const std::string name = path.filename().string();
  if (name.starts_with('.') || IsOfOplens(name) || IsProvenanceName(name)) return;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    ++skipped->folders;
  } else {
    skipped->files.push_back(name);
  }
}

std::vector<std::string> ProfilesIn(const std::string& folder, SkippedEntries* skipped) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::path& path : EntriesOf(folder, &error)) {
    const std::string name = path.filename().string();
    std::error_code ignored;
    const bool hidden = name.starts_with('.');
    // A dangling link is a rank whose file is lost; reading it reports that.
    const bool lost = fs::is_symlink(path, ignored) && !fs::exists(path, ignored);
    if (!hidden && HasProfileName(name) && (lost || fs::is_regular_file(path, ignored))) {
      names.push_back(name);
    } else if (skipped != nullptr) {
      Skip(path, skipped);
    }
  }
  if (error) {
    throw Error(folder, fmt::format("cannot be listed: {}", error.message()),
                "check its permissions");
  }
  if (names.empty()) {
    if (const std::string own = DatabaseOfSpool(folder); !own.empty()) ThrowSpool(folder, own);
    const std::string inside = FindSpool(folder, [](const fs::path&) { return true; });
    if (!inside.empty()) ThrowSpool(inside + std::string(kSpool), inside);
    throw Error(folder, "is a folder that holds no profile",
                "give the profiles themselves; of a folder, files count whose names end with "
                ".sqlite, .json, .json.gz and the like");
  }
  std::sort(names.begin(), names.end(), NaturalLess);
  return names;
}

/// Lists each file once.
class Lister {
 public:
  void Add(const std::string& path, bool from_folder) {
    if (seen_.insert(IdentityOf(path)).second) inputs_.push_back({path, {}, from_folder});
  }
  std::vector<ProfileInput> Take() { return std::move(inputs_); }

 private:
  std::set<std::string> seen_;
  std::vector<ProfileInput> inputs_;
};

std::string LastParts(const fs::path& path, size_t count) {
  const std::vector<fs::path> parts(path.begin(), path.end());
  fs::path last;
  for (size_t i = parts.size() - std::min(count, parts.size()); i < parts.size(); ++i) {
    last /= parts[i];
  }
  return last.string();
}

/// Returns the argument itself if it is no folder that can be listed.
std::vector<std::string> ProfilesOf(const std::string& argument) {
  std::vector<std::string> paths;
  try {
    for (ProfileInput& input : ListProfiles({argument})) paths.push_back(std::move(input.path));
  } catch (const Error&) {
    paths = {argument};
  }
  return paths;
}

}  // namespace

bool IsPipe(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return path == "-" ||
         (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status));
}

bool NaturalLess(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const size_t m = DigitsAt(a, i);
    const size_t n = DigitsAt(b, j);
    if (m > 0 && n > 0) {
      const int order = CompareNumbers(std::string_view(a).substr(i, m),  //
                                       std::string_view(b).substr(j, n));
      if (order != 0) return order < 0;
      i += m;
      j += n;
      continue;
    }
    if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    }
    ++i;
    ++j;
  }
  if ((a.size() - i) != (b.size() - j)) return a.size() - i < b.size() - j;
  return a < b;  // "a01" and "a1"
}

void NameInputs(std::vector<ProfileInput>* inputs) {
  std::vector<fs::path> paths;
  for (const ProfileInput& input : *inputs) {
    std::error_code error;
    const fs::path whole = fs::absolute(input.path, error);
    paths.push_back((error ? fs::path(input.path) : whole).lexically_normal());
  }
  std::vector<size_t> unnamed(inputs->size());
  for (size_t i = 0; i < unnamed.size(); ++i) unnamed[i] = i;
  for (size_t parts = 1; !unnamed.empty(); ++parts) {
    std::map<std::string, size_t> uses;
    for (const size_t i : unnamed) ++uses[LastParts(paths[i], parts)];
    std::vector<size_t> left;
    for (const size_t i : unnamed) {
      const std::string name = LastParts(paths[i], parts);
      (*inputs)[i].name = name;
      const bool whole = name == paths[i].string();
      if (uses[name] > 1 && !whole) left.push_back(i);
    }
    unnamed = std::move(left);
  }
}

bool IsInterruptedRecording(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) return false;
  if (fs::is_directory(path + std::string(kSpool), error)) return true;
  // The database of a child process is in the spool of the program.
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  const std::string part = wanted.filename().string() + ".part";
  return !FindSpool(folder, [&](const fs::path& spool) {
            std::error_code ignored;
            return fs::exists(spool / part, ignored);
          }).empty();
}

std::string IdentityOf(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  return error ? path : canonical.string();
}

std::vector<std::string> FilesReadFor(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  std::set<fs::path> folders;
  for (const std::string& argument : arguments) {
    for (std::string& path : ProfilesOf(argument)) {
      // Beside a database: https://www.sqlite.org/tempfiles.html
      for (const std::string_view ending : {"-wal", "-journal"}) {
        if (path.find(".json") == path.npos) files.push_back(path + std::string(ending));
      }
      folders.insert(fs::path(path).parent_path());
      files.push_back(std::move(path));
    }
  }
  for (const fs::path& folder : folders) {
    for (const ProvenanceName& name : kProvenanceNames) {
      files.push_back((folder / name.name).string());
    }
  }
  return files;
}

std::string SkippedEntries::Sentence() const {
  constexpr size_t kNamed = 3;
  std::string text;
  if (!files.empty()) {
    text = fmt::format("{} beside the profiles {} no profile{} by {} and skipped: ",
                       files.size() == 1 ? "1 file" : fmt::format("{} files", files.size()),
                       files.size() == 1 ? "is" : "are", files.size() == 1 ? "" : "s",
                       files.size() == 1 ? "its name" : "their names");
    for (size_t i = 0; i < std::min(files.size(), kNamed); ++i) {
      text += (i == 0 ? "" : ", ") + files[i];
    }
    if (files.size() > kNamed) text += ", ...";
  }
  if (folders == 0) return text;
  if (!text.empty()) text += "; ";
  return text + (folders == 1 ? "1 folder inside is not looked into"
                              : fmt::format("{} folders inside are not looked into", folders));
}

std::vector<ProfileInput> ListProfiles(const std::vector<std::string>& arguments,
                                       SkippedEntries* skipped) {
  Lister lister;
  for (const std::string& path : arguments) {
    if (path == "-") {
      lister.Add(path, false);
      continue;
    }
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      if (IsInterruptedRecording(path)) ThrowSpool(path, path);
      throw Error(path, fmt::format("cannot be opened: {}", error.message()),
                  "check the name and its permissions");
    }
    if (!fs::is_directory(status)) {
      lister.Add(path, false);
      continue;
    }
    for (const std::string& name : ProfilesIn(path, skipped)) {
      lister.Add((fs::path(path) / name).string(), true);
    }
  }
  if (skipped != nullptr) std::sort(skipped->files.begin(), skipped->files.end(), NaturalLess);
  std::vector<ProfileInput> inputs = lister.Take();
  NameInputs(&inputs);
  return inputs;
}

}  // namespace oplens::parse
