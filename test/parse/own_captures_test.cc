// What calls of a file put into graphs tells of the replays in the same file.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parse/join/inference.h"
#include "parse/records/kernel_records.h"
#include "test/parse/made_up_network.h"

namespace oplens::parse::own_captures_test {
namespace {

/// 31 calls of 4 kernels.
std::vector<MadeUpCall> Blocks(int) {
  std::vector<MadeUpCall> calls;
  for (int i = 0; i < 31; ++i) {
    const std::string op = i % 5 == 0 ? "norm" : i % 2 == 0 ? "mm" : "attention";
    calls.push_back(
        {fmt::format("Block_{}", i), op, 64, {op + "_a", op + "_b", op + "_c", op + "_d"}, {}});
  }
  return calls;
}

/// A file whose first steps capture graphs, and whose others replay them.
class OwnCapturesTest : public testing::Test {
 protected:
  struct Score {
    int replayed = 0;
    int said = 0;
    int right = 0;
    int with_layer = 0;
    int high = 0;
  };

  void Record(int captures, int replays, const MadeUpNetwork::Step& step = Blocks) {
    trace_ = MadeUpNetwork::Record(captures + replays, step, &truth_);
    std::vector<int64_t> ends;
    for (const Range& range : trace_.ranges) {
      if (range.kind == RangeKind::kStep) ends.push_back(range.end_ns);
    }
    const int64_t captured_until_ns = ends[static_cast<size_t>(captures) - 1];
    ReplaceByGraphs([=](int64_t time_ns) { return time_ns >= captured_until_ns; }, &trace_);
    for (Kernel kernel : std::exchange(trace_.kernels, {})) {
      if (kernel.graph) {
        trace_.kernels.push_back(kernel);
        continue;
      }
      const int64_t time_ns = trace_.launches[kernel.launch].start_ns;
      kernel.stream_id =
          static_cast<int32_t>(std::upper_bound(ends.begin(), ends.end(), time_ns) - ends.begin());
      kernel.start_ns = kernel.end_ns = 0;
      kernel.graph = true;
      kernel.capture = kernel.launch;
      trace_.captured.push_back(kernel);
    }
  }

  void HideNames() {
    for (Kernel& kernel : trace_.captured) kernel.name = 0;
  }

  Score Infer(EvidenceKinds evidence = {}) {
    Diagnostics diagnostics;
    JoinOptions options;
    options.evidence = evidence;
    const KernelRecords records(&trace_, options, &diagnostics);
    Score score;
    KernelRecord record;
    for (size_t i = 0; i < records.kernel_count(); ++i) {
      ++score.replayed;
      records.RecordOf(i, &record);
      EXPECT_TRUE(record.reasons.Has(Reason::kGraphKernel));
      if (record.evidence == Evidence::kNone) continue;
      EXPECT_EQ(record.evidence, Evidence::kCapture);
      EXPECT_TRUE(IsInferred(record.evidence, record.confidence));
      EXPECT_EQ(record.launch_api, "cudaGraphLaunch");
      ++score.said;
      const MadeUpTruth& known = truth_.at(trace_.kernels[i].row_id);
      if (!record.markers.empty() && record.markers.back() == known.call) ++score.right;
      if (!record.layer.empty() && record.layer.back() == known.layer) ++score.with_layer;
      if (record.confidence == Confidence::kHigh) ++score.high;
    }
    return score;
  }

