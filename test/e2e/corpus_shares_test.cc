// What oplens knows of the kernels of real profiles: for each, the numbers that prof prints on
// standard error, and sums over its rows, as committed in test/golden/corpus_shares.csv.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::corpus_shares_test {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(SourceDir()) / "test/golden/corpus_shares.csv";

/// The profiles of the corpus, without ".gz", in the order of their names.
std::vector<std::string> Profiles() {
  const fs::path corpus = CorpusDir().path;
  std::vector<std::string> names;
  for (const char* family : {"kineto", "nsys", "nvprof"}) {
    for (const auto& entry : fs::recursive_directory_iterator(corpus / family)) {
      const std::string name = fs::relative(entry.path(), corpus).string();
      if (name.ends_with(".gz") && name.find("/golden/") == name.npos) {
        names.push_back(name.substr(0, name.size() - 3));
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The number that follows `before` in a text, "" when it is not there.
std::string NumberAfter(const std::string& text, const std::string& before) {
  const size_t at = text.find(before);
  if (at == text.npos) return "";
  const size_t begin = at + before.size();
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

/// The share of a word in "share of kernel time with launch, range 100.0 %, op 97.9 %": neighbours
/// with the same share have it once. "" when it is not there.
std::string ShareOf(const std::string& text, const std::string& word) {
  const size_t begin = text.find("share of kernel time with ");
  if (begin == text.npos) return "";
  const size_t at = text.find(" " + word, begin);
  if (at == text.npos || at > text.find('\n', begin)) return "";
  const size_t number = text.find_first_of("0123456789", at);
  return text.substr(number, text.find(' ', number) - number);
}

/// The share of an evidence in "op 100.0 % (1.2 % by capture, 2.1 % by name), shapes"; "0.0" if ops
/// are told without it.
std::string ByEvidence(const std::string& text, const std::string& word) {
  const std::string op = ShareOf(text, "op");
  if (op.empty()) return op;
  const size_t open = text.find(" (", text.find("share of kernel time with "));
  const size_t end = text.find(" % " + word, open);
  if (open == text.npos || end == text.npos || end > text.find(')', open)) return "0.0";
  const size_t begin = text.find_last_not_of("0123456789.", end - 1) + 1;
  return text.substr(begin, end - begin);
}

/// Of the time of a profile's kernels in %, "" where there is none.
struct TimeShares {
  std::string family;  ///< Of kernels whose family is known.
  std::string bound;   ///< Of those whose FLOPs are a bound.
};

TimeShares TimeSharesOf(const std::string& name) {
  const fs::path out = TestDir() / "shares.json";
  const RunResult result = RunProf(
      {"-c", "family,flops_kind,sil", "--json", "-o", out.string(), CorpusFile(name).string()});
  if (result.exit_code != 0) return {};
  int64_t all_ns = 0;
  int64_t family_ns = 0;
  int64_t bound_ns = 0;
  std::istringstream lines(ReadFile(out));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    if (row.at("sil").is_null()) continue;
    const int64_t ns = row.at("sil").get<int64_t>();
    all_ns += ns;
    if (!row.at("family").is_null() && row.at("family") != "other") family_ns += ns;
    if (row.at("flops_kind") == "bound") bound_ns += ns;
  }
  if (all_ns == 0) return {};
  const auto percent = [&](int64_t ns) {
    return fmt::format("{:.1f}", 100 * static_cast<double>(ns) / static_cast<double>(all_ns));
  };
  return {percent(family_ns), percent(bound_ns)};
}

std::string LineOf(const std::string& name) {
  const RunResult result = RunProf({"-v", "-o", "/dev/null", CorpusFile(name).string()});
  if (result.exit_code != 0) return fmt::format("{},refused,,,,,,,,,,,\n", name);
  const std::string& err = result.err;
  const TimeShares shares = TimeSharesOf(name);
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", name,
      NumberAfter(err.substr(std::min(err.size(), err.find("FLOPs are known"))), " of "),
      NumberAfter(err, "kernel time "), NumberAfter(err, "GPU busy "), ShareOf(err, "op"),
      ByEvidence(err, "inferred by capture"), ByEvidence(err, "by name"), ShareOf(err, "shapes"),
      ShareOf(err, "direction"), ShareOf(err, "FLOPs"), ShareOf(err, "bytes"), shares.family,
      shares.bound);
}

TEST(CorpusShares, AreAsCommitted) {
  OPLENS_NEED_CORPUS();
  std::string text =
      "profile,kernels,kernel_ns,busy_ns,op_%,by_matched_capture_%,by_name_%,shapes_%,direction_%,"
      "flops_%,bytes_%,family_%,"
      "bound_%\n";
  for (const std::string& name : Profiles()) text += LineOf(name);
  if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) WriteFile(kGolden, text);
  EXPECT_EQ(text, ReadFile(kGolden));
}

double PercentIn(const nlohmann::json& row, const char* key) {
  return row.at(key).is_null() ? 0 : row.at(key).get<double>();
}

// A price that puts a kernel above what its GPU can do is wrong, unless the way of computing, the
// cache or the clock bears it out.
TEST(CorpusRoofs, WhatIsAboveOneSaysWhy) {
  OPLENS_NEED_CORPUS();
  if (*OPLENS_SANITIZE != '\0') GTEST_SKIP() << "CorpusShares runs the same code over the corpus";
  int above = 0;
  for (const std::string& name : Profiles()) {
    const fs::path out = TestDir() / "rows.json";
    const RunResult result = RunProf({"-c", "idx,op,params,kernel,pct_math,pct_dram,reason",
                                      "--json", "-o", out.string(), CorpusFile(name).string()});
    if (result.exit_code != 0) continue;  // No profile.
    std::istringstream lines(ReadFile(out));
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json row = nlohmann::json::parse(line);
      const bool is_above = PercentIn(row, "pct_math") > 100 || PercentIn(row, "pct_dram") > 100;
      const auto& reasons = row.at("reason");
      const bool says_why = std::any_of(reasons.begin(), reasons.end(), [](const auto& reason) {
        return reason == "winograd" || reason == "cache" || reason == "clock";
      });
      above += is_above ? 1 : 0;
      EXPECT_EQ(is_above, says_why) << name << ' ' << line;
    }
  }
  EXPECT_GT(above, 1000);
}

}  // namespace
}  // namespace oplens::test::corpus_shares_test
