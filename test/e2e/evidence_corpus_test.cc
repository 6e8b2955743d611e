// What other evidence than a kernel's own rows tells of real profiles: the share of kernel time
// with an op, recorded and with what is inferred, as committed in test/golden/evidence_shares.csv.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::evidence_corpus_test {
namespace {

namespace fs = std::filesystem;

struct Pair {
  const char* profile;
  const char* reference;  ///< "": the profile itself.
  double least_share;     ///< With an op, %.
};

constexpr Pair kPairs[] = {
    {"kineto/sglang_qwen3_8b/decode_graph.json", "kineto/sglang_qwen3_8b/capture_bs32.json", 90},
    {"kineto/amd/vllm_graph_piecewise.json", "kineto/vllm_piecewise/capture.json", 90},
    {"kineto/xdit_flux/capture_compiled.json", "", 90},  // By its own captures.
    {"kineto/diff_ddp/test_v100_rank1.json", "", 0},
    {"kineto/resnet50_v010_num_workers_4/worker0.pt.trace.json", "", 90},
};

/// The share of kernel time with an op, %.
double ShareWithOp(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"-v", "-o", "/dev/null"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const RunResult result = RunProf(all);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const size_t begin = result.err.find("share of kernel time with ");
  const size_t op = result.err.find(" op", begin);
  const size_t number = result.err.find_first_of("0123456789", op);
  return number == std::string::npos ? 0 : std::stod(result.err.substr(number));
}

TEST(EvidenceShares, AreAsCommitted) {
  OPLENS_NEED_CORPUS();
  std::string text = "profile,reference,recorded_op_%,op_%\n";
  for (const Pair& pair : kPairs) {
    const std::string profile = CorpusFile(pair.profile).string();
    const double before = ShareWithOp({"--evidence", "range", profile});
    const std::string reference = pair.reference;
    // Names tell the op of nearly every kernel.
    std::vector<std::string> arguments = {"--evidence",
                                          "range,capture,vocabulary,repetition,reference", profile};
    if (!reference.empty()) {
      arguments.insert(arguments.end(), {"--reference", CorpusFile(reference).string()});
    }
    const double after = ShareWithOp(arguments);
    EXPECT_GE(after, pair.least_share) << pair.profile;
    text += fmt::format("{},{},{:.1f},{:.1f}\n", pair.profile, pair.reference, before, after);
  }
  const fs::path golden = fs::path(SourceDir()) / "test/golden/evidence_shares.csv";
  if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) WriteFile(golden, text);
  EXPECT_EQ(text, ReadFile(golden));
}

using nlohmann::json;

std::vector<json> Rows(std::vector<std::string> arguments, const std::string& profile) {
  arguments.insert(arguments.begin(), {"--json", "--quiet"});
  arguments.push_back(profile);
  const RunResult result = RunProf(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  size_t begin = 0;
  for (size_t end; (end = result.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    rows.push_back(json::parse(result.out.substr(begin, end - begin)));
  }
  return rows;
}

/// Every view that shows ops says of as much time that it is inferred.
TEST(Evidence, ViewsAgreeOnWhatIsInferred) {
  OPLENS_NEED_CORPUS();
  for (const char* name : {"kineto/diff_ddp/test_v100_rank1.json",
                           "kineto/resnet50_v010_num_workers_4/worker0.pt.trace.json"}) {
    const std::string profile = CorpusFile(name).string();
    int64_t inferred_ns = 0;
    for (const json& row : Rows({"-c", "sil,evidence"}, profile)) {
      const std::string evidence = row["evidence"].is_string() ? row["evidence"] : "";
      if (evidence == "repetition" || evidence == "name") inferred_ns += row["sil"].get<int64_t>();
    }
    EXPECT_GT(inferred_ns, 0) << name;
    for (const char* view : {"places", "roofline"}) {
      int64_t sum_ns = 0;
      for (const json& row : Rows({"--view", view, "-c", "inferred_ns"}, profile)) {
        sum_ns += row["inferred_ns"].get<int64_t>();
      }
      EXPECT_EQ(sum_ns, inferred_ns) << name << " " << view;
    }
    double sum_ns = 0;
    for (const json& row : Rows({"--by", "op,layer", "-c", "total,inferred_pct"}, profile)) {
      sum_ns += row["total"].get<double>() * row["inferred_pct"].get<double>() / 100;
    }
    EXPECT_NEAR(sum_ns, static_cast<double>(inferred_ns), 1) << name;
    int64_t by_evidence_ns = 0;
    for (const json& row : Rows({"--by", "evidence,confidence", "-c", "evidence,total"}, profile)) {
      if (row["evidence"] == "repetition" || row["evidence"] == "name")
        by_evidence_ns += row["total"].get<int64_t>();
    }
    EXPECT_EQ(by_evidence_ns, inferred_ns) << name;
    for (const json& row :
         Rows({"--evidence", "range,capture", "--view", "places", "-c", "inferred_ns"}, profile)) {
      EXPECT_EQ(row["inferred_ns"], 0);
    }
  }
}

}  // namespace
}  // namespace oplens::test::evidence_corpus_test
