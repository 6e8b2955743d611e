#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "prof/advice/facts.h"
#include "prof/advice/rule.h"
#include "prof/views/path/advice_facts.h"
#include "prof/views/views.h"
#include "test/support/view_rows.h"
#include "test/views/made_run.h"

namespace oplens::prof::advice_test {
namespace {

using advice::RankFacts;
using advice::Topic;
using test::MadeRun;
using test::ViewRow;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

/// Launches lie so far apart, and kernels take so long, that the GPU is always busy.
constexpr int64_t kEvery = 20'000;

/// Steps whose kernels follow each other without a gap.
struct CleanRun : MadeRun {
  explicit CleanRun(int64_t steps) {
    for (int64_t step = 0; step < steps; ++step) AddCleanStep(step, step * 10 * kEvery);
  }
  void AddCleanStep(int64_t number, int64_t start_ns) {
    AddStep(number, start_ns, start_ns + 10 * kEvery);
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t at = start_ns + i * kEvery;
      AddRange("aten::mm", at + 1, at + 9'000, RangeKind::kOperator);
      AddKernel(at + 10'000, at + 10'000 + kEvery, AddCall(at + 100, at + 5'000));
    }
  }
};

/// Without what is said of each of these runs: they have no ops with shapes.
std::vector<std::string> IdsOf(const std::vector<ViewRow>& rows) {
  std::vector<std::string> ids;
  for (const ViewRow& row : rows) {
    if (row.at("id") != "thin-recording") ids.push_back(row.at("id"));
  }
  return ids;
}

RankFacts FactsOf(MadeRun* made, const std::function<void(PricedKernel*)>& see = {}) {
  AdviceFacts facts;
  facts.Begin(&made->run());
  for (size_t i = 0; i < made->trace.kernels.size(); ++i) {
    const Kernel& own = made->trace.kernels[i];
    KernelRecord record;
    record.start_ns = own.start_ns;
    record.end_ns = own.end_ns;
    record.duration_ns = own.end_ns - own.start_ns;
    record.short_name = record.long_name = made->trace.strings.View(own.name);
    PricedKernel kernel;
    kernel.record = &record;
    kernel.work = static_cast<uint32_t>(i);
    if (see) see(&kernel);
    facts.Add(kernel);
  }
  return facts.End();
}

TEST(AdviceTest, NothingToSayOfACleanRun) {
  CleanRun made(6);
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make)), IsEmpty());
  CleanRun again(6);
  const auto see = [](PricedKernel* kernel) { kernel->share.flops = 1; };
  const auto partial = again.PartialOf(kAdviceView.make, see);
  EXPECT_THAT(partial->Document(), HasSubstr("nothing to advise: "));
  EXPECT_TRUE(partial->IsDocument());
}

TEST(AdviceTest, RowsAndDocumentSayTheSame) {
  CleanRun made(5);
  made.AddStep(5, 50 * kEvery, 150 * kEvery);
  made.AddRange("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 52 * kEvery,
                148 * kEvery);
  made.AddKernel(148 * kEvery + 100, 150 * kEvery, made.AddCall(148 * kEvery, 148 * kEvery + 50));
  made.AddCleanStep(6, 150 * kEvery);  // Else the recording would have cut the one before.
  const auto partial = made.PartialOf(kAdviceView.make, [](PricedKernel*) {});
  const std::vector<ViewRow> rows = test::RowsOf(*partial);
  ASSERT_THAT(IdsOf(rows), Contains("dataloader"));
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("id"), "dataloader");
  EXPECT_EQ(row.at("severity"), "high");
  EXPECT_EQ(row.at("ranks"), "1");
  EXPECT_EQ(row.at("evidence_view"), "overview");
  EXPECT_GT(std::stod(row.at("gain_pct")), 50);
  const std::string text = partial->Document();
  EXPECT_THAT(text, HasSubstr(row.at("item")));
  EXPECT_THAT(text, HasSubstr("    step 5: "));
  EXPECT_THAT(text, HasSubstr(row.at("change")));
  EXPECT_THAT(text, HasSubstr("prof FILE " + row.at("command")));
}

std::vector<ViewRow> ByStep(MadeRun* made) {
  ViewOptions options;
  options.by = {"step"};
  return made->RowsOf([&](const ViewOptions&) { return kAdviceView.make(options); });
}

