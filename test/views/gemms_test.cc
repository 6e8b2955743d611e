#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/epochs.h"
#include "base/error.h"
#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/product_facts.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::gemms_test {
namespace {

using test::ViewRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Kernels of products without a profile, as records give them.
class GemmsTest : public ::testing::Test {
 protected:
  GemmsTest() {
    gpu_.name = "Made up";
    gpu_.dram_bytes_per_s = 1'000'000'000'000;
    gpu_.peaks_per_s[static_cast<size_t>(ops::MathUnit::kVectorFp32)] = 10e12;
  }

  /// What a kernel is, before it is added.
  struct Made {
    std::string_view name = "volta_sgemm_128x64_nn";
    int64_t instance = 0;
    KernelRecord record;
    PricedKernel kernel;
  };

  static ops::PricedOp OpOf(int64_t m, int64_t n, int64_t k) {
    ops::PricedOp op;
    op.matmul_like = true;
    op.product.emplace();
    op.product->extents = {{"M", m}, {"N", n}, {"K", k}};
    return op;
  }

  void Add(Partial* partial, int64_t duration_ns, const ops::PricedOp& op,
           const std::function<void(Made*)>& change = {}) {
    Made made;
    made.record.duration_ns = duration_ns;
    made.kernel.record = &made.record;
    made.kernel.op = "mm";
    made.kernel.dtype = "fp32";
    made.kernel.gpu = &gpu_;
    made.kernel.price = &op;
    if (op.product) made.kernel.extents = op.product->extents;
    made.kernel.share.flops = made.kernel.share.flops_mma = 1'000'000;
    made.kernel.share.bytes = 1000;
    made.kernel.share.role = ops::Role::kMain;
    made.kernel.tensor_core = ops::TensorCoreUse::kNo;
    if (change) change(&made);
    made.kernel.instance = made.instance;
    made.record.long_name = made.name;
    made.kernel.facts = kernels_.Of(made.name);
    partial->Add(made.kernel);
  }
  std::vector<ViewRow> RowsOf(Partial* partial) {
    partial->End(nullptr);
    return test::RowsOf(*partial);
  }

  Epochs epochs_;
  Epochs::Pin pin_ = epochs_.Current();
  KernelFactsCache kernels_{&epochs_, nullptr};
  ops::Gpu gpu_;
  const ops::PricedOp small_ = OpOf(128, 64, 8);
  const ops::PricedOp odd_ = OpOf(129, 64, 8);
};

// 1e6 FLOPs take 100 ns at 10 TFLOP/s.
TEST_F(GemmsTest, OneRowAProblem) {
  const auto view = kGemmsView.make({});
  Add(view.get(), 200, small_);
  Add(view.get(), 200, small_);
  Add(view.get(), 800, odd_);
  Add(view.get(), 800, odd_, [](Made* made) { made->name = "elementwise_kernel"; });
  const std::vector<ViewRow> rows = RowsOf(view.get());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("m"), "129");
  EXPECT_EQ(rows[0].at("layout"), "") << "no name of its call tells it";
  EXPECT_EQ(rows[1].at("layout"), "NN");
  const ViewRow& row = rows[2];
  EXPECT_EQ(row.at("op"), "mm");
  EXPECT_EQ(row.at("n"), "64");
  EXPECT_EQ(row.at("k"), "8");
  EXPECT_EQ(row.at("batch"), "1");
  EXPECT_EQ(row.at("dtype"), "fp32");
  EXPECT_EQ(row.at("gpu"), "Made up");
  EXPECT_EQ(row.at("calls"), "") << "of no known call";
  EXPECT_EQ(row.at("kernels"), "2");
  EXPECT_EQ(row.at("time_ns"), "400");
  EXPECT_EQ(row.at("share_pct"), "20");
  EXPECT_NEAR(std::stod(row.at("tflops")), 5, 1e-12);
  EXPECT_EQ(row.at("roof_ns"), "200");
  EXPECT_EQ(row.at("efficiency_pct"), "50");
  EXPECT_EQ(row.at("tile"), "128x64");
  EXPECT_EQ(row.at("tile_efficiency_pct"), "100");
  EXPECT_EQ(rows[1].at("efficiency_pct"), "12.5");
  EXPECT_EQ(rows[1].at("best_pct"), "50");
  EXPECT_NEAR(std::stod(rows[1].at("tile_efficiency_pct")), 100 * 129.0 / 256, 1e-9);
  EXPECT_THAT(view->Notes(), IsEmpty());
}

