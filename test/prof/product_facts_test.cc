#include "prof/price/product_facts.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/epochs.h"
#include "ops/op_model.h"
#include "prof/price/kernel_facts.h"
#include "test/prof/rows.h"

namespace oplens::prof::product_facts_test {
namespace {

class ProductFactsTest : public testing::Test {
 protected:
  ProductFactsTest() {
    row_.record = &record_;
    op_.product.emplace();
    op_.product->extents = {{"M", 100}, {"N", 9}, {"K", 3}};
  }
  /// A kernel of this name; `priced`: of a product of matrices.
  const PricedKernel& Named(std::string_view name, bool priced = true) {
    row_.facts = kernels_.Of(name);
    row_.price = priced ? &op_ : nullptr;
    row_.extents = {};
    if (priced) row_.extents = op_.product->extents;
    return row_;
  }

  Epochs epochs_;
  Epochs::Pin pin_ = epochs_.Current();
  KernelFactsCache kernels_{&epochs_, nullptr};
  KernelRecord record_ = test::PlainRecord();
  ops::PricedOp op_;
  PricedKernel row_;
};

TEST_F(ProductFactsTest, LayoutsOfNamesAndOps) {
  row_.op_layout = "NT";
  EXPECT_EQ(LayoutOf(Named("volta_sgemm_64x32_sliced1x4_nn")), "NN") << "the name is first";
  EXPECT_EQ(LayoutByName(Named("volta_sgemm_64x32_sliced1x4_tt")), "TT");
  EXPECT_EQ(LayoutOf(Named("void splitKreduce_kernel<float>(P)")), "NT");
  EXPECT_EQ(LayoutByName(Named("void splitKreduce_kernel<float>(P)")), "");
  EXPECT_EQ(LayoutOf(Named("_matmul_ogs_NNT_bf16xbf16xmxfp4_128x64x256x1_swiglu")), "NT")
      << "its letters are not those of BLAS";
  op_.product->kind = ops::MatrixProduct::Kind::kConvolution;
  EXPECT_EQ(LayoutOf(Named("volta_scudnn_128x64_relu_small_nn_v1")), "");
}

TEST_F(ProductFactsTest, WithoutAPriceTheNameDecides) {
  EXPECT_TRUE(IsOfProduct(Named("volta_sgemm_64x32_sliced1x4_nn", false)));
  EXPECT_EQ(LayoutOf(Named("volta_sgemm_64x32_sliced1x4_nn", false)), "NN");
  EXPECT_FALSE(
      IsOfProduct(Named("void at::native::vectorized_elementwise_kernel<4, X>(P)", false)));
  row_.facts = nullptr;
  EXPECT_FALSE(IsOfProduct(row_));
  EXPECT_EQ(SizeOf(row_, "m"), std::nullopt);
  EXPECT_EQ(TileOf(row_), std::nullopt);
}

// A part of the op that is no product, such as the gradient of a bias, has no extents.
TEST_F(ProductFactsTest, APartWithoutExtentsIsNoProduct) {
  Named("void at::native::reduce_kernel<512, 1, X>(P)");
  row_.extents = {};
  EXPECT_FALSE(IsOfProduct(row_));
  EXPECT_EQ(SizeOf(row_, "m"), std::nullopt);
}

// Extents that are not M, N and K: the products of a group have sizes of their own.
TEST_F(ProductFactsTest, OtherExtentsAreNotTaken) {
  op_.product->extents = {{"N", 100}, {"T", 9}, {"K", 3}};
  Named("volta_sgemm_64x32_sliced1x4_nn");
  EXPECT_TRUE(IsOfProduct(row_));
  EXPECT_EQ(SizeOf(row_, "n"), std::nullopt);
  EXPECT_EQ(SizeOf(row_, "batch"), std::nullopt);
}

TEST_F(ProductFactsTest, Tiles) {
  EXPECT_EQ(TileOf(Named("volta_sgemm_64x32_sliced1x4_nn")), (ProductTile{64, 32}));
  EXPECT_EQ(TileOf(Named("_matmul_ogs_NNT_bf16xbf16xmxfp4_128x64x256x1_swiglu")),
            (ProductTile{64, 128}))
      << "rows are N";
  EXPECT_EQ(TileOf(Named("void cutlass::Kernel<cutlass::gemm::GemmShape<128, 64, 8>, X>(P)")),
            std::nullopt)
      << "along which extents is not told";
  EXPECT_EQ(TileOf(Named("void cutlass::Kernel<cutlass::gemm::GemmShape<64, 64, 8>, X>(P)")),
            (ProductTile{64, 64}));
  EXPECT_EQ(TileOf(Named("gemv_kernel")), std::nullopt);
}

TEST_F(ProductFactsTest, TilesThatReachBeyondTheProduct) {
  EXPECT_DOUBLE_EQ(TileEfficiency(128, 64, {64, 32}).value(), 1);
  EXPECT_DOUBLE_EQ(TileEfficiency(100, 9, {64, 32}).value(), 900.0 / (128 * 32));
  EXPECT_DOUBLE_EQ(TileEfficiency(1, 1, {128, 128}).value(), 1.0 / (128 * 128));
  EXPECT_EQ(TileEfficiency(0, 9, {64, 32}), std::nullopt);
  EXPECT_EQ(TileEfficiency(9, -1, {64, 32}), std::nullopt);
  EXPECT_EQ(TileEfficiency(INT64_MAX, 9, {64, 32}), std::nullopt);
}

}  // namespace
}  // namespace oplens::prof::product_facts_test