// Two steps of 200 us, and one of 2 ms that waits for a batch; the last is cut.
TEST(AdviceTest, ByStepTheGainsAddUp) {
  CleanRun made(5);
  made.AddStep(5, 50 * kEvery, 150 * kEvery);
  made.AddRange("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 52 * kEvery,
                148 * kEvery);
  made.AddKernel(148 * kEvery + 100, 150 * kEvery, made.AddCall(148 * kEvery, 148 * kEvery + 50));
  made.AddCleanStep(6, 150 * kEvery);
  const std::vector<ViewRow> whole = made.RowsOf(kAdviceView.make);
  ASSERT_EQ(whole[0].at("id"), "dataloader");
  double time_ns = 0;
  double gain_ns = 0;
  for (const ViewRow& row : ByStep(&made)) {
    if (row.at("id") != "dataloader") continue;
    if (row.at("time_ns").empty()) continue;  // Not steady.
    EXPECT_EQ(row.at("gain_ns") == "0", row.at("step") != "5") << row.at("step");
    time_ns += std::stod(row.at("time_ns"));
    gain_ns += std::stod(row.at("gain_ns"));
  }
  EXPECT_DOUBLE_EQ(100 * gain_ns / time_ns, std::stod(whole[0].at("gain_pct")));
}

TEST(AdviceTest, WithoutStepsThereIsNothingByStep) {
  MadeRun made;
  made.AddRange("aten::item", 4'000, 112'000, RangeKind::kOperator);
  made.AddKernel(10'000, 110'000, made.AddCall(1'000, 2'000));
  made.AddCall(5'000, 111'000, "cudaStreamSynchronize");
  made.AddKernel(145'000, 300'000, made.AddCall(140'000, 144'000));
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make)), ElementsAre("blocking-calls"));
  EXPECT_THAT(ByStep(&made), IsEmpty());
}

// The host waits 100 us for the first kernel, and the GPU then 30 us for the next launch; had it
// not waited, the launch would have been there.
//
//     host   |call|--- synchronize 5..110 ---|      |call 140|
//     GPU         |--- 10..110 ---|                       |--- 145..300 ---|
TEST(AdviceTest, BlockingCallsWithTheirPlace) {
  MadeRun made;
  made.AddRange("train.py(10): step", 0, 400'000, RangeKind::kFrame);
  made.AddRange("aten::item", 4'000, 112'000, RangeKind::kOperator);
  made.AddKernel(10'000, 110'000, made.AddCall(1'000, 2'000));
  made.AddCall(5'000, 111'000, "cudaStreamSynchronize");
  made.AddKernel(145'000, 300'000, made.AddCall(140'000, 144'000));
  const RankFacts facts = FactsOf(&made);
  const auto& places = facts.At(Topic::kBlocking).places;
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places.begin()->first, "cudaStreamSynchronize in aten::item at train.py(10): step");
  EXPECT_EQ(places.begin()->second.count, 1);
  EXPECT_EQ(places.begin()->second.time_ns, 106'000);
  EXPECT_EQ(places.begin()->second.gain_ns, 34'000);  // Until the launch returned.
  // What is before the first kernel is the cold start.
  EXPECT_EQ(facts.At(Topic::kHost).all.gain_ns, 0);
  // Without the call, the second kernel is launched while the first runs.
  EXPECT_TRUE(facts.has_replay);
  EXPECT_EQ(facts.At(Topic::kBlocking).saved_ns, 35'000);
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make)), ElementsAre("blocking-calls"));
}

