#include "prof/summary_file/summary_list.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "parse/source/file_kind.h"
#include "parse/source/profile_list.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::prof {
namespace {

namespace fs = std::filesystem;

/// The summaries in a folder without profiles; readers of profiles report folders that cannot be
/// listed.
std::vector<std::string> SummariesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with('.')) continue;
    if (parse::HasProfileName(name)) return {};
    if (name.ends_with(kSummaryEnding)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), parse::NaturalLess);
  return names;
}

/// Names each after its trace.
void NameSummaries(std::vector<SummaryInput>* summaries) {
  std::vector<parse::ProfileInput> traces;
  for (const SummaryInput& summary : *summaries) {
    const std::string& path = summary.path;
    const bool ends = path.size() > kSummaryEnding.size() && path.ends_with(kSummaryEnding);
    traces.push_back({path.substr(0, path.size() - (ends ? kSummaryEnding.size() : 0)), {}});
  }
  parse::NameInputs(&traces);
  for (size_t i = 0; i < traces.size(); ++i) (*summaries)[i].name = std::move(traces[i].name);
}

}  // namespace

std::vector<SummaryInput> ListSummaries(const std::vector<std::string>& arguments) {
  std::vector<SummaryInput> summaries;
  const std::string* other = nullptr;
  for (const std::string& path : arguments) {
    std::error_code error;
    const bool folder = path != "-" && fs::is_directory(path, error);
    const std::vector<std::string> inside = folder ? SummariesIn(path) : std::vector<std::string>();
    for (const std::string& name : inside) {
      summaries.push_back({(fs::path(path) / name).string(), {}, true});
    }
    if (!folder && IsSummary(path)) {
      summaries.push_back({path, {}, false});
    } else if (inside.empty()) {
      other = &path;
    }
  }
  if (summaries.empty()) return {};
  if (other != nullptr) {
    throw Error(*other, "is no summary, but other inputs are",
                "save it with --summary or --save-baseline first");
  }
  // As with profiles, each file counts once.
  std::set<std::string> seen;
  std::erase_if(summaries, [&seen](const SummaryInput& summary) {
    return !seen.insert(parse::IdentityOf(summary.path)).second;
  });
  NameSummaries(&summaries);
  return summaries;
}

}  // namespace oplens::prof
