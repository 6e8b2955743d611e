// The capture window, and what holds with no tool.

#include <gmock/gmock.h>

#include "nvtx_annotate/annotate.h"
#include "test/annotate/annotate_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::window_test {
namespace {

using annotate::ForwardLink;
using annotate::OpName;
using annotate::ScopedBackward;
using annotate::ScopedForward;
using annotate::ScopedLayer;
using annotate::ScopedOp;
using annotate::ScopedRange;
using ::testing::ElementsAre;

OpName Name(const char* mod, const char* op) { return {mod, op, nullptr, 0}; }

class WindowTest : public AnnotateTest {
 protected:
  void TearDown() override { annotate::Start(); }

  static std::vector<std::string> Marks() {
    std::vector<std::string> marks;
    for (const NvtxEvent& event : Capture().events) {
      if (event.kind == NvtxEvent::Kind::kMark) marks.push_back(event.domain + ": " + event.text);
    }
    return marks;
  }
};

TEST_F(WindowTest, NothingIsEmittedOutside) {
  EXPECT_THAT(EmitOutline([] {
                { const ScopedRange range("before"); }
                annotate::Stop();
                EXPECT_FALSE(annotate::Enabled());
                EXPECT_EQ(oplens_enabled(), 0);
                {
                  const ScopedForward op(Name("torch", "a"));
                  EXPECT_EQ(op.link().seq, -1);
                  const ScopedLayer layer("layer");
                  EXPECT_EQ(oplens_range_begin("token"), 0U);
                }
                annotate::Start();
                EXPECT_TRUE(annotate::Enabled());
                EXPECT_EQ(oplens_enabled(), 1);
                const ScopedRange range("after");
              }),
              ElementsAre("before", "after"));
  EXPECT_THAT(Marks(), ElementsAre("oplens: capture stop", "oplens: capture start"));
}

TEST_F(WindowTest, RangesAcrossTheEnd) {
  EXPECT_THAT(EmitOutline([] {
                const ScopedRange outer("outer");
                {
                  const ScopedForward op(Name("torch", "a"));
                  oplens_stop();
                  const ScopedRange unseen("unseen");
                }
                const ScopedRange unseen("unseen");
                oplens_start();
                const ScopedRange inner("inner");
              }),
              ElementsAre("outer", ::testing::HasSubstr("'op': 'a'"), "    a, seq = 0", "  inner"));
}

TEST_F(WindowTest, RangesAcrossTheBeginning) {
  annotate::Stop();
  EXPECT_THAT(EmitOutline([] {
                const ScopedLayer unseen("unseen");
                {
                  const ScopedOp op(Name("torch", "unseen"));
                  annotate::Start();
                  const ScopedLayer layer("seen");
                }
                const ScopedRange range("seen");
              }),
              ElementsAre("layer:seen", "seen"));
}

TEST_F(WindowTest, TokensAcrossTheWindow) {
  EXPECT_THAT(EmitOutline([] {
                const uint64_t outer = oplens_range_begin("outer");
                const uint64_t inner = oplens_range_begin("inner");
                oplens_stop();
                oplens_end(inner);
                const uint64_t unseen = oplens_range_begin("unseen");
                EXPECT_EQ(unseen, 0U);
                oplens_start();
                const uint64_t last = oplens_range_begin("last");
                oplens_end(unseen);
                oplens_end(last);
                oplens_end(outer);
              }),
              ElementsAre("outer", "  inner", "  last"));
}

TEST_F(WindowTest, NodesOfOpsOutside) {
  EXPECT_THAT(EmitOutline([] {
                annotate::Stop();
                ForwardLink link;
                {
                  const ScopedForward op(Name("torch", "a"));
                  link = op.link();
                }
                annotate::Start();
                const ScopedBackward node("ABackward0", link);
              }),
              ElementsAre("{'oplens': {'v': 1, 'seq': -1, 'tid': T1, 'ftid': 0, 'dir': 'b', "
                          "'node': 'ABackward0'}}"));
}

TEST_F(WindowTest, LinkIsAlwaysWritten) {
  annotate::Stop();
  oplens_link link = {5, 6};
  EXPECT_EQ(oplens_forward_begin("torch", "a", nullptr, 0, &link), 0U);
  EXPECT_EQ(link.seq, -1);
  EXPECT_EQ(link.thread, 0U);
}

TEST_F(WindowTest, EveryCallIsMarked) {
  oplens_start();
  oplens_start();
  oplens_stop();
  EXPECT_THAT(Marks(), ElementsAre("oplens: capture start", "oplens: capture start",
                                   "oplens: capture stop"));
}

TEST_F(WindowTest, PhasesOfTheCInterface) {
  EXPECT_THAT(EmitOutline([] {
                for (int phase = -1; phase <= 6; ++phase) oplens_end(oplens_phase_begin(phase));
              }),
              ElementsAre("phase:forward", "phase:backward", "phase:optimizer", "phase:data",
                          "phase:communication"));
}

TEST_F(WindowTest, AbiVersion) { EXPECT_EQ(oplens_abi_version(), uint32_t{OPLENS_ABI_VERSION}); }

// In a process of their own.

TEST(NoToolTest, NothingHappens) { RunAnnotatedProgram("without-tool", ""); }

TEST(NoToolTest, NothingHappensWhenTheToolCannotStart) {
  const std::filesystem::path path = TestDir() / "none.nvtx";
  RunAnnotatedProgram("without-tool", "no such tool", path);
}

TEST(EnvironmentTest, OffUntilStart) {
  const std::filesystem::path path = TestDir() / "off.nvtx";
  RunAnnotatedProgram("off-until-start", RecorderMode(), path);
  EXPECT_THAT(Outline(RangesOf(ReadCapture(path))), ElementsAre("seen"));
}

TEST(EnvironmentTest, CallersErrnoIsKept) {
  RunAnnotatedProgram("errno", "");
  RunAnnotatedProgram("errno", RecorderMode(), TestDir() / "errno.nvtx");
}

TEST(EnvironmentTest, CudaProfilerIsSwitched) {
  RunAnnotatedProgram("cuda-profiler", "");
  RunAnnotatedProgram("cuda-profiler", RecorderMode(), TestDir() / "cuda.nvtx");
}

TEST(EnvironmentTest, RangesWhileTheProcessEnds) {
  const std::filesystem::path path = TestDir() / "exit.nvtx";
  RunAnnotatedProgram("exit", RecorderMode(), path);
  const NvtxRanges ranges = RangesOf(ReadCapture(path));
  // A thread that still runs may be inside an op: three ranges at most.
  EXPECT_LE(ranges.faults.size(), 3U);
  EXPECT_GE(ranges.ranges.size(), 1U);
}

}  // namespace
}  // namespace oplens::test::window_test
