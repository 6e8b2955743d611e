#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "parse/model/kernel_record.h"
#include "prof/run/run.h"
#include "prof/views/kernels/roof_sums.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::roofline_test {
namespace {

using test::ViewRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const View& kView = kRooflineView;

/// fp32 10, Tensor Cores with fp16 100 TFLOP/s; 1 TB/s.
ops::Gpu MadeGpu() {
  ops::Gpu gpu;
  gpu.name = "Made up";
  gpu.compute_capability = 70;
  gpu.dram_bytes_per_s = 1'000'000'000'000;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kVectorFp32)] = 10e12;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kTensorFp16)] = 100e12;
  return gpu;
}

/// Kernels without a profile, as records give them.
class RooflineTest : public ::testing::Test {
 protected:
  struct Made {
    KernelRecord record;
    PricedKernel kernel;
  };

  /// A kernel of this many ns, FLOPs and bytes; what `change` makes of it.
  void Add(Partial* partial, int64_t duration_ns, std::optional<int64_t> flops,
           std::optional<int64_t> bytes, const std::function<void(Made*)>& change = {}) {
    Made made;
    made.record.duration_ns = duration_ns;
    made.record.long_name = "elementwise_kernel";
    made.kernel.record = &made.record;
    made.kernel.op = "add";
    made.kernel.shapes = "(8,8)";
    made.kernel.dtype = "fp32";
    made.kernel.gpu = &gpu_;
    made.kernel.tensor_core = ops::TensorCoreUse::kNo;
    made.kernel.share.flops = flops;
    made.kernel.share.bytes = bytes;
    if (change) change(&made);
    partial->Add(made.kernel);
  }
  ViewRow OnlyRow(const Partial& partial) {
    const std::vector<ViewRow> rows = test::RowsOf(partial);
    EXPECT_EQ(rows.size(), 1u);
    return rows.at(0);
  }
  /// A kernel of a product of fp16 matrices that runs on CUDA cores.
  static void MakeProduct(Made* made) {
    static const ops::PricedOp op = [] {
      ops::PricedOp product;
      product.matmul_like = true;
      product.product.emplace();
      product.product->m = product.product->n = product.product->k = 64;
      product.product->left = product.product->right = ops::DType::kFloat16;
      return product;
    }();
    made->record.long_name = "volta_sgemm_128x64_nn";
    made->kernel.op = "mm";
    made->kernel.dtype = "fp16";
    made->kernel.price = &op;
    made->kernel.share.role = ops::Role::kMain;
    made->kernel.share.flops_mma = made->kernel.share.flops;
  }

  ops::Gpu gpu_ = MadeGpu();
};

TEST_F(RooflineTest, AtTheRoofOfMemory) {
  const auto view = kRooflineView.make({});
  Add(view.get(), 1600, 1'000'000, 1'000'000);
  EXPECT_EQ(OnlyRow(*view).at("bound"), "memory");
}

