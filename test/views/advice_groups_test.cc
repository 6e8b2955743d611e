// Rules of advice about kernels that a stream runs one after the other: sizes, times and names are
// those of real programs, prices are those of the cost models.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/epochs.h"
#include "ops/dtype.h"
#include "ops/op_model.h"
#include "prof/advice/advise.h"
#include "prof/advice/facts.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/path/advice_facts.h"
#include "prof/views/path/stream_kernel.h"

namespace oplens::prof::advice_groups_test {
namespace {

using advice::RankFacts;
using advice::Topic;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// An H100 by its peaks, with round numbers.
ops::Gpu RoundGpu() {
  ops::Gpu gpu;
  gpu.name = "Made up";
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  gpu.dram_bytes_per_s = 3'000'000'000'000;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kVectorFp32)] = 60e12;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kTensorTf32)] = 500e12;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kTensorFp16)] = 1000e12;
  gpu.peaks_per_s[static_cast<size_t>(ops::MathUnit::kTensorFp8)] = 2000e12;
  return gpu;
}

struct TensorArg {
  std::vector<int64_t> shape;
  std::string dtype;
};

/// A kernel with the call that it does.
struct Launch {
  std::string op;
  std::vector<TensorArg> tensors;
  std::string kernel;
  int64_t time_ns = 0;
  std::string layer = {};
  std::optional<double> number = {};  ///< The last argument.
};

constexpr std::string_view kPointwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 2ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 2ul>)";
constexpr std::string_view kReduce =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
    "float, float, float>, unsigned int, float, 4> >(at::native::ReduceOp<float, "
    "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4>)";
constexpr std::string_view kCopy =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&"
    ")::{lambda()#1}>(at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda)>(int, int)";
constexpr std::string_view kGemm = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64";
constexpr std::string_view kSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 3, "
    "false, false>(c10::BFloat16*, c10::BFloat16 const*, int, int, int)";

/// What a test may change of a kernel.
struct Changed {
  Phase phase = Phase::kForward;
  int64_t stream_id = 7;
  bool on_gpu = true;  ///< The GPU is known.
  bool priced = true;  ///< The arguments are known.
  bool collective = false;
};

/// Kernels without a run, in their order.
class Stream {
 public:
  Stream() : names_(&epochs_, nullptr) { facts_.Begin(nullptr); }

  Stream& Run(const Launch& launch, const Changed& changed = {}) {
    OpCall call;
    call.mod = "aten";
    call.op = launch.op;
    std::string shapes;
    for (const TensorArg& tensor : launch.tensors) {
      OpArg& arg = call.args.emplace_back();
      arg.kind = OpArg::Kind::kTensor;
      arg.type = "tensor";
      arg.shape = tensor.shape;
      arg.dtype = tensor.dtype;
      if (launch.op.starts_with("_foreach")) arg.list = static_cast<int32_t>(call.args.size());
      shapes.append(shapes.empty() ? "(" : ";(");
      for (const int64_t extent : tensor.shape) shapes.append(std::to_string(extent)).append(",");
      shapes.append(")");
    }
    if (launch.number) {
      OpArg& arg = call.args.emplace_back();
      const bool is_int = *launch.number == std::floor(*launch.number);
      arg.kind = is_int ? OpArg::Kind::kInt : OpArg::Kind::kFloat;
      arg.type = is_int ? "int" : "float";
      arg.int_value = static_cast<int64_t>(*launch.number);
      arg.float_value = *launch.number;
    }
    const ops::PriceResult result = ops::PriceCall(call);
    KernelRecord record;
    record.long_name = launch.kernel;
    record.short_name = std::string_view(launch.kernel).substr(0, 24);
    record.duration_ns = launch.time_ns;
    record.stream_id = changed.stream_id;
    record.grid = {200, 1, 1};
    record.block = {256, 1, 1};
    PricedKernel kernel;
    kernel.record = &record;
    kernel.facts = names_.Of(launch.kernel);
    kernel.phase = changed.phase;
    kernel.op = launch.op;
    if (changed.on_gpu) kernel.gpu = &gpu_;
    const std::string_view layers[] = {"Model_0", launch.layer};
    if (!launch.layer.empty()) kernel.layer = layers;
    ops::PricedOp collective;
    collective.op_class = ops::OpClass::kCollective;
    if (changed.collective) {
      kernel.price = &collective;
    } else if (changed.priced && result.price) {
      const auto dtype =
          launch.tensors.empty() ? std::nullopt : ops::ParseDType(launch.tensors[0].dtype);
      Price(*result.price, shapes, dtype.value_or(ops::DType::kUnknown), &kernel);
    }
    facts_.Add(kernel);
    return *this;
  }
  Stream& Run(const std::vector<Launch>& launches, const Changed& changed = {}) {
    for (const Launch& launch : launches) Run(launch, changed);
    return *this;
  }

