// What oplens knows of the kernels of real profiles: for each, the numbers that prof prints on
// standard error, as committed in test/golden/corpus_shares.csv.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(OPLENS_SOURCE_DIR) / "test/golden/corpus_shares.csv";

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

std::string LineOf(const std::string& name) {
  const RunResult result = RunProf({"-o", "/dev/null", CorpusFile(name).string()});
  if (result.exit_code != 0) return fmt::format("{},refused,,,,,,,\n", name);
  const std::string& err = result.err;
  return fmt::format(
      "{},{},{},{},{},{},{},{},{}\n", name,
      NumberAfter(err.substr(std::min(err.size(), err.find("FLOPs are known"))), " of "),
      NumberAfter(err, "kernel time "), NumberAfter(err, "GPU busy "), NumberAfter(err, "%, op "),
      NumberAfter(err, "shapes "), NumberAfter(err, "direction "), NumberAfter(err, "%, FLOPs "),
      NumberAfter(err, "%, bytes "));
}

TEST(CorpusShares, AreAsCommitted) {
  OPLENS_NEED_CORPUS();
  std::string text =
      "profile,kernels,kernel_ns,busy_ns,op_%,shapes_%,direction_%,flops_%,bytes_%\n";
  for (const std::string& name : Profiles()) text += LineOf(name);
  if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) WriteFile(kGolden, text);
  EXPECT_EQ(text, ReadFile(kGolden));
}

}  // namespace
}  // namespace oplens::test