// Helpers of a call whose name tells nothing are in the row of the kernel whose name does, before
// and after it.
TEST_F(GemmsTest, KernelsOfACallAreOneRow) {
  const auto view = kGemmsView.make({});
  for (const int64_t call : {1, 2}) {
    for (const std::string_view name :
         {"init_kernel", "volta_sgemm_128x64_tn", "void splitKreduce_kernel<float>(P)"}) {
      Add(view.get(), 10, small_, [&](Made* made) {
        made->name = name;
        made->instance = call;
        if (name == "volta_sgemm_128x64_tn") return;
        made->kernel.share.role = ops::Role::kHelper;
        made->kernel.share.flops = made->kernel.share.flops_mma = 0;
      });
    }
  }
  Add(view.get(), 10, small_, [](Made* made) {
    made->name = "triton_mm";
    made->instance = 3;
    made->kernel.op_layout = "NT";
  });
  const std::vector<ViewRow> rows = RowsOf(view.get());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("layout"), "TN");
  EXPECT_EQ(rows[0].at("calls"), "2");
  EXPECT_EQ(rows[0].at("kernels"), "6");
  EXPECT_EQ(rows[0].at("time_ns"), "60");
  EXPECT_EQ(rows[1].at("layout"), "NT");
  EXPECT_EQ(rows[1].at("calls"), "1");
}

// Two gradients of equal sizes are told apart by the part that they are of.
TEST_F(GemmsTest, PartsOfACall) {
  const auto view = kGemmsView.make({});
  for (const bool weight : {false, true}) {
    Add(view.get(), 10, small_, [&](Made* made) {
      made->name = weight ? "volta_sgemm_128x64_nt" : "volta_sgemm_128x64_nn";
      made->instance = 7;
      made->kernel.share.part = weight ? ops::Part::kWgrad : ops::Part::kDgrad;
    });
  }
  EXPECT_EQ(RowsOf(view.get()).size(), 2u);
}

TEST_F(GemmsTest, LongRunsKeepFewCalls) {
  const auto view = kGemmsView.make({});
  for (int64_t call = 1; call <= 20'000; ++call) {
    Add(view.get(), 1, small_, [&](Made* made) { made->instance = call; });
  }
  const std::vector<ViewRow> rows = RowsOf(view.get());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("calls"), "20000");
  EXPECT_EQ(rows[0].at("kernels"), "20000");
}

TEST_F(GemmsTest, WithoutACost) {
  const auto view = kGemmsView.make({});
  EXPECT_THAT(view->Notes(), IsEmpty());
  const auto unpriced = [](Made* made) {
    made->kernel.price = nullptr;
    made->kernel.extents = {};
    made->kernel.share.flops.reset();
    made->kernel.share.bytes.reset();
  };
  Add(view.get(), 30, small_, unpriced);
  Add(view.get(), 70, small_, [&](Made* made) {
    unpriced(made);
    made->name = "elementwise_kernel";
  });
  const std::vector<ViewRow> rows = RowsOf(view.get());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("time_ns"), "30");
  EXPECT_EQ(rows[0].at("share_pct"), "30");
  for (const char* key :
       {"m", "n", "k", "batch", "layout", "dtype", "gpu", "calls", "flops", "tflops", "roof_ns",
        "efficiency_pct", "best_pct", "tile", "tile_efficiency_pct"}) {
    EXPECT_EQ(rows[0].at(key), "") << key;
  }
  EXPECT_THAT(view->Notes(), ElementsAre(HasSubstr("record_shapes")));
}

TEST_F(GemmsTest, OtherProductsHaveNoRow) {
  const auto view = kGemmsView.make({});
  ops::PricedOp convolution = OpOf(1, 2, 3);
  convolution.product->kind = ops::MatrixProduct::Kind::kConvolution;
  Add(view.get(), 30, convolution);
  EXPECT_THAT(RowsOf(view.get()), IsEmpty());
}

TEST_F(GemmsTest, UntimedAndHugeNumbers) {
  const auto view = kGemmsView.make({});
  const ops::PricedOp huge = OpOf(INT64_MAX, INT64_MAX, -1);
  for (int i = 0; i < 3; ++i) {
    Add(view.get(), INT64_MAX, huge,
        [](Made* made) { made->kernel.share.flops = made->kernel.share.bytes = INT64_MAX; });
  }
  Add(view.get(), 0, small_, [](Made* made) { made->record.reasons.Add(Reason::kUntimed); });
  const std::vector<ViewRow> rows = RowsOf(view.get());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("time_ns"), std::to_string(INT64_MAX));
  EXPECT_EQ(rows[0].at("flops"), "");
  EXPECT_EQ(rows[0].at("tile_efficiency_pct"), "");
  EXPECT_EQ(rows[1].at("kernels"), "1");
  EXPECT_EQ(rows[1].at("time_ns"), "0");
  EXPECT_EQ(rows[1].at("efficiency_pct"), "");
}