  RankFacts Facts() { return facts_.End(); }

 private:
  void Price(const ops::PricedOp& price, std::string_view shapes, ops::DType dtype,
             PricedKernel* kernel) {
    kernel->price = &price;
    kernel->params = price.params;
    kernel->shapes = shapes;
    kernel->has_shapes = true;
    kernel->instance = ++instance_;
    if (dtype != ops::DType::kUnknown) kernel->dtype = ops::DTypeWord(dtype);
    const ops::Work& work = price.forward[0].work;
    kernel->share.role = ops::Role::kMain;
    kernel->share.bytes = work.bytes.Value();
    kernel->share.flops_mma = work.mma.Value();
    kernel->share.flops = (work.mma + work.vec).Value();
    kernel->tensor_core = price.matmul_like ? ops::TensorCoreUse::kYes : ops::TensorCoreUse::kNo;
  }

  ops::Gpu gpu_ = RoundGpu();
  Epochs epochs_;
  KernelFactsCache names_;
  int64_t instance_ = 0;
  AdviceFacts facts_;
};

std::vector<std::string> FiringOn(const RankFacts& facts) {
  const advice::NamedRank rank{"0", &facts};
  std::vector<std::string> ids;
  for (const advice::Item& item : advice::Advise({&rank, 1})) ids.emplace_back(item.rule->id);
  return ids;
}

/// Elements of a hidden state of 16 texts of 559 tokens.
constexpr int64_t kHidden = int64_t{16} * 559 * 1024;