// 2e6 FLOPs take 200 ns at 10 TFLOP/s, 1e6 bytes 1000 ns at 1 TB/s.
TEST_F(RooflineTest, AtNoRoof) {
  const auto view = kRooflineView.make({});
  Add(view.get(), 2000, 1'000'000, 500'000);
  Add(view.get(), 3000, 1'000'000, 500'000);
  const ViewRow row = OnlyRow(*view);
  EXPECT_EQ(row.at("op"), "add");
  EXPECT_EQ(row.at("gpu"), "Made up");
  EXPECT_EQ(row.at("count"), "2");
  EXPECT_EQ(row.at("time_ns"), "5000");
  EXPECT_EQ(row.at("flops"), "2000000");
  EXPECT_EQ(row.at("ai"), "2");
  EXPECT_NEAR(std::stod(row.at("tflops")), 0.4, 1e-12);
  EXPECT_NEAR(std::stod(row.at("gbps")), 200, 1e-9);
  EXPECT_EQ(row.at("unit"), "fp32");
  EXPECT_EQ(row.at("peak_tflops"), "10");
  EXPECT_EQ(row.at("peak_gbps"), "1000");
  EXPECT_EQ(row.at("bound"), "latency");  // Below 60 % of either roof.
  EXPECT_EQ(row.at("roof_ns"), "1000");
  EXPECT_EQ(row.at("efficiency_pct"), "20");
  EXPECT_EQ(row.at("gap_ns"), "4000");
}

TEST_F(RooflineTest, BoundByArithmetic) {
  const auto view = kRooflineView.make({});
  Add(view.get(), 1600, 10'000'000, 500'000);
  const ViewRow row = OnlyRow(*view);
  EXPECT_EQ(row.at("bound"), "compute");
  EXPECT_EQ(row.at("roof_ns"), "1000");
  EXPECT_EQ(row.at("gap_ns"), "600");
}

// The roof is that of Tensor Cores where the product uses them, and where it could.
TEST_F(RooflineTest, TensorCores) {
  for (const bool uses : {true, false}) {
    const auto view = kRooflineView.make({});
    ops::TensorCoreVerdict verdict;
    verdict.use = uses ? ops::TensorCoreUse::kYes : ops::TensorCoreUse::kNo;
    if (uses) verdict.math = ops::MathType::kFp16;
    Add(view.get(), 100, 10'000'000, 10'000, [&](Made* made) {
      MakeProduct(made);
      made->kernel.share.flops_mma = 8'000'000;  // 80 ns at 100 TFLOP/s.
      made->kernel.tensor_core = verdict.use;
      made->kernel.verdict = &verdict;
    });
    const ViewRow row = OnlyRow(*view);
    EXPECT_EQ(row.at("unit"), "tc_fp16") << uses;
    EXPECT_EQ(row.at("peak_tflops"), "100");
    EXPECT_EQ(row.at("roof_ns"), "80");
    EXPECT_EQ(row.at("bound"), "compute");
  }
}

// fp32 could use TF32, which is a setting: its roof is that of CUDA cores.
TEST_F(RooflineTest, SinglePrecisionIsHeldAgainstCudaCores) {
  gpu_.compute_capability = 80;
  gpu_.peaks_per_s[static_cast<size_t>(ops::MathUnit::kTensorTf32)] = 50e12;
  const auto view = kRooflineView.make({});
  static ops::PricedOp op;
  op.matmul_like = true;
  op.product.emplace();
  op.product->m = op.product->n = op.product->k = 64;
  op.product->left = op.product->right = ops::DType::kFloat32;
  Add(view.get(), 500, 1'000'000, 10'000, [](Made* made) {
    MakeProduct(made);
    made->kernel.price = &op;
    made->kernel.dtype = "fp32";
  });
  EXPECT_EQ(OnlyRow(*view).at("unit"), "fp32");
}

// Kernels of one op and shape on several units: their times at the roof add up.
TEST_F(RooflineTest, SeveralUnitsOfOneOp) {
  const auto view = kRooflineView.make({});
  ops::TensorCoreVerdict verdict;
  verdict.use = ops::TensorCoreUse::kYes;
  verdict.math = ops::MathType::kFp16;
  Add(view.get(), 500, 10'000'000, 10'000, [&](Made* made) {
    MakeProduct(made);
    made->kernel.tensor_core = ops::TensorCoreUse::kYes;
    made->kernel.verdict = &verdict;
  });
  Add(view.get(), 100, 500'000, 10'000, [](Made* made) {
    made->kernel.op = "mm";
    made->kernel.dtype = "fp16";
  });
  Add(view.get(), 40, 0, 0, [](Made* made) {  // Beside the op's work.
    made->kernel.op = "mm";
    made->kernel.dtype = "fp16";
  });
  const ViewRow row = OnlyRow(*view);
  EXPECT_EQ(row.at("unit"), "tc_fp16");
  EXPECT_EQ(row.at("count"), "3");
  EXPECT_EQ(row.at("roof_ns"), "150");
  EXPECT_EQ(row.at("gap_ns"), "490");
}

TEST_F(RooflineTest, KernelsWithoutAPriceAreARowAnOp) {
  const auto view = kRooflineView.make({});
  Add(view.get(), 100, std::nullopt, std::nullopt);
  Add(view.get(), 50, std::nullopt, 4096, [](Made* made) { made->kernel.shapes = "(4,)"; });
  Add(view.get(), 7, std::nullopt, std::nullopt, [](Made* made) { made->kernel.op = {}; });
  Add(view.get(), 90, 10, 10);
  const std::vector<ViewRow> rows = test::RowsOf(*view);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("shape"), "(8,8)");
  EXPECT_EQ(rows[0].at("gap_ns"), "90");
  EXPECT_EQ(rows[1].at("op"), "add");
  EXPECT_EQ(rows[1].at("shape"), "");
  EXPECT_EQ(rows[1].at("count"), "2");
  EXPECT_EQ(rows[1].at("time_ns"), "150");
  for (const char* const field : {"flops", "bytes", "ai", "unit", "peak_gbps", "bound", "roof_ns",
                                  "efficiency_pct", "gap_ns", "gpu"}) {
    EXPECT_EQ(rows[1].at(field), "") << field;
  }
  EXPECT_EQ(rows[2].at("op"), "");
  EXPECT_EQ(rows[2].at("time_ns"), "7");
  EXPECT_THAT(view->Notes(), IsEmpty());
}

