#include "prof/summary_file/stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"

namespace oplens::prof {
namespace {

constexpr char kInput[] = "input";
constexpr char kMadeWith[] = "made_with";

std::string FactOf(const SummaryFile& summary, const char* fact) {
  const auto found = summary.facts.find(fact);
  return found == summary.facts.end() ? std::string() : found->second;
}

bool Holds(const SummaryFile& summary, const ViewPlan& plan) {
  const Section* const section = FindSection(summary.sections, *plan.view, plan.options);
  return section != nullptr && section->form == plan.view->saved_form;
}

}  // namespace

std::string StampOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string HashOf(std::string_view text) { return fmt::format("{:016x}", StableHash(text)); }

void Stamp(const SummaryStamp& stamp, SummaryFile* summary) {
  summary->facts[kInput] = stamp.input;
  summary->facts[kMadeWith] = stamp.made_with;
}

std::pair<std::string, std::string> SelectionOf(const SummaryFile& summary) {
  return {FactOf(summary, kMadeWith), FactOf(summary, "selection")};
}

bool IsUpToDate(const std::string& path, const SummaryStamp& stamp, std::string_view writer,
                std::span<const ViewPlan> plans) {
  if (!IsSummary(path)) return false;
  try {
    const SummaryFile summary = ReadSummary(path);
    return summary.writer == writer && FactOf(summary, kInput) == stamp.input &&
           FactOf(summary, kMadeWith) == stamp.made_with &&
           std::all_of(plans.begin(), plans.end(),
                       [&](const ViewPlan& plan) { return Holds(summary, plan); });
  } catch (const Error&) {
    return false;  // It is made anew.
  }
}

}  // namespace oplens::prof
