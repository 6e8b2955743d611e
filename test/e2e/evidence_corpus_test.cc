// What other evidence than a kernel's own rows tells of real profiles: the share of kernel time
// with an op, recorded and with what is inferred, as committed in test/golden/evidence_shares.csv.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

namespace fs = std::filesystem;

struct Pair {
  const char* profile;
  const char* reference;  ///< "": the steps of the profile itself.
  double least_share;     ///< With an op, %.
};

constexpr Pair kPairs[] = {
    {"kineto/sglang_qwen3_8b/decode_graph.json", "kineto/sglang_qwen3_8b/capture_bs32.json", 90},
    {"kineto/amd/vllm_graph_piecewise.json", "kineto/vllm_piecewise/capture.json", 90},
    {"kineto/xdit_flux/capture_compiled.json", "kineto/xdit_flux/capture_compiled.json", 90},
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
    const double before = ShareWithOp({"--evidence", "range,capture", profile});
    const std::string reference = pair.reference;
    const double after =
        reference.empty() ? ShareWithOp({profile})
                          : ShareWithOp({"--reference", CorpusFile(reference).string(), profile});
    EXPECT_GE(after, pair.least_share) << pair.profile;
    text += fmt::format("{},{},{:.1f},{:.1f}\n", pair.profile, pair.reference, before, after);
  }
  const fs::path golden = fs::path(OPLENS_SOURCE_DIR) / "test/golden/evidence_shares.csv";
  if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) WriteFile(golden, text);
  EXPECT_EQ(text, ReadFile(golden));
}

}  // namespace
}  // namespace oplens::test
