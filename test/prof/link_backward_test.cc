#include "prof/price/link_backward.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oplens::prof::link_backward_test {
namespace {

using testing::ElementsAre;

// A forward kernel whose only annotation is `text`.
KernelRecord Forward(std::string_view text, std::vector<int64_t> seq_ids,
                     std::vector<int64_t> alt_seq_ids = {}, int64_t thread_id = 1) {
  KernelRecord record;
  record.markers = {text};
  record.layer = {"encoder"};
  record.trace = {"net.py:1"};
  record.mod = {"torch"};
  record.op = {text};
  record.seq_ids = std::move(seq_ids);
  record.alt_seq_ids = std::move(alt_seq_ids);
  record.direction = Direction::kForward;
  record.thread_id = thread_id;
  return record;
}

KernelRecord Backward(int64_t seq_id, int64_t thread_id = 100) {
  KernelRecord record;
  record.seq_ids = {seq_id};
  record.direction = Direction::kBackward;
  record.thread_id = thread_id;
  return record;
}

// The annotation of the forward op found, or the word of the reason.
std::string Found(BackwardLinker* linker, const KernelRecord& record) {
  const ForwardMatch match = linker->Find(record);
  if (match.op == nullptr) return std::string(ReasonWord(match.reason));
  return std::string(match.op->markers.at(0));
}

// Adds as many forward kernels of other numbers as end a generation of what is remembered.
void EndGeneration(BackwardLinker* linker) {
  static int64_t number = 1000000;
  const KernelRecord forward = Forward("other", {0});
  for (int i = 0; i <= 1 << 16; ++i) {
    KernelRecord record = forward;
    record.seq_ids = {number++};
    linker->AddForward(record);
  }
}

TEST(BackwardLinkerTest, TakesAllOfTheForwardKernel) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  KernelRecord forward = Forward("outer", {5});
  forward.markers.push_back("inner");
  forward.seq_markers = {"aten::linear, seq = 5", "mm, stashed seq=6"};
  linker.AddForward(forward);
  const ForwardMatch match = linker.Find(Backward(5));
  ASSERT_NE(match.op, nullptr);
  EXPECT_THAT(match.op->markers, ElementsAre("outer", "inner"));
  EXPECT_THAT(match.op->layer, ElementsAre("encoder"));
  EXPECT_THAT(match.op->trace, ElementsAre("net.py:1"));
  EXPECT_THAT(match.op->mod, ElementsAre("torch"));
  EXPECT_THAT(match.op->op, ElementsAre("outer"));
  EXPECT_THAT(match.op->seq_names, ElementsAre("aten::linear", "mm"));
}

TEST(BackwardLinkerTest, NothingFits) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("a", {5}));
  EXPECT_EQ(Found(&linker, Backward(6)), "no-forward");
  KernelRecord numberless = Backward(5);
  numberless.seq_ids.clear();
  EXPECT_EQ(Found(&linker, numberless), "no-forward");
}

TEST(BackwardLinkerTest, TheLastKernelOfANumberCounts) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("counter update", {5}));
  linker.AddForward(Forward("batch_norm", {5}));
  EXPECT_EQ(Found(&linker, Backward(5)), "batch_norm");
  linker.AddForward(Forward("later", {5}));
  EXPECT_EQ(Found(&linker, Backward(5)), "later");
}

TEST(BackwardLinkerTest, ForwardKernelsAfterABackwardOneAreAnotherRun) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("mm", {5}));
  linker.AddForward(Forward("mm", {5}));
  const int64_t first = linker.Find(Backward(5)).run;
  EXPECT_EQ(linker.Find(Backward(5)).run, first);
  linker.AddForward(Forward("mm", {6}));
  EXPECT_EQ(linker.Find(Backward(5)).run, first) << "another number";
  linker.AddForward(Forward("mm", {5}));
  const int64_t second = linker.Find(Backward(5)).run;
  EXPECT_NE(second, first);
  EndGeneration(&linker);
  EXPECT_EQ(linker.Find(Backward(5)).run, second);
  linker.AddForward(Forward("mm", {5}));
  EXPECT_NE(linker.Find(Backward(5)).run, second);
}

