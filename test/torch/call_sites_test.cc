// oplens_annotate --trace: the Python stack that calls each op.

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::call_sites_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kFile[] = "test/torch/call_sites_cases.py";

using Frames = std::vector<std::string>;

/// The words that the file of the cases has for its own lines, "FILE:LINE" for others.
class Lines {
 public:
  Lines() {
    std::ifstream file(SourceFile(kFile));
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      const size_t at = line.find("# at ");
      if (at == line.npos) continue;
      words_[SourceFile(kFile) + ":" + std::to_string(number)] = line.substr(at + 5);
    }
  }
  std::string WordOf(const std::string& frame) const {
    const auto word = words_.find(frame);
    return word == words_.end() ? frame : word->second;
  }

 private:
  std::map<std::string, std::string> words_;
};

/// The frames of the innermost T around a range, outermost first; of those of the cases the words.
Frames FramesAround(const NvtxRanges& ranges, const NvtxRange& range) {
  static const Lines lines;
  constexpr std::string_view kBegin = "{'traceMarker': ['";
  for (int64_t i = range.parent; i >= 0; i = ranges.ranges[static_cast<size_t>(i)].parent) {
    const std::string& text = ranges.ranges[static_cast<size_t>(i)].text;
    if (!text.starts_with(kBegin)) continue;
    Frames frames;
    for (size_t at = kBegin.size(); at < text.size();) {
      const size_t end = text.find('\'', at);
      frames.push_back(lines.WordOf(text.substr(at, end - at)));
      at = end + 4;  // "', '"
    }
    return frames;
  }
  return {};
}

struct CallSite {
  std::string op;
  std::string dir;
  Frames frames;
};

/// The ops of a name, with their call sites.
std::vector<CallSite> Sites(const TorchRun& run, const std::string& op) {
  std::vector<CallSite> sites;
  for (const NvtxRange& range : run.ranges.ranges) {
    if (!IsOp(range) || Fact(range.text, "op") != op) continue;
    sites.push_back({op, Fact(range.text, "dir"), FramesAround(run.ranges, range)});
  }
  return sites;
}

/// That of the only op of its name.
CallSite Site(const TorchRun& run, const std::string& op) {
  const std::vector<CallSite> sites = Sites(run, op);
  EXPECT_EQ(sites.size(), 1U) << op;
  return sites.empty() ? CallSite() : sites.front();
}

/// Where it is called.
std::string CallOf(const TorchRun& run, const std::string& op) {
  const CallSite site = Site(run, op);
  return site.frames.empty() ? "nowhere" : site.frames.back();
}

/// The frames behind the last of the file's own.
Frames Behind(const CallSite& site) {
  const auto own = [](const std::string& frame) { return frame.find(".py:") == frame.npos; };
  const auto last = std::find_if(site.frames.rbegin(), site.frames.rend(), own);
  return {last.base(), site.frames.end()};
}

/// Those of the file's own that the tests have a word for.
Frames Own(const CallSite& site) {
  Frames own;
  for (const std::string& frame : site.frames) {
    if (frame.find(".py:") == frame.npos) own.push_back(frame);
  }
  return own;
}

class CallSitesTest : public ::testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED(WhyNoPython); }
  /// Ops inside ops are annotated too.
  static TorchRun Run(const std::string& name, const std::string& mode = "payload") {
    return RunTorch(AnnotatedPython({"--trace", "--no-layers", SourceFile(kFile), name}),
                    {"PYTHONPATH=" + BuildFile("lib"), "OPLENS_ANNOTATE=inner"}, mode);
  }
};

TEST_F(CallSitesTest, EachCallHasItsOwn) {
  const TorchRun run = Run("plain");
  const std::vector<CallSite> sines = Sites(run, "sin");
  ASSERT_EQ(sines.size(), 2U);
  EXPECT_THAT(Own(sines[0]), ElementsAre("first", "sine"));
  EXPECT_THAT(Own(sines[1]), ElementsAre("second", "sine"));
  EXPECT_EQ(CallOf(run, "add_"), "in-place");
  EXPECT_EQ(CallOf(run, "cos"), "in-place");
  EXPECT_EQ(CallOf(run, "tan"), "two");
  EXPECT_EQ(CallOf(run, "atan"), "two");
  // The last line of the file is where the stack begins.
  EXPECT_THAT(sines[0].frames, ElementsAre(HasSubstr("call_sites_cases.py:"), "first", "sine"));
}

TEST_F(CallSitesTest, ModulesLossesAndOptimizers) {
  const TorchRun run = Run("training");
  // Not how modules call one another.
  EXPECT_THAT(Own(Site(run, "tanh")), ElementsAre("loss", "tanh"));
  EXPECT_EQ(CallOf(run, "tanh"), "tanh");
  const CallSite linear = Site(run, "linear");
  EXPECT_THAT(Own(linear), ElementsAre("loss", "tanh"));
  EXPECT_THAT(Behind(linear), ElementsAre(HasSubstr("torch/nn/modules/linear.py:")));
  EXPECT_THAT(linear.frames, Contains(HasSubstr("torch/nn/modules/container.py:")));
  EXPECT_THAT(linear.frames, Not(Contains(HasSubstr("modules/module.py"))));
  EXPECT_THAT(Own(Site(run, "mse_loss")), ElementsAre("loss"));
  EXPECT_THAT(Behind(Site(run, "mse_loss")), ElementsAre(HasSubstr("torch/nn/functional.py:")));
  std::vector<CallSite> steps = Sites(run, "add_");
  ASSERT_FALSE(steps.empty());
  for (const CallSite& site : steps) {
    EXPECT_THAT(Own(site), ElementsAre("step"));
    EXPECT_THAT(Behind(site), Contains(HasSubstr("torch/optim/sgd.py:")));
  }
}

