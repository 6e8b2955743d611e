// Blind checks: what is known of launches is hidden, and what is inferred of their kernels compared
// with it.
#include "parse/join/inference.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "parse/records/kernel_records.h"
#include "parse/records/reference_profile.h"
#include "test/parse/made_up_network.h"

namespace oplens::parse::inference_test {
namespace {

struct Network {
  const char* name;
  MadeUpNetwork::Step step;
  /// How much of the hidden time must be said, in percent.
  double least_said = 90;
};

std::vector<MadeUpCall> Plain(int) {
  std::vector<MadeUpCall> calls;
  for (int i = 0; i < 6; ++i) {
    calls.push_back({fmt::format("Linear_{}", i),
                     "mm",
                     64 + i,
                     {fmt::format("gemm_{}", i), "bias"},
                     {"gemm_dgrad", fmt::format("gemm_wgrad_{}", i)}});
    calls.push_back({fmt::format("ReLU_{}", i), "relu", 64 + i, {"relu_kernel"}, {"threshold"}});
  }
  calls.push_back({"", "sum", 1, {"reduce"}, {}});
  return calls;
}

/// Layers that differ in nothing but their names.
std::vector<MadeUpCall> EqualLayers(int) {
  std::vector<MadeUpCall> calls = {{"Embedding_0", "embedding", 9, {"gather"}, {"scatter"}}};
  for (int i = 0; i < 12; ++i) {
    calls.push_back({fmt::format("Attention_{}", i), "bmm", 32, {"gemm", "softmax"}, {"gemm_b"}});
    calls.push_back({fmt::format("Mlp_{}", i), "mm", 32, {"gemm"}, {"gemm_b", "gemm_c"}});
  }
  calls.push_back({"Head_0", "mm", 999, {"gemm_large"}, {"gemm_large_b"}});
  return calls;
}

/// Different ops that launch the same kernel.
std::vector<MadeUpCall> EqualKernels(int) {
  std::vector<MadeUpCall> calls;
  const char* const kOps[] = {"mul", "add", "sub", "div", "mul", "mul", "add", "exp", "div"};
  for (int round = 0; round < 3; ++round) {
    int i = 0;
    for (const char* op : kOps) {
      calls.push_back({fmt::format("Block_{}_{}", round, i++), op, 8, {"elementwise"}, {}});
    }
    calls.push_back({fmt::format("Norm_{}", round), "norm", 8, {fmt::format("norm_{}", round)}});
  }
  return calls;
}

/// Steps of different length: every third one writes a log.
std::vector<MadeUpCall> Lengths(int step) {
  std::vector<MadeUpCall> calls = Plain(step);
  if (step % 3 == 1) {
    calls.insert(calls.begin() + 5, {"", "clone", 77, {"copy", "copy_b", "copy_c"}, {}});
  }
  return calls;
}

std::vector<MadeUpCall> TwoStreams(int step) {
  std::vector<MadeUpCall> calls = Plain(step);
  for (size_t i = 1; i < calls.size(); i += 3) calls[i].stream = 15;
  return calls;
}

std::vector<MadeUpCall> Inference(int) {
  std::vector<MadeUpCall> calls = EqualLayers(0);
  for (MadeUpCall& call : calls) call.backward_kernels.clear();
  return calls;
}

/// Two passes before the optimizer.
std::vector<MadeUpCall> Accumulation(int step) {
  std::vector<MadeUpCall> calls = Plain(step);
  const std::vector<MadeUpCall> again = calls;
  calls.insert(calls.end(), again.begin(), again.end());
  return calls;
}

std::vector<MadeUpCall> Optimizer(int step) {
  std::vector<MadeUpCall> calls = EqualLayers(step);
  for (int i = 0; i < 30; ++i) {
    calls.push_back({"", "addcdiv", 100 + i / 10, {"multi_tensor_apply"}, {}});
  }
  return calls;
}

/// A loop that runs once, twice or three times.
std::vector<MadeUpCall> Loop(int step) {
  std::vector<MadeUpCall> calls = Plain(step);
  for (int i = 0; i <= step % 3; ++i) {
    calls.push_back({"", "cumsum", 5, {"scan_a", "scan_b"}, {}});
  }
  return calls;
}

/// An op whose size is that of the data: what it launches is now and then that of another size.
std::vector<MadeUpCall> Sizes(int step) {
  std::vector<MadeUpCall> calls = Plain(step);
  const int launch = step % 4 == 3 ? 0 : step;
  calls.insert(calls.begin() + 7, {"Lookup_0",
                                   "lookup",
                                   1000 + step,
                                   {fmt::format("sort_{}", launch)},
                                   {fmt::format("sort_b_{}", launch)}});
  return calls;
}

std::vector<MadeUpCall> Tiny(int) {
  return {{"Linear_0", "mm", 4, {"gemm"}, {"gemm_b"}}, {"ReLU_0", "relu", 4, {"relu"}, {"relu_b"}}};
}

const Network kNetworks[] = {
    {"Plain", Plain},
    {"EqualLayers", EqualLayers},
    {"EqualKernels", EqualKernels},
    {"Lengths", Lengths},
    {"TwoStreams", TwoStreams},
    {"Inference", Inference},
    {"Accumulation", Accumulation},
    {"Optimizer", Optimizer},
    {"Loop", Loop},
    {"Sizes", Sizes},
    {"Tiny", Tiny},
};

struct Score {
  int hidden = 0;
  int said = 0;
  int right = 0;
  int with_layer = 0;