TEST_F(RooflineTest, WithoutAGpuThereIsNoRoof) {
  const auto view = kRooflineView.make({});
  Add(view.get(), 100, 1000, 500, [](Made* made) { made->kernel.gpu = nullptr; });
  const ViewRow row = OnlyRow(*view);
  EXPECT_EQ(row.at("ai"), "2");
  EXPECT_EQ(row.at("unit"), "fp32");
  EXPECT_EQ(row.at("roof_ns"), "");
  EXPECT_EQ(row.at("gap_ns"), "");
  EXPECT_THAT(view->Notes(), ElementsAre(HasSubstr("--gpu")));
}

TEST_F(RooflineTest, NotesWhatPricesNeed) {
  const auto view = kRooflineView.make({});
  EXPECT_THAT(view->Notes(), IsEmpty());
  Add(view.get(), 100, std::nullopt, std::nullopt);
  EXPECT_THAT(view->Notes(), ElementsAre(HasSubstr("record_shapes")));
}

// Rows of the table that differ in bandwidth alone leave the peaks.
TEST_F(RooflineTest, NotesThatOnlyTheBandwidthIsNotKnown) {
  gpu_.dram_bytes_per_s = 0;
  const auto partial = kRooflineView.make({});
  Add(partial.get(), 1000, 100, 100);
  EXPECT_THAT(
      partial->Notes(),
      ElementsAre("roofline: the DRAM bandwidth of the GPU is not known; name it: --gpu NAME"));
}

TEST_F(RooflineTest, AKernelWithoutATimeIsOnlyCounted) {
  const auto view = kRooflineView.make({});
  Add(view.get(), 0, 1000, 1000, [](Made* made) { made->record.reasons.Add(Reason::kUntimed); });
  EXPECT_EQ(OnlyRow(*view).at("count"), "1");
  EXPECT_EQ(OnlyRow(*view).at("flops"), "");
  EXPECT_EQ(OnlyRow(*view).at("roof_ns"), "");
  Add(view.get(), 100, 1000, 1000);
  EXPECT_EQ(OnlyRow(*view).at("count"), "2");
  EXPECT_EQ(OnlyRow(*view).at("flops"), "1000");
}

TEST_F(RooflineTest, KeysOfBy) {
  const auto view = kRooflineView.make({.by = {"layer", "rank", "phase"}});
  const std::string_view layers[] = {"block", "mlp"};
  Add(view.get(), 100, 1000, 1000, [&](Made* made) {
    made->kernel.layer = layers;
    made->record.rank = "3";
    made->kernel.phase = Phase::kForward;
  });
  Add(view.get(), 100, 1000, 1000);
  const std::vector<ViewRow> rows = test::RowsOf(*view);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("layer"), "block:mlp");
  EXPECT_EQ(rows[1].at("rank"), "3");
  EXPECT_EQ(rows[1].at("phase"), "forward");
  EXPECT_EQ(rows[0].at("layer"), "");
  EXPECT_THROW(kRooflineView.make({.by = {"step"}}), UsageError);
}

TEST_F(RooflineTest, MergesInAnyOrder) {
  ops::Gpu other = MadeGpu();
  other.name = "Another";
  other.dram_bytes_per_s *= 2;
  std::vector<std::vector<ViewRow>> found;
  for (const bool back : {false, true}) {
    const auto a = kRooflineView.make({});
    Add(a.get(), 100, 1000, 4000);
    Add(a.get(), 100, 1000, 1000, [&](Made* made) { made->kernel.gpu = &other; });
    const auto b = kRooflineView.make({});
    Add(b.get(), 100, 1000, 1000, [&](Made* made) { made->kernel.gpu = &other; });
    Add(b.get(), 100, 3000, 8000);
    Add(b.get(), 100, 3000, 8000, [](Made* made) { made->kernel.op = "z"; });
    const auto all = kRooflineView.make({});
    all->Merge(back ? *b : *a);
    all->Merge(back ? *a : *b);
    found.push_back(test::RowsOf(*all));
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0].size(), 3u);
}