TEST(BackwardLinkerTest, OwnNumbersComeBeforeNestedOnes) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("own", {5}, {9}));
  linker.AddForward(Forward("nested", {4}, {5, 6}));
  EXPECT_EQ(Found(&linker, Backward(5)), "own");
  EXPECT_EQ(Found(&linker, Backward(6)), "nested");
  EXPECT_EQ(Found(&linker, Backward(9)), "own");
}

TEST(BackwardLinkerTest, OnlyTheFirstNumberOfTheBackwardKernelCounts) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("a", {5}));
  linker.AddForward(Forward("b", {6}));
  KernelRecord backward = Backward(6);
  backward.seq_ids = {6, 5};
  EXPECT_EQ(Found(&linker, backward), "b");
}

TEST(BackwardLinkerTest, ProcessesAreApart) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  for (int64_t pid : {10, 20}) {
    KernelRecord forward = Forward(pid == 10 ? "ten" : "twenty", {5});
    forward.process_id = pid;
    linker.AddForward(forward);
  }
  KernelRecord backward = Backward(5);
  EXPECT_EQ(Found(&linker, backward), "no-forward");
  backward.process_id = 10;
  EXPECT_EQ(Found(&linker, backward), "ten");
  backward.process_id = 20;
  EXPECT_EQ(Found(&linker, backward), "twenty");
}

// Candidates of several threads, with the node of the backward kernel.
struct ThreadCase {
  const char* name;
  std::string first_text, first_seq;    // Forward kernel of thread 1.
  std::string second_text, second_seq;  // Of thread 2, later.
  int64_t backward_thread;
  std::string node;
  std::string expected;
};

class SeveralThreads : public testing::TestWithParam<ThreadCase> {};

TEST_P(SeveralThreads, ChoosesOne) {
  const ThreadCase& c = GetParam();
  Epochs epochs;
  BackwardLinker linker(&epochs);
  KernelRecord first = Forward(c.first_text, {5}, {}, 1);
  first.seq_markers = {c.first_seq};
  linker.AddForward(first);
  KernelRecord second = Forward(c.second_text, {5}, {}, 2);
  second.seq_markers = {c.second_seq};
  linker.AddForward(second);
  KernelRecord backward = Backward(5, c.backward_thread);
  backward.seq_markers = {c.node};
  EXPECT_EQ(Found(&linker, backward), c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SeveralThreads,
    testing::Values(ThreadCase{"OwnThreadWins", "a", "mm, seq = 5", "b", "mul, seq = 5", 1,
                               "MulBackward0, seq = 5", "a"},
                    ThreadCase{"SameOpEverywhere", "a", "mm, seq = 5", "a", "mm, seq = 5", 9,
                               "MmBackward, seq = 5", "a"},
                    ThreadCase{"NameOfTheNode", "a", "aten::mm, seq = 5, op_id = 3", "b",
                               "mul, seq = 5", 9,
                               "torch::autograd::MmBackward0, seq = 5, op_id = 8", "a"},
                    ThreadCase{"NameOfTheNodeSpelledOtherwise", "a", "relu, seq = 5", "b",
                               "_log_softmax, seq = 5", 9, "LogSoftmaxBackward, seq = 5", "b"},
                    ThreadCase{"NameWithinTheNode", "a", "relu, seq = 5", "b",
                               "layer_norm, seq = 5", 9, "NativeLayerNormBackward, seq = 5", "b"},
                    ThreadCase{"BothNamesFit", "a", "mm, seq = 5", "b", "mm, seq = 5", 9,
                               "MmBackward, seq = 5", "ambiguous-forward"},
                    ThreadCase{"NoNameFits", "a", "mm, seq = 5", "b", "mul, seq = 5", 9,
                               "CustomBackward, seq = 5", "ambiguous-forward"},
                    ThreadCase{"InnerOpOfTheNodeIsNoNode", "a", "mm, seq = 5", "b", "mul, seq = 5",
                               9, "mm, seq = 0", "ambiguous-forward"}),
    [](const auto& test) { return test.param.name; });

// A kernel of a node for which our own parse found no forward op.
KernelRecord Unlinked(int64_t seq_id, std::string_view node) {
  KernelRecord record = Backward(seq_id);
  record.phase = Phase::kBackward;
  record.seq_markers = {node};
  return record;
}

TEST(BackwardLinkerTest, WhereParseFoundNoForwardOpTheNumberAloneIsNone) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  KernelRecord forward = Forward("copy_", {492});
  forward.phase = Phase::kForward;
  forward.seq_markers = {"aten::to, seq = 492"};
  linker.AddForward(forward);
  constexpr std::string_view kNode = "torch::autograd::CppNode<Lookup>, seq = 492";
  EXPECT_EQ(Found(&linker, Unlinked(492, kNode)), "no-forward");
  EXPECT_EQ(Found(&linker, Unlinked(492, "MulBackward0, seq = 492")), "no-forward");
  EXPECT_EQ(Found(&linker, Unlinked(492, "ToBackward0, seq = 492")), "copy_");
  KernelRecord of_pyprof = Unlinked(492, kNode);
  of_pyprof.phase = Phase::kUnknown;
  EXPECT_EQ(Found(&linker, of_pyprof), "copy_");
}