// What the host does afterwards for longer than it had waited is its own.
TEST(AdviceTest, ABlockingCallCostsAtMostWhatItTook) {
  MadeRun made;
  made.AddKernel(10'000, 20'000, made.AddCall(1'000, 2'000));
  made.AddCall(19'000, 21'000, "cudaDeviceSynchronize");
  made.AddKernel(80'000, 100'000, made.AddCall(70'000, 75'000));
  const RankFacts facts = FactsOf(&made);
  EXPECT_EQ(facts.At(Topic::kBlocking).all.gain_ns, 2'000);
  EXPECT_EQ(facts.At(Topic::kHost).all.gain_ns, 55'000 - 2'000);  // Until the launch returned.
}

TEST(AdviceTest, WaitsBeforeKernelsAreTheirs) {
  MadeRun made;
  for (int64_t i = 0; i < 100; ++i) {
    const int64_t at = i * 10'000;
    made.AddKernel(at + 6'000, at + 8'000, made.AddCall(at, at + 5'000), "small");
  }
  const RankFacts facts = FactsOf(&made);
  const auto& shorts = facts.At(Topic::kShort);
  EXPECT_EQ(shorts.all.count, 100);
  EXPECT_EQ(shorts.all.time_ns, 200'000);
  EXPECT_EQ(shorts.all.gain_ns, 99 * 7'000);
  EXPECT_EQ(facts.At(Topic::kHost).all.gain_ns, 0);  // Each wait belongs to one rule.
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make)), ElementsAre("short-kernels"));
}

// A first launch of 2 ms loads code: that is no host that is too slow.
TEST(AdviceTest, ColdLaunchesAreLeftOut) {
  MadeRun made;
  made.AddKernel(100, 1'000, made.AddCall(0, 50));
  made.AddKernel(2'001'100, 2'900'000, made.AddCall(1'000, 2'001'000));
  const RankFacts facts = FactsOf(&made);
  EXPECT_EQ(facts.idle_ns[static_cast<size_t>(IdleCause::kModuleLoad)], 2'000'000);
  EXPECT_EQ(facts.At(Topic::kHost).all.gain_ns, 0);
  EXPECT_EQ(facts.capacity_ns(), 2'900'000 - 100);  // Without what is before the first kernel.
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make)), ElementsAre("cold-start"));
}

TEST(AdviceTest, PageableCopies) {
  CleanRun made(2);
  made.AddRange("aten::copy_", 20 * kEvery, 30 * kEvery, RangeKind::kOperator);
  made.AddCopy(20 * kEvery + 10'000, 30 * kEvery,
               made.AddCall(20 * kEvery + 5, 20 * kEvery + 50, "cudaMemcpyAsync"));
  made.trace.copies.back().source_kind = MemoryKind::kPageable;
  made.trace.copies.back().target_kind = MemoryKind::kDevice;
  made.AddStep(2, 20 * kEvery, 30 * kEvery);
  made.AddCleanStep(3, 30 * kEvery);
  const auto partial = made.PartialOf(kAdviceView.make, [](PricedKernel*) {});
  ASSERT_THAT(IdsOf(test::RowsOf(*partial)), ElementsAre("pageable-copies"));
  EXPECT_THAT(partial->Document(), HasSubstr("host to GPU in aten::copy_: 1 x"));
}

// Pinned ones cost what nothing hides.
TEST(AdviceTest, PinnedCopies) {
  const auto ids = [](bool hidden) {
    CleanRun pinned(2);
    pinned.AddCopy(20 * kEvery + 10'000, 30 * kEvery,
                   pinned.AddCall(20 * kEvery + 5, 20 * kEvery + 50, "cudaMemcpyAsync"));
    pinned.trace.copies.back().source_kind = MemoryKind::kPinned;
    if (hidden) {
      pinned.AddKernel(20 * kEvery + 9'000, 30 * kEvery,
                       pinned.AddCall(20 * kEvery + 60, 20 * kEvery + 90));
    }
    pinned.AddStep(2, 20 * kEvery, 30 * kEvery);
    pinned.AddCleanStep(3, 30 * kEvery);
    return IdsOf(pinned.RowsOf(kAdviceView.make));
  };
  EXPECT_THAT(ids(false), ElementsAre("pinned-copies"));
  EXPECT_THAT(ids(true), IsEmpty());
}

// The GPU is idle for 60 us of each cudaFree. A call beside which it works costs nothing.
TEST(AdviceTest, AllocationsInSteps) {
  CleanRun made(3);
  made.AddCall(15 * kEvery + 10'000, 16 * kEvery, "cudaMalloc");
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make)), IsEmpty());
  const auto add_calls = [](std::string_view api, MadeRun* run) {
    for (int64_t step = 0; step < 4; ++step) {
      const int64_t at = step * 200'000;
      run->AddKernel(at + 10'000, at + 100'000, run->AddCall(at + 1'000, at + 5'000));
      run->AddCall(at + 90'000, at + 160'000, api);
      run->AddKernel(at + 170'000, at + 199'000, run->AddCall(at + 161'000, at + 165'000));
    }
  };
  MadeRun retries;
  add_calls("cudaFree", &retries);
  for (int64_t step = 0; step < 4; ++step)
    retries.AddStep(step, step * 200'000, (step + 1) * 200'000);
  const auto partial = retries.PartialOf(kAdviceView.make, [](PricedKernel*) {});
  ASSERT_THAT(IdsOf(test::RowsOf(*partial)), Contains("allocator-retries"));
  EXPECT_THAT(partial->Document(), HasSubstr("cudaFree: 4 x, 240 us\n"));
  // Without steps it may be the filling of a cache; other calls wait for nothing either.
  MadeRun run;
  add_calls("cudaStreamCreate", &run);
  EXPECT_THAT(IdsOf(run.RowsOf(kAdviceView.make)), Contains("api-calls"));
}