TEST_F(GemmsTest, KeysOfBy) {
  const auto view = kGemmsView.make({.by = {"layer", "rank", "phase"}});
  const std::string_view layers[] = {"block", "mlp"};
  Add(view.get(), 100, small_, [&](Made* made) {
    made->kernel.layer = layers;
    made->record.rank = "3";
    made->kernel.phase = Phase::kForward;
  });
  Add(view.get(), 50, small_);
  const std::vector<ViewRow> rows = RowsOf(view.get());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("layer"), "block:mlp");
  EXPECT_EQ(rows[0].at("rank"), "3");
  EXPECT_EQ(rows[0].at("phase"), "forward");
  EXPECT_EQ(rows[0].at("m"), "128");
  EXPECT_THROW(kGemmsView.make({.by = {"step"}}), UsageError);
}

TEST_F(GemmsTest, MergesInAnyOrderAndSaves) {
  ops::Gpu other = gpu_;
  other.name = "Another";
  std::vector<std::vector<ViewRow>> found;
  for (const bool back : {false, true}) {
    const auto a = kGemmsView.make({});
    Add(a.get(), 100, small_, [](Made* made) { made->instance = 1; });
    Add(a.get(), 100, small_, [&](Made* made) { made->kernel.gpu = &other; });
    const auto b = kGemmsView.make({});
    Add(b.get(), 100, small_, [&](Made* made) { made->kernel.gpu = &other; });
    Add(b.get(), 100, small_, [](Made* made) {
      made->instance = 1;
      made->name = "volta_sgemm_32x32_nn";
    });
    a->End(nullptr);
    b->End(nullptr);
    const auto all = kGemmsView.make({});
    all->Merge(back ? *b : *a);
    all->Merge(back ? *a : *b);
    found.push_back(test::RowsOf(*all));
    ByteWriter bytes;
    all->Save(&bytes);
    const auto again = kGemmsView.make({});
    ByteReader reader(bytes.bytes(), "saved");
    again->Load(&reader);
    found.push_back(test::RowsOf(*again));
  }
  for (const auto& rows : found) EXPECT_EQ(rows, found[0]);
  ASSERT_EQ(found[0].size(), 2u);
  EXPECT_EQ(found[0][0].at("calls") + found[0][1].at("calls"), "2");
}

/// The time of products of matrices by op, of what two views found in one file.
void CheckFile(const std::string& path, int64_t* rows) {
  SCOPED_TRACE(path);
  std::map<std::string, int64_t> by_op;
  int64_t all_ns = 0;
  try {
    for (const ViewRow& row : test::RowsOf(*test::PartialOf(kRooflineView, {path}))) {
      by_op[row.at("op")] += std::stoll(row.at("time_ns"));
      all_ns += std::stoll(row.at("time_ns"));
    }
    for (const ViewRow& row : test::RowsOf(*test::PartialOf(kGemmsView, {path}))) {
      const int64_t time_ns = std::stoll(row.at("time_ns"));
      by_op[row.at("op")] -= time_ns;
      if (all_ns > 0) {
        EXPECT_NEAR(std::stod(row.at("share_pct")),
                    100.0 * static_cast<double>(time_ns) / static_cast<double>(all_ns), 1e-9);
      }
      if (row.at("efficiency_pct").empty()) continue;
      EXPECT_LE(std::stod(row.at("efficiency_pct")), std::stod(row.at("best_pct")));
      if (row.at("tile_efficiency_pct").empty()) continue;
      EXPECT_GT(std::stod(row.at("tile_efficiency_pct")), 0);
      EXPECT_LE(std::stod(row.at("tile_efficiency_pct")), 100);
      ++*rows;
    }
  } catch (const Error&) {
    return;  // No profile, or one that is refused.
  }
  for (const auto& [op, left_ns] : by_op) EXPECT_GE(left_ns, 0) << op;
  // All kernels of these compute their product.
  for (const char* op : {"mm", "bmm"}) EXPECT_EQ(by_op[op], 0) << op;
}

TEST(GemmsCorpusTest, TimesAreThoseOfTheRoofline) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  int64_t rows = 0;
  CheckFile(test::CorpusFile("nvprof/lm.sql").string(), &rows);
  for (const char* folder : {"kineto/h100", "kineto/mi300", "kineto/sglang_qwen3_8b"}) {
    for (const auto& entry : std::filesystem::directory_iterator(test::CorpusDir().path / folder)) {
      CheckFile(entry.path().string(), &rows);
    }
  }
  EXPECT_GE(rows, 30);
}

}  // namespace
}  // namespace oplens::prof::gemms_test