TEST(BackwardLinkerTest, WhereParseHadOpsOfSeveralThreadsTheNameMustFit) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  for (int64_t thread : {1, 2, 3}) {
    KernelRecord forward = Forward(thread == 1 ? "mul" : thread == 2 ? "mm" : "large mm", {5});
    forward.thread_id = thread;
    forward.device_id = thread;
    forward.seq_markers = {thread == 1 ? "mul, seq = 5" : "mm, seq = 5"};
    linker.AddForward(forward);
  }
  EXPECT_EQ(Found(&linker, Unlinked(5, "MulBackward0, seq = 5")), "mul");
  KernelRecord backward = Unlinked(5, "MmBackward0, seq = 5");
  EXPECT_EQ(Found(&linker, backward), "ambiguous-forward");
  backward.device_id = 3;
  EXPECT_EQ(Found(&linker, backward), "large mm");
  backward.device_id = 1;
  EXPECT_EQ(Found(&linker, backward), "ambiguous-forward") << "the op on that GPU does not fit";
  backward.thread_id = 2;
  EXPECT_EQ(Found(&linker, backward), "mm");
  EXPECT_EQ(Found(&linker, Unlinked(5, "AddBackward0, seq = 5")), "ambiguous-forward");
}

TEST(BackwardLinkerTest, ANodeWithANumberGoesByThatAlone) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  KernelRecord forward = Forward("mm", {5});
  forward.nodes = {3};
  forward.node_ops = {1};
  forward.seq_markers = {"mm, seq = 5"};
  linker.AddForward(forward);
  KernelRecord backward = Unlinked(6, "AddmmBackward0, seq = 6");
  backward.nodes = {3};
  EXPECT_EQ(Found(&linker, backward), "mm");
  backward = Unlinked(5, "MmBackward0, seq = 5");
  backward.nodes = {4};
  EXPECT_EQ(Found(&linker, backward), "no-forward") << "its kernels are not in the input";
  backward.forward_markers = {"the record tells it"};
  EXPECT_EQ(Found(&linker, backward), "the record tells it");
}

// Replicas of a model, one a GPU, each with a forward thread of its own and parts of the batch of
// different size.
TEST(BackwardLinkerTest, CandidatesOfOtherGpusAreLeftOut) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  for (int64_t device : {0, 1, 2}) {
    KernelRecord forward = Forward(device == 2 ? "small batch" : "batch", {5}, {}, device);
    forward.device_id = device;
    forward.seq_markers = {"mm, seq = 5"};
    linker.AddForward(forward);
  }
  KernelRecord backward = Backward(5);
  backward.seq_markers = {"MmBackward, seq = 5"};
  backward.device_id = 2;
  EXPECT_EQ(Found(&linker, backward), "small batch");
  backward.device_id = 1;
  EXPECT_EQ(Found(&linker, backward), "batch");
  backward.device_id = 3;
  EXPECT_EQ(Found(&linker, backward), "ambiguous-forward");
}

