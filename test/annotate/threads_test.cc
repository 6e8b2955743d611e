// Many threads, and memory: no thread changes what another one emits, and none asks for memory once
// it is under way.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <new>
#include <thread>

#include "nvtx_annotate/annotate.h"
#include "test/annotate/annotate_fixture.h"

namespace {

// How often this thread asked for memory since it began to count; negative: it does not count.
thread_local int64_t t_allocations = -1;

[[maybe_unused]] void CountAllocation() {
  if (t_allocations >= 0) ++t_allocations;
}

}  // namespace

// The sanitizers have an allocator of their own.
#if OPLENS_COUNTS_ALLOCATIONS
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  CountAllocation();
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  CountAllocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  CountAllocation();
  return __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) {
  CountAllocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
}
#endif

namespace oplens::test {
namespace {

using annotate::Arg;
using annotate::DType;
using annotate::ForwardLink;
using annotate::OpName;
using annotate::ScopedBackward;
using annotate::ScopedForward;
using annotate::ScopedIteration;
using annotate::ScopedLayer;
using annotate::ScopedOp;
using annotate::ScopedPhase;
using annotate::ScopedRange;
using annotate::ScopedTrace;
using annotate::Tensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

OpName Name(const char* mod, const char* op) { return {mod, op, nullptr, 0}; }

class ThreadsTest : public AnnotateTest {
 protected:
  static std::vector<std::string> OutlineOf(NvtxCapture capture, int64_t thread_id) {
    std::erase_if(capture.events,
                  [&](const NvtxEvent& event) { return event.thread_id != thread_id; });
    return WithoutThreadIds(Outline(RangesOf(capture)), {thread_id});
  }
};

/// One of everything. `name` tells the threads apart.
void EmitStep(int64_t number, const char* name) {
  const ScopedIteration step(number);
  const ScopedPhase phase(annotate::Phase::kForward);
  const ScopedLayer layer(name);
  const char* const frames[] = {"train.py:1", name};
  const ScopedTrace trace(frames, 2);
  ForwardLink link;
  {
    const ScopedForward op({"torch", name, "net.py", 3}, Tensor({64, 32}, DType::kFloat16),
                           Tensor({32, 16}, DType::kFloat16).InList(1),
                           Arg("mean").Named("reduction"), 1.5, annotate::IntList({1, 2}));
    link = op.link();
    const ScopedOp inner(Name("torch", "inner"), true, nullptr);
  }
  { const ScopedBackward node("NodeBackward0", link); }
  const uint64_t token = oplens_layer_begin("token");
  const ScopedRange range("any text");
  oplens_end(token);
}

TEST_F(ThreadsTest, SixteenThreads) {
  constexpr size_t kThreads = 16;
  constexpr int64_t kSteps = 300;
  const std::vector<std::string> expected = EmitOutline([] {
    for (int64_t i = 0; i < kSteps; ++i) EmitStep(i, "NAME");
  });
  RecorderCall<void()>("oplens_test_recorder_clear")();

  std::vector<int64_t> ids(kThreads);
  std::barrier ready(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const std::string name = fmt::format("thread_{}", i);
      ids[i] = static_cast<int64_t>(annotate::ScopedForward(Name("torch", "id")).link().thread);
      ready.arrive_and_wait();
      for (int64_t step = 0; step < kSteps; ++step) EmitStep(step, name.c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();

  const NvtxCapture capture = Capture();
  EXPECT_THAT(RangesOf(capture).faults, IsEmpty());
  for (size_t i = 0; i < kThreads; ++i) {
    std::vector<std::string> lines = OutlineOf(capture, ids[i]);
    ASSERT_EQ(lines.size(), expected.size() + 2);
    // Its first op took sequence number 0.
    lines.erase(lines.begin(), lines.begin() + 2);
    for (size_t n = 0; n < lines.size(); ++n) {
      if (lines[n].find("seq") != std::string::npos) continue;
      std::string& line = lines[n];
      const std::string name = fmt::format("thread_{}", i);
      for (size_t at = line.find(name); at != line.npos; at = line.find(name, at)) {
        line.replace(at, name.size(), "NAME");
      }
      ASSERT_EQ(line, expected[n]);
    }
  }
}

TEST_F(ThreadsTest, SequenceNumbersOfEachThread) {
  std::vector<ForwardLink> links;
  for (int i = 0; i < 2; ++i) {
    std::thread([&links] {
      for (int n = 0; n < 2; ++n) {
        const ScopedForward op(Name("torch", "op"));
        links.push_back(op.link());
      }
    }).join();
  }
  ASSERT_EQ(links.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(links[i].seq, static_cast<int64_t>(i % 2));
  EXPECT_EQ(links[0].thread, links[1].thread);
  EXPECT_EQ(links[2].thread, links[3].thread);
}

TEST_F(ThreadsTest, NodeOnAnotherThread) {
  ForwardLink link;
  NvtxRanges forward = Emit([&link] {
    const ScopedForward op(Name("torch", "mm"));
    link = op.link();
  });
  const NvtxRanges backward = Emit([&link] { const ScopedBackward node("MmBackward0", link); });
  ASSERT_EQ(backward.ranges.size(), 2U);
  EXPECT_THAT(WithoutThreadIds(Outline(backward),
                               {backward.ranges[0].thread_id, forward.ranges.at(0).thread_id}),
              ElementsAre("{'oplens': {'v': 1, 'seq': 0, 'tid': T1, 'ftid': T2, 'dir': 'b', "
                          "'node': 'MmBackward0'}}",
                          "  MmBackward, seq = 0"));
}

TEST_F(ThreadsTest, WindowIsSwitchedWhileThreadsEmit) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&stop] {
      while (!stop.load()) EmitStep(1, "layer");
    });
  }
  for (int i = 0; i < 200; ++i) {
    annotate::Stop();
    annotate::Start();
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(RangesOf(Capture()).faults, IsEmpty());
}

TEST_F(ThreadsTest, ManyShortThreads) {
  for (int i = 0; i < 200; ++i) std::thread([] { EmitStep(0, "short"); }).join();
  EXPECT_THAT(RangesOf(Capture()).faults, IsEmpty());
}

TEST_F(ThreadsTest, MoreNamesThanAreKept) {
  const NvtxRanges ranges = Emit([] {
    for (int i = 0; i < 20'000; ++i) {
      const std::string name = fmt::format("op_{}", i);
      const ScopedOp op(Name("torch", name.c_str()));
    }
  });
  ASSERT_EQ(ranges.ranges.size(), 20'000U);
  for (size_t i = 0; i < ranges.ranges.size(); ++i) {
    ASSERT_THAT(ranges.ranges[i].text,
                ::testing::StartsWith(fmt::format("{{'mod': 'torch', 'op': 'op_{}', ", i)));
  }
}

TEST_F(ThreadsTest, NamesInMemoryThatIsUsedAgain) {
  char name[8] = {};
  char mod[8] = {};
  const NvtxRanges ranges = Emit([&] {
    for (int i = 0; i < 100; ++i) {
      fmt::format_to(name, "op{:03}", i);
      fmt::format_to(mod, "mod{:03}", i / 2);
      const ScopedOp op(Name(mod, name));
    }
  });
  ASSERT_EQ(ranges.ranges.size(), 100U);
  for (size_t i = 0; i < 100; ++i) {
    ASSERT_THAT(ranges.ranges[i].text, ::testing::StartsWith(fmt::format(
                                           "{{'mod': 'mod{:03}', 'op': 'op{:03}', ", i / 2, i)));
  }
}

/// Calls `emit` once, then counts what a thousand more calls ask for.
int64_t CountAllocations(const std::function<void()>& emit) {
  int64_t count = 0;
  std::thread([&] {
    emit();
    t_allocations = 0;
    for (int i = 0; i < 1000; ++i) emit();
    count = t_allocations;
    t_allocations = -1;
  }).join();
  return count;
}

TEST_F(ThreadsTest, NoMemoryOnceUnderWay) {
  if (!OPLENS_COUNTS_ALLOCATIONS) GTEST_SKIP() << "the sanitizers allocate in their own way";
  EXPECT_EQ(CountAllocations([] { free(std::malloc(8)); }), 1000);
  EXPECT_EQ(CountAllocations([] { ::operator delete(::operator new(8)); }), 1000);
  EXPECT_EQ(CountAllocations([] { EmitStep(1, "layer"); }), 0);
  const std::string text(100'000, 'x');
  EXPECT_EQ(CountAllocations([&] {
              const ScopedOp op(Name("torch", "long"), Arg(text), Arg(1).Named(text.c_str()));
              const ScopedRange range(text);
              const ScopedLayer layer(text.c_str());
            }),
            0);
  EXPECT_EQ(CountAllocations([&] {
              const uint64_t token = oplens_op_begin("torch", "op", nullptr, 0);
              oplens_end(token);
            }),
            0);
  annotate::Stop();
  EXPECT_EQ(CountAllocations([] { EmitStep(1, "layer"); }), 0);
  annotate::Start();
}

}  // namespace
}  // namespace oplens::test