  double SaidPercent() const { return 100.0 * said / hidden; }
  double RightPercent() const { return said == 0 ? 100 : 100.0 * right / said; }
};

Score ScoreOf(const Trace& trace, const KernelRecords& records,
              const std::map<int64_t, MadeUpTruth>& truth) {
  Score score;
  KernelRecord record;
  for (size_t i = 0; i < records.kernel_count(); ++i) {
    if (!HasNoRecordedOp(trace.kernels[i])) continue;
    ++score.hidden;
    records.RecordOf(i, &record);
    if (!IsInferred(record.evidence)) continue;
    ++score.said;
    const MadeUpTruth& known = truth.at(trace.kernels[i].row_id);
    const auto& calls = known.backward ? record.forward_markers : record.markers;
    const auto& layer = known.backward ? record.forward_layer : record.layer;
    const bool right = !calls.empty() && calls.back() == known.call &&
                       (record.phase == Phase::kBackward) == known.backward;
    const bool right_layer = layer.empty() || layer.back() == known.layer;
    if (right && right_layer) ++score.right;
    if (right && !layer.empty()) ++score.with_layer;
  }
  return score;
}

class BlindTest : public testing::TestWithParam<Network> {
 protected:
  void Record(int steps) { trace_ = MadeUpNetwork::Record(steps, GetParam().step, &truth_); }
  int64_t LaunchAt(double share) const {
    const auto at = static_cast<size_t>(share * static_cast<double>(trace_.launches.size()));
    return trace_.launches[at].start_ns;
  }
  std::vector<std::pair<int64_t, int64_t>> Steps() const {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (const Range& range : trace_.ranges) {
      if (range.kind == RangeKind::kStep) steps.emplace_back(range.start_ns, range.end_ns);
    }
    return steps;
  }
  Score Infer() {
    Diagnostics diagnostics;
    const KernelRecords records(&trace_, {}, &diagnostics);
    return ScoreOf(trace_, records, truth_);
  }
  void ExpectGood(const Score& score) {
    EXPECT_GT(score.hidden, 0);
    EXPECT_GE(score.SaidPercent(), GetParam().least_said);
    EXPECT_GE(score.RightPercent(), 99);
  }

