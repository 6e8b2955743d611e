#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ops/gpu/gpu.h"
#include "ops/network/network_config.h"
#include "parse/model/kernel_record.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/common/model_plan.h"
#include "prof/views/views.h"
#include "test/views/made_run.h"

namespace oplens::test::mfu_test {
namespace {

using ops::MatrixProduct;
using prof::kMfuView;
using testing::HasSubstr;

constexpr char kSmallConfig[] =
    R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,
        "num_key_value_heads":1,"intermediate_size":16,"vocab_size":32})";

/// A product that a kernel computes.
struct MadeProduct {
  MatrixProduct::Kind kind = MatrixProduct::Kind::kGemm;
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Direction direction = Direction::kForward;
  Phase phase = Phase::kForward;
  int64_t flops = -1;  ///< -1: 2 batch m n k.
};

/// A step of 1,000 ns with a kernel per product on a GPU of 1 TFLOP/s.
class MadeModel {
 public:
  explicit MadeModel(std::string_view config = kSmallConfig) {
    plan_.network = ops::ParseConfig(config, "config.json");
    gpu_.peaks_per_s.fill(1e12);
  }

  prof::ModelPlan& plan() { return plan_; }

  void Add(const MadeProduct& product) { products_.push_back(product); }
  void AddGemm(int64_t rows, int64_t in, int64_t out) { Add({.m = rows, .n = out, .k = in}); }
  /// Forward, and the gradients of both operands.
  void AddTrained(int64_t rows, int64_t in, int64_t out) {
    AddGemm(rows, in, out);
    MadeProduct gradient{.m = rows, .n = out, .k = in};
    gradient.direction = Direction::kBackward;
    gradient.phase = Phase::kBackward;
    Add(gradient);
    Add(gradient);
  }
  /// The products of one pass of the small model over `tokens`, with the kernels that fuse query,
  /// key and value.
  void AddForward(int64_t tokens) {
    for (int layer = 0; layer < 2; ++layer) {
      AddGemm(tokens, 8, 16);
      AddGemm(tokens, 8, 8);
      AddGemm(tokens, 8, 32);
      AddGemm(tokens, 16, 8);
    }
    AddGemm(tokens, 8, 32);  // The head has the sizes of gate and up.
  }
  /// Of one sequence in both layers; `flops`: -1 for all pairs.
  void AddAttention(int64_t length, int64_t flops) {
    for (int layer = 0; layer < 2; ++layer) {
      MadeProduct scores{MatrixProduct::Kind::kAttention, 2, length, length, 4};
      scores.flops = flops;
      Add(scores);
    }
  }

  std::vector<ViewRow> Rows(bool with_model = true) {
    MadeRun made;
    made.AddStep(0, 0, 1000);
    std::deque<KernelRecord> records;
    std::deque<ops::PricedOp> prices;
    for (size_t i = 0; i < products_.size(); ++i) {
      const auto start = static_cast<int64_t>(100 + i);
      made.AddKernel(start, start + 1, made.AddCall(10, 20));
    }
    const auto see = [&](prof::PricedKernel* kernel) {
      const MadeProduct& made_product = products_[kernel->work];
      KernelRecord& record = records.emplace_back(*kernel->record);
      record.direction = made_product.direction;
      kernel->record = &record;
      kernel->phase = made_product.phase;
      kernel->gpu = &gpu_;
      kernel->dtype = "bf16";
      ops::PricedOp& price = prices.emplace_back();
      MatrixProduct& product = price.product.emplace();
      product.kind = made_product.kind;
      product.batch = made_product.batch;
      product.m = made_product.m;
      product.n = made_product.n;
      product.k = made_product.k;
      product.left = product.right = ops::DType::kBFloat16;
      kernel->price = &price;
      kernel->share.flops_mma = made_product.flops >= 0
                                    ? made_product.flops
                                    : 2 * product.batch * product.m * product.n * product.k;
      if (made_product.flops == 0) kernel->share.flops_mma.reset();
    };
    prof::ViewOptions options;
    if (with_model) options.model = std::make_shared<prof::ModelPlan>(plan_);
    return made.RowsOf(kMfuView.make, see, options);
  }

 private:
  prof::ModelPlan plan_;
  ops::Gpu gpu_;
  std::vector<MadeProduct> products_;
};

const ViewRow& RowOf(const std::vector<ViewRow>& rows, const std::string& counts,
                     const std::string& name = "") {
  static const ViewRow kNone;
  for (const ViewRow& row : rows) {
    if (row.at("counts") == counts && row.at("name").find(name) != std::string::npos) return row;
  }
  ADD_FAILURE() << "no row " << counts << ' ' << name;
  return kNone;
}