/// What a test makes of each kernel, by its number.
using See = std::function<void(PricedKernel*)>;

ops::Gpu MadeGpu() {
  ops::Gpu gpu;
  gpu.name = "Made up";
  gpu.compute_capability = 80;
  gpu.multiprocessors = 100;
  gpu.dram_bytes_per_s = 1'000'000'000'000;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kVectorFp32)] = 10e12;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kTensorTf32)] = 50e12;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kTensorFp16)] = 100e12;
  return gpu;
}

/// A product of 1000 x 1000 x k; `type` of the factors.
ops::PricedOp Product(ops::DType type, int64_t k) {
  ops::PricedOp op;
  op.matmul_like = true;
  op.product.emplace();
  op.product->m = op.product->n = 1000;
  op.product->k = k;
  op.product->left = op.product->right = type;
  op.product->extents = {{"M", 1000}, {"N", 1000}, {"K", k}};
  return op;
}

/// Each kernel is such a product; it takes 20 us.
See EachIs(const ops::PricedOp* op, const ops::Gpu* gpu, ops::TensorCoreUse use) {
  return [=](PricedKernel* kernel) {
    kernel->op = "mm";
    kernel->price = op;
    kernel->gpu = gpu;
    kernel->tensor_core = use;
    kernel->share.role = ops::Role::kMain;
    kernel->share.flops = kernel->share.flops_mma = 200'000'000;
    kernel->share.bytes = 4'000'000;
  };
}