  Trace trace_;
  std::map<int64_t, MadeUpTruth> truth_;
};

TEST_P(BlindTest, Head) {
  Record(6);
  const int64_t cut = LaunchAt(0.3);
  Hide([&](int64_t time_ns) { return time_ns < cut; }, &trace_);
  ExpectGood(Infer());
}

TEST_P(BlindTest, EverySecondStep) {
  Record(7);
  const auto steps = Steps();
  Hide(
      [&](int64_t time_ns) {
        for (size_t i = 1; i < steps.size(); i += 2) {
          if (steps[i].first <= time_ns && time_ns < steps[i].second) return true;
        }
        return false;
      },
      &trace_);
  ExpectGood(Infer());
}

TEST_P(BlindTest, GraphReplays) {
  Record(7);
  const auto steps = Steps();
  ReplaceByGraphs(
      [&](int64_t time_ns) {
        for (size_t i = 1; i < steps.size(); i += 2) {
          if (steps[i].first <= time_ns && time_ns < steps[i].second) return true;
        }
        return false;
      },
      &trace_);
  ExpectGood(Infer());
}

INSTANTIATE_TEST_SUITE_P(Networks, BlindTest, testing::ValuesIn(kNetworks),
                         [](const auto& network) { return std::string(network.param.name); });

TEST(InferenceTest, NothingIsInferredWhereNothingRepeats) {
  std::map<int64_t, MadeUpTruth> truth;
  std::mt19937 random(7);
  Trace trace = MadeUpNetwork::Record(
      1,
      [&](int) {
        std::vector<MadeUpCall> calls;
        for (int i = 0; i < 400; ++i) {
          const auto op = random() % 5;
          calls.push_back({"",
                           fmt::format("op{}", op),
                           static_cast<int64_t>(random() % 3 + 1),
                           {fmt::format("kernel_{}", random() % 4)},
                           {}});
        }
        return calls;
      },
      &truth);
  const int64_t cut = trace.launches[150].start_ns;
  Hide([&](int64_t time_ns) { return time_ns < cut; }, &trace);
  Diagnostics diagnostics;
  const KernelRecords records(&trace, {}, &diagnostics);
  const Score score = ScoreOf(trace, records, truth);
  EXPECT_EQ(score.hidden, 150);
  EXPECT_EQ(score.said - score.right, 0);
}

/// Without a step to go by, equal layers tell the op and not which layer.
TEST(InferenceTest, WithinAStepTheLayerStaysUnknown) {
  std::map<int64_t, MadeUpTruth> truth;
  Trace trace = MadeUpNetwork::Record(1, EqualLayers, &truth);
  const int64_t from = trace.launches[20].start_ns;
  const int64_t to = trace.launches[21].start_ns;
  Hide([&](int64_t time_ns) { return from <= time_ns && time_ns < to; }, &trace);
  Diagnostics diagnostics;
  const KernelRecords records(&trace, {}, &diagnostics);
  KernelRecord record;
  records.RecordOf(20, &record);
  EXPECT_EQ(record.evidence, Evidence::kRepetition);
  EXPECT_EQ(record.confidence, Confidence::kLow);
  ASSERT_EQ(record.markers.size(), 1u);
  EXPECT_EQ(record.markers.front(), truth.at(trace.kernels[20].row_id).call);
  EXPECT_TRUE(record.layer.empty());
}

TEST(ReadEvidenceTest, WordsAndWrongOnes) {
  const EvidenceKinds some = ReadEvidence("range,capture");
  EXPECT_TRUE(some.capture);
  EXPECT_FALSE(some.repetition || some.reference || some.vocabulary || some.name || some.sizes ||
               some.order);
  const EvidenceKinds more = ReadEvidence("range,capture,repetition,reference,name,order");
  EXPECT_TRUE(more.capture && more.repetition && more.reference && more.name && more.order);
  EXPECT_FALSE(more.vocabulary || more.sizes);
  EXPECT_TRUE(ReadEvidence("").order);
  EXPECT_THROW(ReadEvidence("range,guess"), UsageError);
  EXPECT_THROW(ReadEvidence("repetition"), UsageError);
  EXPECT_THROW(ReadEvidence(","), UsageError);
}

TEST(InferenceTest, WhatWasRecordedStays) {
  std::map<int64_t, MadeUpTruth> truth;
  Trace trace = MadeUpNetwork::Record(4, Plain, &truth);
  Trace other = MadeUpNetwork::Record(4, Plain, &truth);
  const int64_t cut = trace.launches[40].start_ns;
  Hide([&](int64_t time_ns) { return time_ns < cut; }, &trace);
  Hide([&](int64_t time_ns) { return time_ns < cut; }, &other);
  Diagnostics diagnostics;
  JoinOptions recorded;
  recorded.evidence.repetition = false;
  const KernelRecords with(&trace, {}, &diagnostics);
  const KernelRecords without(&other, recorded, &diagnostics);
  KernelRecord a;
  KernelRecord b;
  int inferred = 0;
  for (size_t i = 0; i < with.kernel_count(); ++i) {
    with.RecordOf(i, &a);
    without.RecordOf(i, &b);
    EXPECT_EQ(b.evidence, Evidence::kNone);
    inferred += IsInferred(a.evidence) ? 1 : 0;
    std::string line_a;
    std::string line_b;
    if (IsInferred(a.evidence)) {
      EXPECT_EQ(a.launch_api, b.launch_api);
      EXPECT_EQ(a.thread_id, b.thread_id);
      EXPECT_EQ(a.reasons, b.reasons);
      EXPECT_TRUE(b.markers.empty());
      continue;
    }
    AppendDictLine(a, &line_a);
    AppendDictLine(b, &line_b);
    EXPECT_EQ(line_a, line_b);
  }
  EXPECT_EQ(inferred, 40);
}

/// A graph whose launch alone is in the profile, and a run that shows its kernels one by one.
class ReferenceTest : public testing::Test {
 protected:
  ReferenceTest() {
    profile_ = MadeUpNetwork::Record(2, EqualLayers, &truth_);
    ReplaceByGraphs([](int64_t) { return true; }, &profile_);
    std::erase_if(profile_.ranges, [](const Range&) { return true; });
    std::map<int64_t, MadeUpTruth> unused;
    reference_ = MadeUpNetwork::Record(1, EqualLayers, &unused);
  }