Launch Pointwise(std::string op, std::vector<TensorArg> tensors, std::string layer,
                 std::optional<double> number = {}) {
  return {std::move(op), std::move(tensors), std::string(kPointwise),
          30'000,        std::move(layer),   number};
}

/// RMSNorm as Transformers writes it.
std::vector<Launch> RmsNorm(const std::string& layer) {
  const TensorArg half = {{16, 559, 1024}, "bfloat16"};
  const TensorArg full = {{16, 559, 1024}, "float32"};
  const TensorArg rows = {{16, 559, 1}, "float32"};
  return {{"copy_", {full, half}, std::string(kCopy), 25'000, layer},
          Pointwise("pow", {full}, layer, 2),
          {"mean", {full}, std::string(kReduce), 20'000, layer, -1},
          Pointwise("add", {rows}, layer, 1e-6),
          Pointwise("rsqrt", {rows}, layer),
          Pointwise("mul", {full, rows}, layer),
          {"copy_", {half, full}, std::string(kCopy), 25'000, layer},
          Pointwise("mul", {{{1024}, "bfloat16"}, half}, layer)};
}

constexpr int64_t kRmsNormNs = 2 * 25'000 + 20'000 + 5 * 30'000;

TEST(AdviceGroupsTest, RmsNormIsOneChain) {
  const RankFacts facts = Stream().Run(RmsNorm("LlamaRMSNorm_3")).Facts();
  const auto& chains = facts.At(Topic::kChain);
  ASSERT_THAT(chains.places,
              ElementsAre(Key("copy, pow, mean, add, rsqrt, mul, copy, mul in LlamaRMSNorm")));
  EXPECT_EQ(chains.all.count, 1);
  EXPECT_EQ(chains.all.time_ns, kRmsNormNs);
  // It reads and writes the hidden state in 16 bits.
  EXPECT_EQ(chains.all.gain_ns, kRmsNormNs - (kHidden * 4 + 1500) / 3000);
  EXPECT_THAT(FiringOn(facts), ElementsAre("fusion"));
}

TEST(AdviceGroupsTest, AChainEndsWithItsLayerPhaseStreamAndAtOtherWork) {
  const std::vector<Launch> norm = RmsNorm("LlamaRMSNorm_3");
  const auto chains_of = [&](const Launch& second, const Changed& changed = {}) {
    return Stream().Run(norm[0]).Run(second, changed).Facts().At(Topic::kChain).all.count;
  };
  EXPECT_EQ(chains_of(norm[1]), 1);
  Launch next_layer = norm[1];
  next_layer.layer = "LlamaMLP_3";
  EXPECT_EQ(chains_of(next_layer), 0);
  EXPECT_EQ(chains_of(norm[1], {.phase = Phase::kBackward}), 0);
  EXPECT_EQ(chains_of(norm[1], {.stream_id = 8}), 0);
  EXPECT_EQ(chains_of(norm[1], {.priced = false}), 0);
  Launch other_size = norm[1];
  other_size.tensors[0].shape = {16, 559, 500};
  EXPECT_EQ(chains_of(other_size), 0);
  Launch compiled = norm[1];
  compiled.kernel = "triton_poi_fused_pow_0";
  EXPECT_EQ(chains_of(compiled), 0);
  const Launch product = {
      "mm", {{{8944, 1024}, "bfloat16"}, {{1024, 1024}, "bfloat16"}}, std::string(kGemm), 30'000};
  EXPECT_EQ(Stream().Run({norm[0], product, norm[1]}).Facts().At(Topic::kChain).all.count, 0);
  const RankFacts gathered =
      Stream().Run(norm[0]).Run(norm[1], {.stream_id = 9, .collective = true}).Run(norm[1]).Facts();
  EXPECT_EQ(gathered.At(Topic::kChain).all.count, 0);
}

TEST(AdviceGroupsTest, WithoutARoofNoChain) {
  const RankFacts facts = Stream().Run(RmsNorm("LlamaRMSNorm_3"), {.on_gpu = false}).Facts();
  EXPECT_THAT(facts.At(Topic::kChain).places, IsEmpty());
  EXPECT_EQ(facts.At(Topic::kMemoryBound).all.time_ns, kRmsNormNs);
  EXPECT_THAT(FiringOn(facts), ElementsAre("memory-bound-kernels"));
}

// A kernel whose reads or writes are unknown is in no bound: what it is the end of is left out.
TEST(AdviceGroupsTest, AChainBeginsAndEndsWhereItsTrafficIsKnown) {
  std::vector<Launch> norm = RmsNorm("LlamaRMSNorm_3");
  Launch into_argument = norm[1];  // pow(x, out=y)
  into_argument.tensors.push_back(into_argument.tensors[0]);
  into_argument.op = "unknown_op";
  const RankFacts facts = Stream().Run({norm[0], norm[1], into_argument}).Facts();
  EXPECT_EQ(facts.At(Topic::kChain).all.time_ns, 25'000 + 30'000);
}

/// Attention of TimeSformer over 3137 patches: batched products with a softmax between.
std::vector<Launch> ComposedAttention(const std::string& layer) {
  const TensorArg query = {{96, 3137, 64}, "bfloat16"};
  const TensorArg key = {{96, 64, 3137}, "bfloat16"};
  const TensorArg scores = {{96, 3137, 3137}, "bfloat16"};
  const TensorArg split = {{8, 12, 3137, 3137}, "bfloat16"};
  return {{"bmm", {query, key}, std::string(kGemm), 1'900'000, layer},
          {"mul", {split}, std::string(kPointwise), 1'300'000, layer, 0.125},
          {"softmax", {split}, std::string(kSoftmax), 5'700'000, layer, -1},
          {"bmm", {scores, query}, std::string(kGemm), 1'700'000, layer}};
}

constexpr int64_t kScores = int64_t{96} * 3137 * 3137;
constexpr int64_t kComposedNs = 1'900'000 + 1'300'000 + 5'700'000 + 1'700'000;

TEST(AdviceGroupsTest, AttentionInParts) {
  const RankFacts facts = Stream().Run(ComposedAttention("TimesformerSelfAttention_4")).Facts();
  const auto& attention = facts.At(Topic::kAttention);
  ASSERT_THAT(attention.places,
              ElementsAre(Key("bmm, mul, softmax, bmm B=96,M=3137,N=3137,K=64,bf16 in "
                              "TimesformerSelfAttention")));
  EXPECT_EQ(attention.all.time_ns, kComposedNs);
  // Four FLOPs for each score and element of the head, at 10^15 per second.
  EXPECT_EQ(attention.all.gain_ns, kComposedNs - (kScores * 4 * 64 + 500'000) / 1'000'000);
  EXPECT_THAT(FiringOn(facts), ElementsAre("attention-backend"));
  EXPECT_THAT(facts.At(Topic::kPad).places, IsEmpty()) << "their time is claimed";
}

TEST(AdviceGroupsTest, MaskedAttentionMayNeedHalf) {
  std::vector<Launch> parts = ComposedAttention("");
  parts[1].op = "add";
  parts[1].number.reset();
  parts[1].tensors.push_back({{8, 1, 3137, 3137}, "bfloat16"});
  const RankFacts facts = Stream().Run(parts).Facts();
  EXPECT_EQ(facts.At(Topic::kAttention).all.gain_ns,
            kComposedNs - (kScores * 2 * 64 + 500'000) / 1'000'000);
}

TEST(AdviceGroupsTest, NoAttentionWithoutBothProducts) {
  const std::vector<Launch> parts = ComposedAttention("");
  const auto attention_of = [](const std::vector<Launch>& launches) {
    return Stream().Run(launches).Facts().At(Topic::kAttention).all.count;
  };
  EXPECT_EQ(attention_of({parts[0], parts[1], parts[2]}), 0);
  EXPECT_EQ(attention_of({parts[2], parts[3]}), 0);
  Launch other = parts[3];
  other.tensors = {{{96, 3137, 100}, "bfloat16"}, {{96, 100, 64}, "bfloat16"}};
  EXPECT_EQ(attention_of({parts[0], parts[1], parts[2], other}), 0);
  Launch loss = parts[2];
  loss.op = "log_softmax";
  EXPECT_EQ(attention_of({parts[0], loss, parts[3]}), 0);
}

Launch Efficient(std::string dtype, bool bias) {
  const TensorArg tensor = {{8, 12, 1024, 64}, std::move(dtype)};
  Launch launch = {"_scaled_dot_product_efficient_attention",
                   {tensor, tensor, tensor},
                   "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)",
                   400'000};
  if (bias) launch.tensors.push_back({{8, 12, 1024, 1024}, "bfloat16"});
  return launch;
}

TEST(AdviceGroupsTest, MemoryEfficientAttentionWhereFlashAttentionCouldRun) {
  const RankFacts facts = Stream().Run(Efficient("bfloat16", false)).Facts();
  EXPECT_EQ(facts.At(Topic::kAttention).all.count, 1);
  EXPECT_GT(facts.At(Topic::kAttention).all.gain_ns, 350'000);
  EXPECT_LT(facts.At(Topic::kAttention).all.gain_ns, 400'000);
  for (const Launch& launch : {Efficient("float32", false), Efficient("bfloat16", true)}) {
    EXPECT_EQ(Stream().Run(launch).Facts().At(Topic::kAttention).all.count, 0);
  }
}

TEST(AdviceGroupsTest, CopiesAndRotationAroundAttention) {
  const TensorArg head = {{16, 16, 559, 64}, "bfloat16"};
  const TensorArg part = {{16, 16, 559, 32}, "bfloat16"};
  const std::string layer = "Qwen2Attention_0";
  const Launch flash = {"_flash_attention_forward",
                        {head, head, head},
                        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(int)",
                        9'000,
                        layer};
  const Launch neg = Pointwise("neg", {part}, layer);
  const Launch mul = Pointwise("mul", {head, head}, layer);
  const Launch copy = {"copy_", {head, head}, std::string(kCopy), 30'000, layer};
  const RankFacts facts = Stream().Run({neg, mul, copy, flash, copy}).Facts();
  EXPECT_EQ(facts.At(Topic::kAttentionCopies).all.time_ns, 4 * 30'000);
  EXPECT_THAT(facts.At(Topic::kAttentionCopies).places,
              Contains(Key("copy_ T=(16,16,559,64),bf16,bf16 in Qwen2Attention")));
  EXPECT_THAT(FiringOn(facts), ElementsAre("rope-and-attention-copies"));
  // A scale is no rotation; and another layer's copy is not around it.
  Launch elsewhere = copy;
  elsewhere.layer = "Qwen2MLP_0";
  const RankFacts other = Stream().Run({elsewhere, mul, flash}).Facts();
  EXPECT_THAT(other.At(Topic::kAttentionCopies).places, IsEmpty());
}

TEST(AdviceGroupsTest, CastsBeforeProducts) {
  const TensorArg half = {{8944, 1024}, "bfloat16"};
  const TensorArg full = {{8944, 1024}, "float32"};
  const TensorArg weight = {{1024, 1024}, "bfloat16"};
  const Launch cast = {"copy_", {half, full}, std::string(kCopy), 30'000, "Linear_0"};
  const Launch product = {"mm", {half, weight}, std::string(kGemm), 30'000, "Linear_0"};
  const RankFacts facts = Stream().Run({cast, product}).Facts();
  EXPECT_THAT(facts.At(Topic::kCast).places,
              ElementsAre(Pair("copy_ T=(8944,1024),fp32,bf16 in Linear", ::testing::_)));
  EXPECT_EQ(facts.At(Topic::kCast).all.gain_ns, 30'000);
  EXPECT_THAT(FiringOn(facts), Contains("casts-before-products"));
  Launch other_size = cast;
  other_size.tensors = {{{8000, 1024}, "bfloat16"}, {{8000, 1024}, "float32"}};
  Launch other_layer = cast;
  other_layer.layer = "LayerNorm_0";
  for (const std::vector<Launch>& none :
       {std::vector{other_size, product}, std::vector{other_layer, product},
        std::vector{cast, Pointwise("neg", {half}, "Linear_0"), product},
        std::vector{product, cast}}) {
    EXPECT_EQ(Stream().Run(none).Facts().At(Topic::kCast).all.count, 0);
  }
}

TEST(AdviceGroupsTest, QuantisationBesideProductsOfFewBits) {
  const Launch quantise = {"static_scaled_fp8_quant",
                           {},
                           "void vllm::scaled_fp8_quant_kernel_strided<bf16>(int)",
                           30'000};
  const Launch fp8 = {
      "moe", {}, "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32", 30'000};
  const Launch half = {
      "mm", {{{8944, 1024}, "bfloat16"}, {{1024, 1024}, "bfloat16"}}, std::string(kGemm), 30'000};
  const RankFacts facts = Stream().Run({quantise, fp8}).Facts();
  EXPECT_EQ(facts.At(Topic::kQuantise).all.gain_ns, 30'000);
  EXPECT_THAT(FiringOn(facts), ElementsAre("quantize-around-products"));
  // Before a collective, or beside products of 16 bits, it has another purpose.
  EXPECT_EQ(Stream().Run({quantise, half}).Facts().At(Topic::kQuantise).all.count, 0);
}

TEST(AdviceGroupsTest, FarFromTheRoof) {
  Launch product = {
      "mm", {{{8944, 1024}, "bfloat16"}, {{1024, 1024}, "bfloat16"}}, std::string(kGemm), 100'000};
  const int64_t roof_ns = int64_t{2} * 8944 * 1024 * 1024 / 1'000'000;
  const RankFacts facts = Stream().Run(product).Facts();
  EXPECT_NEAR(static_cast<double>(facts.At(Topic::kFarFromRoof).all.gain_ns),
              static_cast<double>(100'000 - roof_ns), 2);
  EXPECT_THAT(FiringOn(facts), ElementsAre("far-from-roof"));
  product.time_ns = 2 * roof_ns - 10;
  EXPECT_THAT(FiringOn(Stream().Run(product).Facts()), IsEmpty());
  EXPECT_THAT(FiringOn(Stream().Run(product, {.on_gpu = false}).Facts()), IsEmpty());
}

/// Adam as a few calls on lists; each reads up to three lists of 10^8 parameters.
std::vector<Launch> AdamStep() {
  const TensorArg list = {{100'000'000}, "float32"};
  const std::string kernel = "void at::native::multi_tensor_apply_kernel<int>(int)";
  return {{"_foreach_lerp_", {list, list}, kernel, 600'000, "", 0.1},
          {"_foreach_mul_", {list}, kernel, 400'000, "", 0.999},
          {"_foreach_addcmul_", {list, list, list}, kernel, 800'000, "", 0.001},
          {"_foreach_sqrt", {list}, kernel, 400'000},
          {"_foreach_addcdiv_", {list, list, list}, kernel, 800'000, "", -0.001}};
}

TEST(AdviceGroupsTest, PassesOfAnOptimizer) {
  const RankFacts facts = Stream().Run(AdamStep(), {.phase = Phase::kOptimizer}).Facts();
  const auto& passes = facts.At(Topic::kForeach);
  EXPECT_THAT(passes.places, UnorderedElementsAre(Key("_foreach_lerp_"), Key("_foreach_mul_"),
                                                  Key("_foreach_addcmul_"), Key("_foreach_sqrt"),
                                                  Key("_foreach_addcdiv_")));
  EXPECT_EQ(passes.all.count, 5);
  EXPECT_EQ(passes.all.time_ns, 3'000'000);
  // Half of the four lists that addcmul moves, at 3 * 10^12 bytes per second.
  EXPECT_NEAR(static_cast<double>(passes.all.gain_ns), 3e6 - 2 * 4e8 / 3000, 3);
  EXPECT_THAT(FiringOn(facts), ElementsAre("foreach-optimizer"));
  const std::vector<Launch> step = AdamStep();
  EXPECT_THAT(
      FiringOn(Stream().Run(std::vector{step[0], step[1]}, {.phase = Phase::kOptimizer}).Facts()),
      IsEmpty())
      << "two passes";
  EXPECT_THAT(Stream()
                  .Run(step, {.phase = Phase::kOptimizer, .on_gpu = false})
                  .Facts()
                  .At(Topic::kForeach)
                  .places,
              IsEmpty());
}

TEST(AdviceGroupsTest, TheSameCallAgainIsNoChain) {
  const Launch add = Pointwise("add", {{{8192, 8192}, "float32"}, {{8192, 8192}, "float32"}}, "");
  EXPECT_EQ(Stream().Run({add, add, add}).Facts().At(Topic::kChain).all.count, 0);
}

// A kernel of one's own may be named like what it is not.
TEST(AdviceGroupsTest, MemoryBoundByOpOrByALibrarysName) {
  Launch own = {"", {}, "p_reduction_kernel(float*, int)", 30'000};
  EXPECT_THAT(FiringOn(Stream().Run(own).Facts()), IsEmpty());
  own.op = "reduction";
  EXPECT_THAT(FiringOn(Stream().Run(own).Facts()), ElementsAre("memory-bound-kernels"));
  own = {"", {}, std::string(kReduce), 30'000};
  EXPECT_THAT(FiringOn(Stream().Run(own).Facts()), ElementsAre("memory-bound-kernels"));
  EXPECT_THAT(FiringOn(Stream().Run(own, {.phase = Phase::kOptimizer}).Facts()),
              ::testing::Not(::testing::Contains("memory-bound-kernels")));
}

// Thousands of kernels on a stream are looked at in parts, between products.
TEST(AdviceGroupsTest, LongStreams) {
  const Launch product = {
      "mm", {{{8944, 1024}, "bfloat16"}, {{1024, 1024}, "bfloat16"}}, std::string(kGemm), 30'000};
  Stream stream;
  for (int layer = 0; layer < 1000; ++layer) {
    stream.Run(RmsNorm("LlamaRMSNorm_" + std::to_string(layer))).Run(product);
  }
  const RankFacts facts = stream.Facts();
  EXPECT_EQ(facts.At(Topic::kChain).all.count, 1000);
  EXPECT_EQ(facts.At(Topic::kChain).all.time_ns, 1000 * kRmsNormNs);
}

TEST(StreamKernelTest, Layers) {
  EXPECT_TRUE(EnclosesLayer(":A_0", ":A_0:B_1"));
  EXPECT_TRUE(EnclosesLayer(":A_0", ":A_0"));
  EXPECT_FALSE(EnclosesLayer(":A_0", ":A_01"));
  EXPECT_TRUE(EnclosesLayer("", ":A_0"));
  EXPECT_EQ(AttentionLayerOf(":AttentionUNet_0:Block_3:CrossAttention_1:Attention_2"),
            ":AttentionUNet_0:Block_3:CrossAttention_1");
  EXPECT_EQ(AttentionLayerOf(":Model_0:Block_3"), ":Model_0:Block_3");
  EXPECT_EQ(AttentionLayerOf(""), "");
  EXPECT_EQ(LayerName(":Model_0:LlamaRMSNorm_12"), "LlamaRMSNorm");
  EXPECT_EQ(LayerName(":Model_0:block_a"), "block_a");
  EXPECT_EQ(LayerName(""), "");
}

}  // namespace
}  // namespace oplens::prof::advice_groups_test