TEST(AdviceTest, DimsToPad) {
  const ops::Gpu gpu = MadeGpu();
  const ops::PricedOp odd = Product(ops::DType::kFloat16, 1001);
  CleanRun made(2);
  const RankFacts facts = FactsOf(&made, EachIs(&odd, &gpu, ops::TensorCoreUse::kYes));
  ASSERT_EQ(facts.At(Topic::kPad).places.size(), 1u);
  EXPECT_THAT(facts.At(Topic::kPad).places.begin()->first, HasSubstr("K=1001: pad to 1008"));
  // 2 us at 100 TFLOP/s, 4 us at 1 TB/s.
  EXPECT_EQ(facts.At(Topic::kPad).all.gain_ns, 20 * 16'000);
  CleanRun even(2);
  const ops::PricedOp round = Product(ops::DType::kFloat16, 1008);
  EXPECT_THAT(FactsOf(&even, EachIs(&round, &gpu, ops::TensorCoreUse::kYes)).At(Topic::kPad).places,
              IsEmpty());
}

TEST(AdviceTest, Fp32Products) {
  const ops::Gpu gpu = MadeGpu();
  const ops::PricedOp op = Product(ops::DType::kFloat32, 1000);
  CleanRun made(2);
  const RankFacts facts = FactsOf(&made, EachIs(&op, &gpu, ops::TensorCoreUse::kNo));
  EXPECT_EQ(facts.products.fp32_ns, 20 * kEvery);
  EXPECT_EQ(facts.At(Topic::kFp32).all.count, 20);
  EXPECT_EQ(facts.At(Topic::kFp32).all.gain_ns, 20 * 16'000);
  CleanRun rows(2);
  EXPECT_THAT(IdsOf(rows.RowsOf(kAdviceView.make, EachIs(&op, &gpu, ops::TensorCoreUse::kNo))),
              ElementsAre("tf32-off"));
  CleanRun tensor(2);
  EXPECT_THAT(IdsOf(tensor.RowsOf(kAdviceView.make, EachIs(&op, &gpu, ops::TensorCoreUse::kYes))),
              ElementsAre("far-from-roof"));
}

TEST(AdviceTest, LayoutTransformsOfConvolutions) {
  ops::PricedOp op = Product(ops::DType::kFloat16, 64);
  op.product->kind = ops::MatrixProduct::Kind::kConvolution;
  const See see = [&op](PricedKernel* kernel) {
    kernel->op = "conv2d";
    kernel->price = &op;
    kernel->share.flops = 1;
    kernel->share.role = kernel->work % 10 == 0 ? ops::Role::kLayout : ops::Role::kMain;
  };
  CleanRun made(5);
  const auto rows = made.RowsOf(kAdviceView.make, see);
  ASSERT_THAT(IdsOf(rows), ElementsAre("layout-transforms"));
  EXPECT_NEAR(std::stod(rows[0].at("gain_pct")), 10, 0.2);
}

TEST(AdviceTest, PhasesOfRecomputationAndOptimizer) {
  CleanRun made(5);
  const See recompute = [](PricedKernel* kernel) {
    kernel->phase = kernel->work % 2 == 0 ? Phase::kRecompute : Phase::kForward;
  };
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make, recompute)), ElementsAre("recomputation"));
  // 100 small kernels a step; foreach's are few.
  const auto run = [](const char* name) {
    MadeRun many;
    for (int64_t i = 0; i < 200; ++i) {
      const int64_t at = i * 20'000;
      many.AddKernel(at + 6'000, at + 25'000, many.AddCall(at, at + 2'000), name);
    }
    many.AddStep(0, 0, 2'000'000);
    many.AddStep(1, 2'000'000, 4'000'000);
    return IdsOf(
        many.RowsOf(kAdviceView.make, [](PricedKernel* k) { k->phase = Phase::kOptimizer; }));
  };
  EXPECT_THAT(run("vectorized_elementwise_kernel"), ElementsAre("per-tensor-optimizer"));
  EXPECT_THAT(run("multi_tensor_apply_kernel"), IsEmpty());
}

TEST(AdviceTest, SmallGrids) {
  const ops::Gpu gpu = MadeGpu();
  const auto ids = [&](int blocks) {
    CleanRun made(3);
    for (Kernel& kernel : made.trace.kernels) {
      kernel.shape = made.trace.shapes.Add({.grid = {blocks, 1, 1}});
    }
    return IdsOf(made.RowsOf(kAdviceView.make, [&](PricedKernel* kernel) { kernel->gpu = &gpu; }));
  };
  EXPECT_THAT(ids(50), ElementsAre("small-grids"));
  EXPECT_THAT(ids(100), IsEmpty());
}

TEST(AdviceTest, MemoryAndParallelism) {
  CleanRun made(2);
  made.trace.devices.push_back({.id = 0, .memory_bytes = 1000});
  for (const int64_t total : {100, 950, 200}) {
    MemoryEvent& event = made.trace.memory_events.emplace_back();
    event.device_id = 0;
    event.total_allocated_bytes = total;
    event.total_reserved_bytes = 960;
  }
  made.AddRange("DataParallel.forward", 10, 20);
  made.AddRange("gloo:all_reduce", 30, 40);
  const RankFacts facts = FactsOf(&made);
  EXPECT_TRUE(facts.has_memory);
  EXPECT_EQ(facts.peak_allocated_bytes, 950);
  EXPECT_EQ(facts.peak_reserved_bytes, 960);
  EXPECT_EQ(facts.allocated_at_peak_bytes, 950);
  EXPECT_EQ(facts.memory_bytes, 1000);
  EXPECT_TRUE(facts.data_parallel);
  EXPECT_TRUE(facts.gloo);
  EXPECT_FALSE(facts.nccl);
}

TEST(AdviceTest, Collectives) {
  CleanRun made(2);
  made.AddKernel(20 * kEvery + 10'000, 25 * kEvery, made.AddCall(20 * kEvery, 20 * kEvery + 100),
                 "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)");
  made.AddStep(2, 20 * kEvery, 25 * kEvery);
  made.AddCleanStep(3, 25 * kEvery);
  const RankFacts facts = FactsOf(&made);
  EXPECT_TRUE(facts.nccl);
  EXPECT_THAT(facts.At(Topic::kCollective).places, ElementsAre(Key("all_reduce")));
  EXPECT_EQ(facts.comm_exposed_ns, 5 * kEvery - 10'000);
  EXPECT_EQ(facts.kernels.count, 30);
  EXPECT_THAT(IdsOf(made.RowsOf(kAdviceView.make)), ElementsAre("exposed-communication"));
}

// Records tell kernels and nothing else.
TEST(AdviceTest, RecordsAlone) {
  const auto partial = kAdviceView.make({});
  partial->Begin(nullptr);
  const ops::Gpu gpu = MadeGpu();
  const ops::PricedOp op = Product(ops::DType::kFloat32, 1000);
  KernelRecord record;
  record.duration_ns = 20'000;
  record.long_name = record.short_name = "sgemm";
  PricedKernel kernel;
  kernel.record = &record;
  EachIs(&op, &gpu, ops::TensorCoreUse::kNo)(&kernel);
  partial->Add(kernel);
  partial->End(nullptr);
  const std::vector<ViewRow> rows = test::RowsOf(*partial);
  ASSERT_THAT(IdsOf(rows), ElementsAre("tf32-off"));
  EXPECT_EQ(rows[0].at("gain_pct"), "80");
  EXPECT_THAT(partial->Notes(), Contains(HasSubstr("dataloader")));
}

TEST(AdviceTest, MergingHasNoOrder) {
  const auto partial_of = [](int64_t steps, int64_t extra) {
    CleanRun made(steps);
    made.AddStep(steps, steps * 10 * kEvery, steps * 10 * kEvery + extra);
    made.AddKernel(
        steps * 10 * kEvery + extra - 10, steps * 10 * kEvery + extra,
        made.AddCall(steps * 10 * kEvery + extra - 100, steps * 10 * kEvery + extra - 20));
    made.trace.devices.push_back({.id = 0, .memory_bytes = 1000});
    MemoryEvent& event = made.trace.memory_events.emplace_back();
    event.device_id = 0;
    event.total_allocated_bytes = 950 + steps;
    return made.PartialOf(kAdviceView.make, [](PricedKernel*) {});
  };
  const auto a = partial_of(3, 3'000'000);
  const auto b = partial_of(5, 500'000);
  const auto ab = kAdviceView.make({});
  ab->Merge(*a);
  ab->Merge(*b);
  const auto ba = kAdviceView.make({});
  ba->Merge(*b);
  ba->Merge(*a);
  EXPECT_EQ(test::RowsOf(*ab), test::RowsOf(*ba));
  EXPECT_EQ(ab->Document(), ba->Document());
  EXPECT_FALSE(test::RowsOf(*ab).empty());
}

// Times that a damaged file may hold.
TEST(AdviceTest, HostileTimes) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  MadeRun made;
  const std::pair<int64_t, int64_t> times[] = {{kMin, kMax}, {kMax, kMin}, {0, kMax},
                                               {1, 2},       {kMin, 3},    {kMax - 1, kMax}};
  for (const auto& [start_ns, end_ns] : times) {
    made.AddKernel(start_ns, end_ns, made.AddCall(end_ns, start_ns));
    made.AddKernel(start_ns, end_ns, made.AddCall(start_ns, end_ns, "cudaMemcpy"));
    made.AddCopy(start_ns, end_ns);
    made.trace.copies.back().source_kind = MemoryKind::kPageable;
    made.AddStep(1, start_ns, end_ns);
    made.AddCall(start_ns, end_ns, "cudaFree");
    made.AddCall(start_ns, end_ns, "cudaStreamSynchronize");
  }
  for (const ViewRow& row : made.RowsOf(kAdviceView.make)) {
    if (row.at("gain_pct").empty()) continue;
    EXPECT_GE(std::stod(row.at("gain_pct")), 0) << row.at("id");
  }
}

}  // namespace
}  // namespace oplens::prof::advice_test