TEST_F(CallSitesTest, EveryOpThatPythonCallsHasOne) {
  for (const char* const name : {"plain", "training", "functions", "recomputed"}) {
    const TorchRun run = Run(name);
    size_t outermost = 0;
    for (const NvtxRange& range : run.ranges.ranges) {
      // Of the engine's ops the user calls none.
      if (!IsOp(range) || Fact(range.text, "dir") != "f") continue;
      bool inside = false;
      for (int64_t i = range.parent; i >= 0; i = run.ranges.ranges[static_cast<size_t>(i)].parent) {
        inside = inside || IsOp(run.ranges.ranges[static_cast<size_t>(i)]);
      }
      if (inside) continue;
      ++outermost;
      EXPECT_THAT(FramesAround(run.ranges, range), Not(IsEmpty())) << range.text;
    }
    EXPECT_GT(outermost, 3U) << name;
  }
}

TEST_F(CallSitesTest, FunctionsAndHooksOfTheUser) {
  const TorchRun run = Run("functions");
  EXPECT_THAT(Own(Site(run, "Cube")), ElementsAre("apply"));
  // In the backward pass: called by the engine, in the thread that waits for it.
  const CallSite backward = Site(run, "cos");
  EXPECT_THAT(Own(backward), ElementsAre("apply", "function backward"));
  EXPECT_THAT(backward.frames, Contains(HasSubstr("torch/autograd/function.py:")));
  EXPECT_EQ(CallOf(run, "tan"), "hook");
  // What the engine calls by itself has no site of its own: its forward op has.
  for (const NvtxRange& range : run.ranges.ranges) {
    if (!IsNode(range)) continue;
    EXPECT_THAT(FramesAround(run.ranges, range), IsEmpty()) << range.text;
  }
}

TEST_F(CallSitesTest, OpsThatRunAgain) {
  const std::vector<CallSite> sines = Sites(Run("recomputed"), "sin");
  ASSERT_EQ(sines.size(), 2U);
  for (const CallSite& site : sines) {
    EXPECT_THAT(Own(site), ElementsAre("checkpoint", "sine"));
  }
  EXPECT_EQ(sines[0].dir, "f");
  EXPECT_EQ(sines[1].dir, "r");
}

TEST_F(CallSitesTest, TheInnermostFramesAreKept) {
  for (const char* const name : {"deep", "deep_modules"}) {
    Frames expected(63, "descent");
    expected.push_back("bottom");
    EXPECT_EQ(Site(Run(name), "sin").frames, expected) << name;
  }
}

TEST_F(CallSitesTest, Threads) {
  const std::vector<CallSite> sines = Sites(Run("threads"), "sin");
  ASSERT_EQ(sines.size(), 1200U);
  for (const CallSite& site : sines) ASSERT_THAT(Own(site), ElementsAre("thread", "sine"));
}

TEST_F(CallSitesTest, ExceptionsAreNotDisturbed) {
  const TorchRun run = Run("raising");
  EXPECT_EQ(CallOf(run, "sin"), "del");
  EXPECT_EQ(CallOf(run, "cos"), "except");
  EXPECT_EQ(CallOf(run, "tan"), "error");
}

TEST_F(CallSitesTest, MoreStacksThanAreKept) {
  const std::vector<CallSite> sites = Sites(Run("many"), "neg");
  ASSERT_EQ(sites.size(), 70'000U);
  for (size_t i = 0; i < sites.size(); ++i) {
    ASSERT_FALSE(sites[i].frames.empty());
    const std::string line = std::to_string(i / 100) + ".py:" + std::to_string(i % 100 + 1);
    ASSERT_EQ(sites[i].frames.back(), "many" + line);
  }
}

TEST_F(CallSitesTest, TextsAreTheSameInBothModes) {
  EXPECT_EQ(Run("training").Outline(), Run("training", "text").Outline());
}

TEST_F(CallSitesTest, WaysToAskForThem) {
  const std::vector<std::string> program = {OPLENS_TORCH_PYTHON, SourceFile(kFile), "plain"};
  EXPECT_EQ(CallOf(RunTorch(program, {Preload(), "OPLENS_ANNOTATE=trace"}), "tan"), "two");
  EXPECT_THAT(Site(RunTorch(program, {Preload()}), "tan").frames, IsEmpty());
  EXPECT_THAT(Site(RunPythonFile(kFile, "plain"), "tan").frames, IsEmpty());
  const Frames frames = Site(RunPythonFile(kFile, "plain", {"--trace"}), "tan").frames;
  EXPECT_THAT(frames, AllOf(Not(Contains(HasSubstr("runpy"))),
                            Not(Contains(HasSubstr("oplens_annotate")))));
  // There is no Python in it.
  EXPECT_THAT(RunCase("hook", {"OPLENS_ANNOTATE=trace"}).Outline(),
              Not(Contains(HasSubstr("traceMarker"))));
}

}  // namespace
}  // namespace oplens::test::call_sites_test