TEST(MfuTest, WithoutAModelProductsThatRanAreCounted) {
  MadeModel model;
  model.AddGemm(1000, 10, 25);  // 500,000 FLOPs.
  const auto rows = model.Rows(false);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("counts"), "products");
  EXPECT_EQ(rows[0].at("kernel_flops"), "500000");
  EXPECT_EQ(rows[0].at("mfu_pct"), "50");
  EXPECT_EQ(rows[0].at("hfu_pct"), "50");
  EXPECT_EQ(rows[0].at("peak_tflops"), "1");
  EXPECT_EQ(rows[0].at("token_flops"), "");
  EXPECT_EQ(rows[0].at("note"), "over 1 steady step");
  EXPECT_EQ(rows[1].at("counts"), "type");
  EXPECT_EQ(rows[1].at("name"), "bf16");
}

TEST(MfuTest, ProductsOfTheModelAreMatchedBySizes) {
  MadeModel model;
  model.AddForward(6);
  model.AddAttention(6, 2 * 2 * 8 * 21);  // 21 visible pairs, two products of 2 heads x 4.
  const auto rows = model.Rows();
  const ViewRow& total = RowOf(rows, "total");
  EXPECT_EQ(total.at("difference_pct"), "0");
  EXPECT_EQ(total.at("name"), "6 tokens a step in sequences of 6, forward only");
  EXPECT_EQ(total.at("note"), "");
  EXPECT_EQ(RowOf(rows, "part", "query+key+value").at("name"), "query+key+value 8x16");
  EXPECT_EQ(RowOf(rows, "part", "gate+up").at("name"), "gate+up+head 8x32");
  EXPECT_EQ(RowOf(rows, "part", "attention ").at("model_flops"), "1344");
  // 2 x 2 layers x 2 heads x 4 x 6 keys x 2 products of 6 tokens; the embedding is a third of
  // 6 x 32 x 8.
  const ViewRow& a = RowOf(rows, "A");
  const int64_t layer = 8 * 8 * 2 + 2 * 8 * 4 + 3 * 8 * 16 + 2 * 8;
  const int64_t parameters = 2 * layer + 8 + 2 * 32 * 8;
  EXPECT_EQ(a.at("token_flops"), std::to_string(2 * parameters + 4 * 2 * 8 * 6));
  EXPECT_THAT(a.at("note"), HasSubstr("a third of it: only the forward pass ran"));
  EXPECT_THAT(a.at("note"), HasSubstr("embedding, which is looked up"));
  EXPECT_THAT(RowOf(rows, "D'").at("note"), HasSubstr("nothing is computed again"));
}

TEST(MfuTest, WhatAKernelDoesBesidesIsExplained) {
  MadeModel model(
      R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,
          "num_key_value_heads":1,"intermediate_size":16,"vocab_size":50})");
  for (int layer = 0; layer < 2; ++layer) {
    model.AddGemm(6, 8, 16);
    model.AddGemm(6, 8, 8);
    model.AddGemm(6, 8, 32);
    model.AddGemm(6, 16, 8);
  }
  model.AddAttention(6, 2 * 2 * 8 * 36);
  model.AddGemm(1, 8, 50);
  model.AddGemm(6, 8, 77);
  const auto rows = model.Rows();
  EXPECT_EQ(RowOf(rows, "part", "attention ").at("note"), "kernels compute the masked half too");
  EXPECT_EQ(RowOf(rows, "part", "head").at("note"), "1 of 6 tokens pass it");
  EXPECT_EQ(RowOf(rows, "part", "(other)").at("name"), "(other) 8x77");
  EXPECT_EQ(RowOf(rows, "part", "(other)").at("kernel_flops"), std::to_string(2 * 6 * 8 * 77));
  EXPECT_THAT(RowOf(rows, "total").at("note"), HasSubstr("other +"));
  EXPECT_THAT(RowOf(rows, "total").at("note"), HasSubstr("(kernels compute the masked half too)"));
}

TEST(MfuTest, KernelsSumToTheTotal) {
  MadeModel model;
  model.AddForward(6);
  model.AddAttention(6, -1);
  model.AddGemm(3, 5, 7);
  const auto rows = model.Rows();
  int64_t sum = 0;
  for (const ViewRow& row : rows) {
    if (row.at("counts") == "part") sum += std::stoll(row.at("kernel_flops"));
  }
  EXPECT_EQ(std::to_string(sum), RowOf(rows, "total").at("kernel_flops"));
  EXPECT_EQ(std::to_string(sum), RowOf(rows, "products").at("kernel_flops"));
}