  Trace trace_;
  std::map<int64_t, MadeUpTruth> truth_;
};

TEST_F(OwnCapturesTest, NameByName) {
  Record(1, 5);
  const Score score = Infer();
  EXPECT_EQ(score.replayed, 620);
  EXPECT_EQ(score.right, 620);
  EXPECT_EQ(score.with_layer, 620);
  EXPECT_EQ(score.high, 620);
}

TEST_F(OwnCapturesTest, WithoutNamesByOrderAndNumber) {
  Record(1, 5);
  HideNames();
  const Score score = Infer();
  EXPECT_EQ(score.right, 620);
  EXPECT_EQ(score.high, 0);
}

TEST_F(OwnCapturesTest, SeveralThatAgree) {
  Record(3, 5);
  const Score score = Infer();
  EXPECT_EQ(score.replayed, 620);
  EXPECT_EQ(score.right, 620);
  EXPECT_EQ(score.with_layer, 620);
  EXPECT_EQ(score.high, 0);
}

TEST_F(OwnCapturesTest, SeveralThatAgreeWithoutNames) {
  Record(3, 5);
  HideNames();
  EXPECT_EQ(Infer().right, 620);
}

/// Graphs of other sizes have the same names.
std::vector<MadeUpCall> OtherSizes(int step) {
  std::vector<MadeUpCall> calls = Blocks(step);
  for (MadeUpCall& call : calls) call.size += step;
  return calls;
}

TEST_F(OwnCapturesTest, SeveralThatDifferSayNothing) {
  Record(3, 5, OtherSizes);
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(OwnCapturesTest, SeveralThatDifferWithoutNamesSayNothing) {
  Record(3, 5, OtherSizes);
  HideNames();
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(OwnCapturesTest, OfLayersOnlyTheOpIsSaid) {
  Record(2, 3, [](int step) {
    std::vector<MadeUpCall> calls = Blocks(step);
    for (MadeUpCall& call : calls) call.layer = fmt::format("Model_{}", step);
    return calls;
  });
  const Score score = Infer();
  EXPECT_EQ(score.right, score.replayed);
  EXPECT_EQ(score.with_layer, 0);
}

TEST_F(OwnCapturesTest, ACutCaptureSaysNothing) {
  Record(1, 2);
  trace_.captured.resize(trace_.captured.size() * 9 / 10);
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(OwnCapturesTest, ACutCaptureWithoutNamesSaysNothing) {
  Record(1, 2);
  HideNames();
  trace_.captured.pop_back();
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(OwnCapturesTest, AFewLostCallsAreNoHarm) {
  Record(1, 2);
  trace_.captured.erase(trace_.captured.begin() + 50, trace_.captured.begin() + 53);
  const Score score = Infer();
  EXPECT_EQ(score.said, score.replayed - 6);
  EXPECT_EQ(score.right, score.said);
  EXPECT_EQ(score.high, 0);
}

TEST_F(OwnCapturesTest, OtherNamesSayNothing) {
  Record(1, 2);
  std::vector<StringId> names;
  for (const Kernel& kernel : trace_.captured) names.push_back(kernel.name);
  std::mt19937 random(3);
  std::shuffle(names.begin(), names.end(), random);
  for (size_t i = 0; i < names.size(); ++i) trace_.captured[i].name = names[i];
  EXPECT_EQ(Infer().said, 0);
}

/// By number it is the capture, but equal calls would launch other kernels here and there.
TEST_F(OwnCapturesTest, AnotherGraphOfThatNumberSaysNothing) {
  Record(1, 1);
  HideNames();
  std::vector<StringId> names;
  for (const Kernel& kernel : trace_.kernels) names.push_back(kernel.name);
  std::rotate(names.begin(), names.begin() + 8, names.end());
  for (size_t i = 0; i < names.size(); ++i) trace_.kernels[i].name = names[i];
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(OwnCapturesTest, OnSeveralStreamsNumberAloneSaysNothing) {
  Record(1, 1);
  HideNames();
  for (size_t i = 0; i < trace_.kernels.size(); i += 2) trace_.kernels[i].stream_id = 20;
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(OwnCapturesTest, AReplayBeforeTheCaptureIsOfAnotherGraph) {
  Record(1, 1);
  const int64_t first_ns = trace_.launches[trace_.captured.front().launch].start_ns;
  trace_.launches[trace_.kernels.front().launch].start_ns = first_ns - 1;
  EXPECT_EQ(Infer().said, 0);
}

std::vector<MadeUpCall> Few(int) {
  return {{"Linear_0", "mm", 4, {"gemm"}, {}}, {"ReLU_0", "relu", 4, {"relu"}, {}}};
}

TEST_F(OwnCapturesTest, AFewNamesAreLessSure) {
  Record(1, 2, Few);
  const Score score = Infer();
  EXPECT_EQ(score.right, 4);
  EXPECT_EQ(score.high, 0);
}

TEST_F(OwnCapturesTest, AFewCallsWithoutNamesSayNothing) {
  Record(1, 2, Few);
  HideNames();
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(OwnCapturesTest, ReplaysWithoutLaunches) {
  Record(1, 3);
  for (Kernel& kernel : trace_.kernels) {
    kernel.launch = kNoLaunch;
    kernel.graph = false;
  }
  Diagnostics diagnostics;
  const KernelRecords records(&trace_, {}, &diagnostics);
  EXPECT_EQ(records.joined().inference().all().size(), trace_.kernels.size());
}

TEST_F(OwnCapturesTest, OnlyIfCapturesCount) {
  Record(1, 2);
  EvidenceKinds evidence;
  evidence.capture = false;
  EXPECT_EQ(Infer(evidence).said, 0);
}

TEST_F(OwnCapturesTest, WithoutReplaysWhatWasCapturedIsDropped) {
  Record(1, 1);
  trace_.kernels.clear();
  Diagnostics diagnostics;
  const KernelRecords records(&trace_, {}, &diagnostics);
  EXPECT_TRUE(trace_.captured.empty());
  EXPECT_EQ(records.joined().work().count(), 0u);
}

}  // namespace
}  // namespace oplens::parse::own_captures_test