TEST(BackwardLinkerTest, KeepsRecentOpsAndForgetsOldOnes) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("old", {1}));
  linker.AddForward(Forward("used", {2}));
  EndGeneration(&linker);
  EXPECT_EQ(Found(&linker, Backward(1)), "old") << "one generation back is still there";
  linker.AddForward(Forward("used", {3}));
  EndGeneration(&linker);
  EXPECT_EQ(Found(&linker, Backward(1)), "no-forward");
  EXPECT_EQ(Found(&linker, Backward(3)), "used");
}

TEST(BackwardLinkerTest, TheNewerGenerationShadowsTheOlder) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("before", {1}));
  EndGeneration(&linker);
  linker.AddForward(Forward("after", {1}));
  EXPECT_EQ(Found(&linker, Backward(1)), "after");
}

// Rows that wait point to what was found.
TEST(BackwardLinkerTest, AFoundOpLivesAsLongAsAPin) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("text of the op", {1}));
  const Epochs::Pin pin = epochs.Current();
  const ForwardMatch match = linker.Find(Backward(1));
  ASSERT_NE(match.op, nullptr);
  // Twice the ops that may be remembered.
  for (int i = 0; i < 100; ++i) {
    const std::string text = fmt::format("{}{}", i, std::string(1000000, 'x'));
    linker.AddForward(Forward(text, {2}));
  }
  EXPECT_EQ(Found(&linker, Backward(1)), "no-forward");
  EXPECT_THAT(match.op->markers, ElementsAre("text of the op"));
}

// Each op is larger than all that may be remembered, and each record has several.
TEST(BackwardLinkerTest, HugeOpsAreForgottenWhole) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  const std::string huge(12000000, 'x');
  const std::string outer = "outer" + huge;
  const std::string inner = "inner" + huge;
  for (int64_t i = 0; i < 6; ++i) {
    KernelRecord forward = Forward(outer, {i});
    forward.markers.push_back(inner);
    forward.nodes = {i + 1, i + 100};
    forward.node_ops = {1, 2};
    forward.layer = {i % 2 == 0 ? "even" : "odd"};
    linker.AddForward(forward);
    const ForwardMatch match = linker.Find(Backward(i));
    if (match.op != nullptr) {
      EXPECT_EQ(match.op->markers.size(), 2u);
    }
  }
}

TEST(BackwardLinkerTest, MemoryIsBounded) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  for (int64_t i = 0; i < 400000; ++i) linker.AddForward(Forward("a", {i}));
  EXPECT_EQ(Found(&linker, Backward(399999)), "a");
  EXPECT_EQ(Found(&linker, Backward(0)), "no-forward");
}

// A hostile record must not be remembered under a million numbers, nor a number for a million
// threads.
TEST(BackwardLinkerTest, HostileRecordsCostLittle) {
  Epochs epochs;
  BackwardLinker linker(&epochs);
  linker.AddForward(Forward("kept", {-1}));
  linker.AddForward(Forward("many numbers", std::vector<int64_t>(1000000, 1)));
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 1000000; ++i) ids.push_back(i);
  linker.AddForward(Forward("many numbers", ids, ids));
  for (int64_t thread = 0; thread < 200000; ++thread) {
    linker.AddForward(Forward("many threads", {7}, {}, thread));
  }
  EXPECT_EQ(Found(&linker, Backward(-1)), "kept");
  linker.AddForward(Forward("extremes", {INT64_MIN, INT64_MAX}, {}, INT64_MIN));
  EXPECT_EQ(Found(&linker, Backward(INT64_MIN)), "extremes");
}

}  // namespace
}  // namespace oplens::prof::link_backward_test