TEST_F(RooflineTest, NumbersOutOfBounds) {
  const auto view = kRooflineView.make({});
  for (int i = 0; i < 3; ++i) Add(view.get(), INT64_MAX, INT64_MAX, INT64_MAX);
  const ViewRow row = OnlyRow(*view);
  EXPECT_EQ(row.at("time_ns"), std::to_string(INT64_MAX));
  EXPECT_EQ(row.at("flops"), "");
  EXPECT_NE(row.at("roof_ns"), "");
}

/// Holds the roof of each kernel against its figures, and sums their time.
class Checker : public Partial {
 public:
  explicit Checker(const ViewOptions& options) : view_(kRooflineView.make(options)) {}
  void Begin(const Run* run) override { view_->Begin(run); }
  void Add(const PricedKernel& kernel) override {
    view_->Add(kernel);
    if (!kernel.record->timed()) return;
    time_ns_ += kernel.record->duration_ns;
    const Figures& figures = FiguresOf(kernel);
    const bool could = figures.tensor_core.fitness == ops::TensorCoreFitness::kYes &&
                       figures.tensor_core.use != ops::TensorCoreUse::kYes;
    const ops::Roofline& roofline = figures.roofline;
    if (could || !roofline.percent_of_math || !roofline.percent_of_dram) return;
    RoofSums sums;
    sums.Add(kernel, true);
    const auto time_s = static_cast<double>(kernel.record->duration_ns) * 1e-9;
    math_ += IsNear(sums.MathSeconds(*kernel.gpu), *roofline.percent_of_math / 100 * time_s);
    dram_ += IsNear(sums.MemorySeconds(*kernel.gpu), *roofline.percent_of_dram / 100 * time_s);
    ++compared_;
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Checker&>(other);
    view_->Merge(*more.view_);
    time_ns_ += more.time_ns_;
    compared_ += more.compared_;
    math_ += more.math_;
    dram_ += more.dram_;
  }
  std::vector<Field> Fields() const override { return view_->Fields(); }
  void Emit(Sink* sink) const override { view_->Emit(sink); }

  int64_t time_ns() const { return time_ns_; }
  int64_t compared() const { return compared_; }
  bool alike() const { return math_ == compared_ && dram_ == compared_; }

 private:
  static int64_t IsNear(std::optional<double> seconds, double expected) {
    return seconds && std::fabs(*seconds - expected) <= 1e-9 * std::max(1e-9, expected) ? 1 : 0;
  }

  std::unique_ptr<Partial> view_;
  int64_t time_ns_ = 0;
  int64_t compared_ = 0;
  int64_t math_ = 0;
  int64_t dram_ = 0;
};

const View kChecked = {"roofline", "", {}, kRooflineView.fields, [](const ViewOptions& options) {
                         return std::unique_ptr<Partial>(std::make_unique<Checker>(options));
                       }};

/// How many kernels were compared.
int64_t CheckFile(const std::string& path) {
  SCOPED_TRACE(path);
  std::unique_ptr<Partial> partial;
  try {
    partial = test::PartialOf(kChecked, {path});
  } catch (const Error&) {
    return 0;  // No profile, or one that is refused.
  }
  const auto& checked = dynamic_cast<const Checker&>(*partial);
  int64_t time_ns = 0;
  double last_gap = HUGE_VAL;
  for (const ViewRow& row : test::RowsOf(checked)) {
    const int64_t of_row = std::stoll(row.at("time_ns"));
    time_ns += of_row;
    const double gap = row.at("gap_ns").empty() ? -HUGE_VAL : std::stod(row.at("gap_ns"));
    EXPECT_LE(gap, last_gap);
    last_gap = gap;
    if (row.at("roof_ns").empty()) continue;
    EXPECT_EQ(std::stoll(row.at("roof_ns")) + std::stoll(row.at("gap_ns")), of_row);
  }
  EXPECT_EQ(time_ns, checked.time_ns());
  EXPECT_TRUE(checked.alike());
  return checked.compared();
}

TEST(RooflineCorpusTest, TimesAddUpAndRoofsAreThoseOfKernels) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  int64_t compared = CheckFile(test::CorpusFile("nvprof/lm.sql").string());
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::CorpusDir().path / "kineto")) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && path.find("/golden/") == std::string::npos) {
      compared += CheckFile(path);
    }
  }
  RecordProperty("compared", std::to_string(compared));
  EXPECT_GE(compared, 1000);
}

}  // namespace
}  // namespace oplens::prof::roofline_test