TEST(MfuTest, TrainingIsThreeTimesTheForwardPass) {
  MadeModel model;
  for (int layer = 0; layer < 2; ++layer) {
    model.AddTrained(12, 8, 16);
    model.AddTrained(12, 8, 8);
    model.AddTrained(12, 8, 32);
    model.AddTrained(12, 16, 8);
  }
  model.AddTrained(12, 8, 32);
  model.plan().sequence = 6;
  const auto rows = model.Rows();
  EXPECT_EQ(RowOf(rows, "part", "query+key+value").at("difference_pct"), "0");
  EXPECT_EQ(RowOf(rows, "total").at("name"),
            "12 tokens a step in sequences of 6, forward and backward");
  EXPECT_EQ(RowOf(rows, "part", "attention ").at("note"), "no kernel of attention has known FLOPs");
  EXPECT_EQ(RowOf(rows, "A").at("note").find("a third"), std::string::npos);
}

TEST(MfuTest, WhatIsComputedAgainIsOfTheHfuOnly) {
  MadeModel model;
  model.AddForward(6);
  MadeProduct again{.m = 6, .n = 16, .k = 8};
  again.phase = Phase::kRecompute;
  again.direction = Direction::kBackward;
  again.flops = 200'000;
  model.Add(again);
  const auto rows = model.Rows();
  const ViewRow& products = RowOf(rows, "products");
  EXPECT_GT(std::stod(products.at("hfu_pct")), std::stod(products.at("mfu_pct")) + 19.9);
  EXPECT_LT(std::stod(products.at("hfu_pct")), std::stod(products.at("mfu_pct")) + 20.1);
}

TEST(MfuTest, ShardsOfTensorParallelismAreFoundBySizes) {
  MadeModel model(
      R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4,
          "intermediate_size":96,"vocab_size":100})");
  model.AddGemm(10, 64, 96);  // Query, key and value of two of the heads.
  model.AddGemm(10, 32, 64);
  model.AddGemm(10, 64, 96);  // Half of gate and up has the same sizes.
  model.AddGemm(10, 48, 64);
  model.AddGemm(10, 64, 50);
  model.plan().sequence = 10;
  const auto rows = model.Rows();
  EXPECT_EQ(RowOf(rows, "total").at("name"),
            "10 tokens a step in sequences of 10, forward only, on 2 GPUs");
  EXPECT_EQ(RowOf(rows, "part", "down").at("difference_pct"), "0");
  EXPECT_EQ(RowOf(rows, "part", "head 64x50").at("difference_pct"), "0");
}

TEST(MfuTest, WithoutFlopsThereIsTheArithmeticAlone) {
  MadeModel model;
  for (int i = 0; i < 3; ++i) {
    MadeProduct unknown{.m = 6, .n = 16, .k = 8};
    unknown.flops = 0;
    model.Add(unknown);
  }
  model.plan().sequence = 6;
  model.plan().batch = 2;
  model.plan().gpus = 4;
  const auto rows = model.Rows();
  EXPECT_EQ(RowOf(rows, "total").at("kernel_flops"), "");
  EXPECT_EQ(RowOf(rows, "total").at("note"),
            "the arithmetic alone: no matrix product of the profile has known FLOPs");
  // A fourth of two sequences is this GPU's.
  EXPECT_EQ(RowOf(rows, "A").at("model_flops"),
            std::to_string(3 * std::stoll(RowOf(rows, "A").at("token_flops"))));
  EXPECT_EQ(RowOf(rows, "A").at("mfu_pct"), "");
}

TEST(MfuTest, WithoutALengthOfSequencesConventionsSayWhatToGive) {
  MadeModel model;
  model.AddForward(6);
  const auto rows = model.Rows();
  EXPECT_EQ(RowOf(rows, "A").at("note"), "the length of sequences is not recorded: give --seq");
  EXPECT_EQ(RowOf(rows, "A").at("mfu_pct"), "");
}

TEST(MfuTest, ValuesByHandHaveConventionsAndNoParts) {
  MadeModel model;
  model.AddForward(6);
  model.plan().network = ops::ParseValues("L=2,h=8,heads=2,V=32,P=1000");
  model.plan().sequence = 6;
  model.plan().batch = 1;
  const auto rows = model.Rows();
  EXPECT_EQ(RowOf(rows, "A").at("token_flops"), std::to_string((6 * 1000 + 12 * 2 * 8 * 6) / 3));
  EXPECT_NE(RowOf(rows, "D").at("mfu_pct"), "");
}

}  // namespace
}  // namespace oplens::test::mfu_test