  /// Makes of the kernels of the reference what was put into a graph and not run.
  void Capture(bool names) {
    for (Kernel& kernel : reference_.kernels) {
      kernel.start_ns = kernel.end_ns = 0;
      kernel.graph = true;
      kernel.capture = kernel.launch;
      kernel.stream_id = 0;
      if (!names) kernel.name = 0;
    }
    reference_.captured = std::exchange(reference_.kernels, {});
  }
  void Shuffle() {
    std::vector<StringId> names;
    for (const Kernel& kernel : reference_.kernels) names.push_back(kernel.name);
    std::mt19937 random(3);
    std::shuffle(names.begin(), names.end(), random);
    for (size_t i = 0; i < names.size(); ++i) reference_.kernels[i].name = names[i];
  }
  Score Infer() {
    ReferenceProfile reference("r", std::move(reference_));
    Diagnostics diagnostics;
    const KernelRecords records(&profile_, {}, &diagnostics, &reference.records());
    reference.Count(records);
    unused_ = reference.Unused();
    return ScoreOf(profile_, records, truth_);
  }

  std::map<int64_t, MadeUpTruth> truth_;
  Trace profile_;
  Trace reference_;
  std::string unused_;
};

TEST_F(ReferenceTest, EagerRun) {
  const Score score = Infer();
  EXPECT_EQ(score.hidden, static_cast<int>(truth_.size()));
  EXPECT_GE(score.SaidPercent(), 90);
  EXPECT_EQ(score.right, score.said);
  EXPECT_EQ(unused_, "");
}

TEST_F(ReferenceTest, Capture) {
  Capture(true);
  const Score score = Infer();
  EXPECT_EQ(score.said, score.hidden);
  EXPECT_EQ(score.right, score.hidden);
  EXPECT_EQ(score.with_layer, score.hidden);
}

TEST_F(ReferenceTest, CaptureWithoutNamesGoesByOrderAndCount) {
  Capture(false);
  const Score score = Infer();
  EXPECT_EQ(score.said, score.hidden);
  EXPECT_EQ(score.right, score.hidden);
}

TEST_F(ReferenceTest, CaptureWithoutNamesOfAnotherCountSaysNothing) {
  Capture(false);
  reference_.captured.pop_back();
  EXPECT_EQ(Infer().said, 0);
  EXPECT_NE(unused_, "");
}

TEST_F(ReferenceTest, UnlaunchedReplays) {
  Capture(true);
  for (Kernel& kernel : profile_.kernels) {
    kernel.launch = kNoLaunch;
    kernel.correlation_id = kUnknownId;
    kernel.graph = false;
  }
  const Score score = Infer();
  EXPECT_EQ(score.said, score.hidden);
  EXPECT_EQ(score.right, score.hidden);
}

/// Nsight Systems with --cuda-graph-trace=node: the reference replays graphs too, and its file says
/// which call captured each kernel.
TEST_F(ReferenceTest, ReplaysWithRecordedCaptures) {
  const auto graph = static_cast<LaunchIndex>(reference_.launches.size());
  LaunchCall call = reference_.launches.back();
  call.start_ns = call.end_ns += 1'000'000;
  reference_.launches.push_back(call);
  for (Kernel& kernel : reference_.kernels) {
    kernel.capture = kernel.launch;
    kernel.launch = graph;
    kernel.graph = true;
  }
  const Score score = Infer();
  EXPECT_GE(score.SaidPercent(), 90);
  EXPECT_EQ(score.right, score.said);
  EXPECT_EQ(unused_, "");
}

/// A run of other sizes: the kernels have its names and other grids.
TEST_F(ReferenceTest, OtherGridsTellOpsWithoutArguments) {
  for (Kernel& kernel : reference_.kernels) {
    kernel.shape = reference_.shapes.Add({.grid = {9, 1, 1}, .block = {1, 1, 1}});
  }
  ReferenceProfile reference("r", std::move(reference_));
  Diagnostics diagnostics;
  const KernelRecords records(&profile_, {}, &diagnostics, &reference.records());
  KernelRecord record;
  int said = 0;
  for (size_t i = 0; i < records.kernel_count(); ++i) {
    records.RecordOf(i, &record);
    if (!IsInferred(record.evidence)) continue;
    ++said;
    EXPECT_EQ(record.confidence, Confidence::kLow);
    const MadeUpTruth& known = truth_.at(profile_.kernels[i].row_id);
    const auto& calls = known.backward ? record.forward_markers : record.markers;
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls.front(), known.call.substr(0, known.call.find("'args'")) + "'args': []}");
  }
  EXPECT_GE(said, static_cast<int>(profile_.kernels.size()) * 9 / 10);
}

/// ROCm's captures have grids; of replays that have them too, those of other sizes are told apart.
TEST_F(ReferenceTest, CapturesOfOtherGridsTellOpsWithoutArguments) {
  Capture(true);
  Kernel& other = reference_.captured[3];
  KernelShape shape = reference_.ShapeOf(other);
  shape.grid[0] = 9;
  other.shape = reference_.shapes.Add(shape);
  ReferenceProfile reference("r", std::move(reference_));
  Diagnostics diagnostics;
  const KernelRecords records(&profile_, {}, &diagnostics, &reference.records());
  KernelRecord record;
  int bare = 0;
  for (size_t i = 0; i < records.kernel_count(); ++i) {
    records.RecordOf(i, &record);
    const auto& calls = record.phase == Phase::kBackward ? record.forward_markers : record.markers;
    ASSERT_EQ(calls.size(), 1u);
    if (calls.front() == truth_.at(profile_.kernels[i].row_id).call) continue;
    ++bare;
    EXPECT_EQ(record.confidence, Confidence::kMedium);
    EXPECT_TRUE(calls.front().ends_with("'args': []}"));
  }
  EXPECT_EQ(bare, 2);  // One in each replay.
}

TEST_F(ReferenceTest, ShuffledNamesSayNothing) {
  Shuffle();
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(ReferenceTest, ShuffledNamesOfCapturesSayNothing) {
  Shuffle();
  Capture(true);
  EXPECT_EQ(Infer().said, 0);
}

TEST_F(ReferenceTest, OfSeveralOpsThatFitNoneIsTaken) {
  Capture(true);
  // The same graph was captured for another size.
  std::map<int64_t, MadeUpTruth> unused;
  Trace second = MadeUpNetwork::Record(
      2,
      [](int step) {
        std::vector<MadeUpCall> calls = EqualLayers(step);
        for (MadeUpCall& call : calls) call.size += step;
        return calls;
      },
      &unused);
  reference_ = std::move(second);
  Capture(true);
  const size_t half = reference_.captured.size() / 2;
  for (size_t i = half; i < reference_.captured.size(); ++i) reference_.captured[i].stream_id = 1;
  // One replay alone tells no order of the captures.
  std::erase_if(profile_.kernels, [&](const Kernel& kernel) {
    return kernel.launch != profile_.kernels.front().launch;
  });
  EXPECT_EQ(Infer().said, 0);
}

}  // namespace
}  // namespace oplens::parse::inference_test
