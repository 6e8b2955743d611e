#include "prof/run/block_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/views/made_run.h"

namespace oplens::prof::block_order_test {
namespace {

constexpr const char* kEmbedding =
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long>(X)";
constexpr const char* kNorm = "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(X)";
constexpr const char* kGemm = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT";
constexpr const char* kRope = "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(X)";
constexpr const char* kCache = "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(X)";
constexpr const char* kAttention =
    "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>(X)";
constexpr const char* kAttentionBackward =
    "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<X>(X)";
constexpr const char* kAct =
    "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<X>>(X)";
constexpr const char* kCopy =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::direct_copy_kernel_cuda(at::TensorIterator"
    "Base&)>(X)";
constexpr const char* kSampling = "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<X>(X)";

class BlockOrderTest : public testing::Test {
 protected:
  void Add(const std::vector<const char*>& names, int32_t stream = 7) {
    for (const char* name : names) {
      made_.AddKernel(now_, now_ + 10, kNoLaunch, name, 0, stream);
      now_ += 10;
    }
  }
  void AddBlock(int32_t stream = 7) {
    Add({kNorm, kGemm, kRope, kCache, kAttention, kGemm, kNorm, kGemm, kAct, kGemm}, stream);
  }
  void AddPass(int blocks, int32_t stream = 7) {
    Add({kEmbedding}, stream);
    for (int i = 0; i < blocks; ++i) AddBlock(stream);
    Add({kNorm, kGemm, kSampling}, stream);
  }

  /// "0:norm 0:qkv - ..." of all kernels.
  std::string Layers() {
    NameReader names;
    const BlockOrder order(made_.records(), &names);
    std::string text;
    for (uint32_t i = 0; i < made_.trace.kernels.size(); ++i) {
      const auto layer = order.LayerOf(i);
      if (i > 0) text += ' ';
      text += layer.empty() ? "-" : fmt::format("{}:{}", layer[0], layer[1]);
    }
    return text;
  }

  static std::string BlockText(int number) {
    std::string text;
    for (const char* part :
         {"norm", "qkv", "rope", "rope", "attention", "o", "norm2", "up", "act", "down"}) {
      text += fmt::format(" block[{}]:{}", number, part);
    }
    return text;
  }

  test::MadeRun made_;
  int64_t now_ = 1000;
};

TEST_F(BlockOrderTest, NumbersTheBlocksOfAPass) {
  AddPass(3);
  EXPECT_EQ(Layers(), "-" + BlockText(0) + BlockText(1) + BlockText(2) + " - - -");
}

TEST_F(BlockOrderTest, EveryPassBeginsAnew) {
  AddPass(3);
  AddPass(3);
  const std::string pass = "-" + BlockText(0) + BlockText(1) + BlockText(2) + " - - -";
  EXPECT_EQ(Layers(), pass + " " + pass);
}

TEST_F(BlockOrderTest, StreamsAreApart) {
  AddPass(3, 7);
  AddPass(4, 8);
  const std::string text = Layers();
  EXPECT_EQ(text, "-" + BlockText(0) + BlockText(1) + BlockText(2) + " - - - -" + BlockText(0) +
                      BlockText(1) + BlockText(2) + BlockText(3) + " - - -");
}

TEST_F(BlockOrderTest, APassThatTheRecordingCutIsLeftAlone) {
  AddBlock();
  AddBlock();
  Add({kNorm, kGemm, kSampling});
  AddPass(3);
  AddPass(3);
  EXPECT_EQ(Layers().find("block"), std::string("- ").size() * 23 + 2);
}

TEST_F(BlockOrderTest, TheOnlyPassMayBeCutIfTheStreamBeginsWithIt) {
  for (int i = 0; i < 4; ++i) AddBlock();
  Add({kNorm, kGemm, kSampling});
  EXPECT_EQ(Layers().find("block"), std::string::npos);
}

TEST_F(BlockOrderTest, TwoBlocksProveNothing) {
  AddPass(2);
  EXPECT_EQ(Layers().find("block"), std::string::npos);
}

TEST_F(BlockOrderTest, AttentionThatIsInNoBlockStopsTheCount) {
  Add({kEmbedding, kGemm, kAttention, kGemm});  // No norm before it.
  for (int i = 0; i < 3; ++i) AddBlock();
  Add({kNorm, kGemm, kSampling});
  EXPECT_EQ(Layers().find("block"), std::string::npos);
}

TEST_F(BlockOrderTest, TheBackwardPassHasNoBlocks) {
  AddPass(3);
  for (int i = 0; i < 3; ++i) {
    Add({kNorm, kGemm, kAttentionBackward, kGemm, kNorm, kGemm, kAct, kGemm});
  }
  const std::string text = Layers();
  EXPECT_EQ(text.find("block", text.find(" - - - ")), std::string::npos);
}

TEST_F(BlockOrderTest, WhatTheMlpHoldsIsNotToldApart) {
  Add({kEmbedding});
  for (int i = 0; i < 3; ++i) {
    Add({kNorm, kGemm, kAttention, kGemm, kNorm, kGemm,
         "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1", kCopy, "_finalize_matmul_scatter_bf16"});
  }
  Add({kNorm});
  EXPECT_NE(Layers().find("block[1]:mlp block[1]:mlp block[1]:mlp block[1]:mlp block[2]:norm"),
            std::string::npos);
}

TEST_F(BlockOrderTest, ARecordedLayerIsLeftAlone) {
  AddPass(3);
  const LaunchIndex call = made_.AddCall(100, 110);
  made_.AddRange("Mine_0", 90, 120, RangeKind::kModule);
  made_.trace.kernels[12].launch = call;
  EXPECT_EQ(Layers().find("block"), std::string::npos);
}

TEST_F(BlockOrderTest, UnlikeNetworksAndNoKernels) { EXPECT_EQ(Layers(), ""); }

TEST_F(BlockOrderTest, UntimedKernelsAreNotOnAStream) {
  AddPass(3);
  made_.trace.kernels[5].start_ns = made_.trace.kernels[5].end_ns = 0;
  EXPECT_EQ(Layers().find("block"), std::string::npos);
}

}  // namespace
}  // namespace oplens::prof::block_order_test
