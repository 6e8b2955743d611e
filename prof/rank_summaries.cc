#include "prof/rank_summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "prof/summary_file/kept_losses.h"
#include "prof/summary_file/stamp.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::prof {
namespace {

std::string RankSummariesPathOf(const std::string& input, std::string_view part,
                                const std::string& folder) {
  const std::filesystem::path path(input);
  const std::string name = fmt::format("{}{}{}", path.filename().string(), part, kSummaryEnding);
  return ((folder.empty() ? path.parent_path() : std::filesystem::path(folder)) / name).string();
}

SummaryStamp StampFor(const std::string& input, const RankSummaryPlan& plan) {
  return {StampOf(input), plan.options.made_with};
}

}  // namespace

std::vector<std::string> SummaryPathsOf(const Inputs& inputs, const RankSummaryPlan& plan) {
  if (!plan.output.empty()) {
    if (inputs.waiting() > 1) {
      throw UsageError(fmt::format(
          "-o names one file, but there are {} inputs: leave it out, or give --summary-dir",
          inputs.waiting()));
    }
    return {plan.output};
  }
  std::map<std::string, size_t> ranks;  // By file.
  for (size_t i = 0; i < inputs.waiting(); ++i) ++ranks[inputs.waiting(i).path];
  std::map<std::string, size_t> next;
  std::set<std::string> seen;
  std::vector<std::string> paths;
  for (size_t i = 0; i < inputs.waiting(); ++i) {
    const std::string& input = inputs.waiting(i).path;
    const std::string part = ranks[input] > 1 ? fmt::format(".{}", next[input]++) : std::string();
    paths.push_back(RankSummariesPathOf(input, part, plan.options.folder));
    if (seen.insert(paths.back()).second) continue;
    throw UsageError(
        fmt::format("two inputs have the same summary, {}: give a folder to each", paths.back()));
  }
  return paths;
}

bool HasSummary(const std::string& path, const std::string& input, const RankSummaryPlan& plan) {
  return IsUpToDate(path, StampFor(input, plan), plan.find.writer, *plan.find.plans);
}

std::unique_ptr<Findings> SummarizeInput(Inputs* inputs, size_t place, const std::string& path,
                                         const RankSummaryPlan& plan) {
  // Before reading: a file that changes meanwhile is then read again next time.
  const SummaryStamp stamp = StampFor(inputs->waiting(place).path, plan);
  std::unique_ptr<Findings> findings = FindIn(inputs, place, plan.find);
  Stamp(stamp, &findings->summary);
  WriteSummary(path, findings->summary);
  return findings;
}

std::string WrittenSummaries::Sentence() const {
  const auto count = [](size_t n) {
    return fmt::format("{} {}", n, n == 1 ? "summary" : "summaries");
  };
  std::string text = fmt::format("wrote {}", count(written));
  if (kept > 0) {
    text += fmt::format("; {} {} of the same input and options and left alone", count(kept),
                        kept == 1 ? "is" : "are");
  }
  return text;
}

WrittenSummaries WriteRankSummaries(Inputs* inputs, const RankSummaryPlan& plan, ManyInputs* many,
                                    FindingsMerger* merger) {
  const std::vector<std::string> paths = SummaryPathsOf(*inputs, plan);
  WrittenSummaries written;
  std::vector<size_t> places;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (HasSummary(paths[i], inputs->waiting(i).path, plan)) {
      ++written.kept;
      Findings before;
      AddKeptLosses(ReadSummary(paths[i]), paths[i], &before.losses);
      merger->AddReport(before);
    } else {
      places.push_back(i);
    }
  }
  const auto find = [&](Inputs* own, size_t place) {
    std::unique_ptr<Findings> findings = SummarizeInput(own, place, paths[place], plan);
    findings->summary = {};  // It is in the file.
    return findings;
  };
  const auto take = [&](const Findings& findings, size_t) {
    merger->AddReport(findings);
    ++written.written;
  };
  many->Run(places, find, take, written.kept == 0);
  return written;
}

}  // namespace oplens::prof
