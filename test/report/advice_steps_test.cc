// What a page says of advice for chosen steps is what prof says of these steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "test/report/checked_page.h"
#include "test/report/read_page.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::advice_steps_test {
namespace {

using nlohmann::json;

/// By rule.
std::map<std::string, json> AdviceOf(const std::string& profile, const std::string& steps) {
  const RunResult run = RunProgram(
      {Program("prof"), "--quiet", "--view", "advice", "--json", "--step-range", steps, profile});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::map<std::string, json> rows;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    rows[row.at("id")] = row;
  }
  return rows;
}

double Or0(const json& value) { return value.is_null() ? 0 : value.get<double>(); }

struct Compared {
  size_t same = 0;
  size_t gone = 0;  ///< The rule does not fire for these steps alone.
};

/// The sums over some steps, as the page makes them, beside prof of these.
Compared CheckSteps(const std::string& profile, const std::vector<json>& all, int64_t first,
                    int64_t last) {
  std::map<std::string, std::vector<json>> by_rule;
  std::set<std::string> not_known;
  for (const json& row : all) {
    const auto step = row.at("step").get<int64_t>();
    if (step < first || step > last) continue;
    by_rule[row.at("id")].push_back(row);
    if (row.at("time_ns").is_null()) not_known.insert(row.at("id"));
  }
  const std::string steps = std::to_string(first) + "-" + std::to_string(last);
  SCOPED_TRACE(profile + " " + steps);
  const std::map<std::string, json> wanted = AdviceOf(profile, steps);
  Compared found;
  for (const auto& [id, rows] : by_rule) {
    if (not_known.contains(id)) continue;
    SCOPED_TRACE(id);
    const auto own = wanted.find(id);
    if (own == wanted.end()) {
      ++found.gone;
      continue;
    }
    double time_ns = 0;
    double gain_ns = 0;
    double estimate_ns = 0;
    for (const json& row : rows) {
      time_ns += row.at("time_ns").get<double>();
      gain_ns += row.at("gain_ns").get<double>();
      estimate_ns += Or0(row.at("estimate_ns"));
    }
    const auto near = [](double wanted_pct) { return std::max(1e-4, wanted_pct * 1e-6); };
    const double gain_pct = own->second.at("gain_pct").get<double>();
    EXPECT_NEAR(100 * gain_ns / time_ns, gain_pct, near(gain_pct));
    EXPECT_EQ(rows[0].at("estimate_ns").is_null(), own->second.at("estimate_pct").is_null());
    if (rows[0].at("estimate_ns").is_null()) continue;
    const double estimate_pct = own->second.at("estimate_pct").get<double>();
    EXPECT_NEAR(100 * std::min(estimate_ns, gain_ns) / time_ns, estimate_pct, near(estimate_pct));
    ++found.same;
  }
  return found;
}

TEST(AdviceStepsTest, SumsOfChosenStepsAreWhatProfSaysOfThem) {
  OPLENS_NEED_CORPUS();
  for (const char* const name : {"resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
                                 "resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz",
                                 "h100/timesformer.json.gz"}) {
    const std::string profile = CorpusDir().path / "kineto" / name;
    const ReadPage page = PageOf({profile}, {"--quiet"});
    const json& view = page.View("advice");
    if (view.at("by_step").is_null()) {
      // One step: the whole run is it.
      EXPECT_EQ(page.summary().at("ranks").at(0).at("steps").size(), 1u) << name;
      continue;
    }
    const std::vector<json> rows =
        page.Rows(view.at("by_step").at("fields"), view.at("by_step").at("table"));
    std::set<int64_t> steps;
    for (const json& row : rows) steps.insert(row.at("step").get<int64_t>());
    ASSERT_GT(steps.size(), 3u) << name;
    Compared all;
    for (const auto& [first, last] : std::vector<std::pair<int64_t, int64_t>>{
             {*steps.begin(), *steps.rbegin()},
             {*std::next(steps.begin(), 2), *std::next(steps.begin(), 2)},
             {*std::prev(steps.end(), 2), *steps.rbegin()}}) {
      const Compared one = CheckSteps(profile, rows, first, last);
      all.same += one.same;
      all.gone += one.gone;
    }
    EXPECT_GE(all.same, 8u) << name;
    EXPECT_LT(all.gone, all.same) << name;
  }
}

}  // namespace
}  // namespace oplens::test::advice_steps_test
