#include "ops/kernels/launch_sizes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "ops/kernels/launch_elementwise.h"
#include "ops/kernels/template_arguments.h"

namespace oplens::ops::launch_sizes_test {
namespace {

constexpr std::string_view kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3>)";
constexpr std::string_view kSilu =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
    "namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() "
    "const::{lambda()#6}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> "
    ">(int, X, std::array<char*, 2ul>)";
constexpr std::string_view kWide =
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, X, std::array<char*, 3ul>)";
constexpr std::string_view kStrided =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
    "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, X "
    "const&)::{lambda(int)#1}>(int, Y)";

struct Case {
  std::string_view name;
  Dim3 grid, block;
  std::string_view params;
  std::optional<Bounds> flops, bytes;
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

class ElementwiseTest : public testing::TestWithParam<Case> {};

TEST_P(ElementwiseTest, SizesFollow) {
  const Case& test = GetParam();
  const LaunchSizes sizes = SizesOfLaunch(test.name, test.grid, test.block);
  EXPECT_EQ(sizes.params, test.params);
  EXPECT_EQ(sizes.flops, test.flops);
  EXPECT_EQ(sizes.bytes, test.bytes);
  if (sizes.flops && sizes.flops_estimate) {
    EXPECT_LE(sizes.flops->low, *sizes.flops_estimate);
    EXPECT_GE(sizes.flops->high, *sizes.flops_estimate);
  }
}

// Computed by hand: n = (grid - 1) * threads * elements + 1 .. grid * threads * elements.
INSTANTIATE_TEST_SUITE_P(
    Kernels, ElementwiseTest,
    testing::Values(
        // 1 FLOP, or 2 with a factor; two inputs that may be one, one output.
        Case{kAdd,
             {100, 1, 1},
             {128, 1, 1},
             "n=50689..51200,fp32",
             Bounds{50689, 102400},
             Bounds{405512, 614400}},
        Case{kAdd,
             {100, 1, 1},
             {64, 1, 1},
             "n=25345..25600,fp32",
             Bounds{25345, 51200},
             Bounds{202760, 307200}},
        // 21 FLOPs of silu; 4 elements a thread, or 8 in a newer version.
        Case{kSilu,
             {32, 1, 1},
             {128, 1, 1},
             "n=15873..32768,bf16",
             Bounds{333333, 688128},
             Bounds{63492, 131072}},
        Case{kWide,
             {36, 1, 1},
             {128, 1, 1},
             "n=35841..36864,bf16",
             Bounds{35841, 73728},
             Bounds{143364, 221184}},
        // AMD: 8, or 16 in a newer version.
        Case{kWide,
             {36, 1, 1},
             {256, 1, 1},
             "n=71681..147456,bf16",
             Bounds{71681, 294912},
             Bounds{286724, 884736}},
        // Operands for any strides may be expanded: at least the output is written.
        Case{kStrided,
             {32, 1, 1},
             {128, 1, 1},
             "n=15873..16384,bf16",
             Bounds{15873, 16384},
             Bounds{31746, 98304}},
        // The block is not the one it is compiled for.
        Case{kStrided, {32, 1, 1}, {64, 1, 1}, "", std::nullopt, std::nullopt}));

constexpr std::string_view kFlash =
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
    "false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, "
    "cutlass::bfloat16_t> >, false, true, false, false, true, true, false, "
    "false>(pytorch_flash::Flash_fwd_params)";
constexpr std::string_view kEfficient =
    "fmha_cutlassF_f32_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, "
    "cutlass::arch::Sm80, true, 64, 128, 128, true, true>::Params)";
constexpr std::string_view kImplicit =
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64x16_"
    "stage4_warpsize2x2x1_g1_tensor16x8x8_kernel_cudnn";

struct TilesCase {
  std::string_view name;
  Dim3 grid, block;
  std::string_view params;
};

void PrintTo(const TilesCase& test, std::ostream* out) { *out << test.name; }

class TilesTest : public testing::TestWithParam<TilesCase> {};

TEST_P(TilesTest, ExtentsAreKnownToATile) {
  const TilesCase& test = GetParam();
  const LaunchSizes sizes = SizesOfLaunch(test.name, test.grid, test.block);
  EXPECT_EQ(sizes.params, test.params);
  EXPECT_EQ(sizes.flops, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, TilesTest,
    testing::Values(
        TilesCase{kFlash, {2, 4, 12}, {128, 1, 1}, "B=4,H=12,Sq=129..256,D=33..64,bf16"},
        TilesCase{kFlash, {2, 4, 12}, {256, 1, 1}, ""},
        TilesCase{kFlash, {0, 4, 12}, {128, 1, 1}, ""},
        TilesCase{kEfficient, {4, 16, 25}, {32, 8, 1}, "B=25,H=16,Sq=193..256,D=1..128,fp32"},
        TilesCase{"flash_fwd_kernel<Flash_fwd_kernel_traits<64, 0, 128, 4, false, false, float>>",
                  {2, 4, 12},
                  {128, 1, 1},
                  ""},
        TilesCase{"volta_scudnn_128x64_relu_interior_nn_v1",
                  {784, 4, 1},
                  {256, 1, 1},
                  "N*P*Q=100225..100352,K=193..256"},
        TilesCase{"volta_scudnn_128x64_relu_interior_nn_v1", {784, 4, 2}, {256, 1, 1}, ""},
        TilesCase{"volta_scudnn_128x128_stridedB_interior_nn_v1",
                  {49, 2, 1},
                  {256, 1, 1},
                  "N*H*W=6145..6272,C=129..256"},
        TilesCase{"volta_scudnn_128x128_stridedB_splitK_small_nn_v1",
                  {16, 4, 7},
                  {256, 1, 1},
                  "C*R*S=1921..2048,K=385..512"},
        TilesCase{"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
                  {1, 4, 2},
                  {256, 1, 1},
                  ""},
        TilesCase{
            "volta_scudnn_99999999999999999999x64_relu_interior_nn_v1", {1, 4, 1}, {256, 1, 1}, ""},
        TilesCase{kImplicit, {1, 98, 1}, {128, 1, 1}, "N*P*Q=12417..12544,K=1..64"},
        TilesCase{"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x64x64_"
                  "stage3_warpsize2x2x1_g1_tensor16x8x16_t1r3s5_execute_kernel_trt",
                  {1, 98, 1},
                  {128, 1, 1},
                  "N*P*Q=12417..12544,K=1..64,R=3,S=5"},
        TilesCase{kImplicit, {int64_t{1} << 60, int64_t{1} << 60, 1}, {128, 1, 1}, ""}));

TEST(LaunchSizesTest, SaysNothingOfLaunchesThatAreNone) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  for (const Dim3& grid :
       {Dim3{0, 1, 1}, Dim3{-1, -1, -1}, Dim3{kHuge, 1, 1}, Dim3{5, 2, 1}, Dim3{5, 1, kHuge}}) {
    const LaunchSizes sizes = SizesOfLaunch(kAdd, grid, {128, 1, 1});
    EXPECT_EQ(sizes.kind, LaunchSizes::Kind::kNone) << grid.x;
    EXPECT_EQ(sizes.flops, std::nullopt);
    EXPECT_EQ(sizes.bytes_estimate, std::nullopt);
  }
  for (const Dim3& block : {Dim3{0, 1, 1}, Dim3{-1, -1, -1}, Dim3{kHuge, kHuge, kHuge},
                            Dim3{128, 2, 1}, Dim3{100, 1, 1}}) {
    EXPECT_EQ(SizesOfLaunch(kAdd, {5, 1, 1}, block).kind, LaunchSizes::Kind::kNone) << block.x;
  }
}

TEST(LaunchSizesTest, NoNumberIsSaidOfOneBlock) {
  const LaunchSizes sizes = SizesOfLaunch(kAdd, {1, 1, 1}, {128, 1, 1});
  EXPECT_EQ(sizes.flops, (Bounds{1, 1024}));
  EXPECT_EQ(sizes.flops_estimate, std::nullopt);
}

TEST(LaunchSizesTest, OverflowIsNothing) {
  const LaunchSizes sizes = SizesOfLaunch(kSilu, {int64_t{1} << 52, 1, 1}, {128, 1, 1});
  EXPECT_EQ(sizes.flops, std::nullopt);
  EXPECT_EQ(sizes.flops_estimate, std::nullopt);
}

TEST(LaunchSizesTest, KernelsThatMoveDoNoFlops) {
  for (const std::string_view name :
       {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 64, "
        "64>(float*)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
        "void splitKreduce_kernel<32, 16, int, float, float, float, float, true, false, false>(X)",
        "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, "
        "(cudnnKernelDataType_t)2>(X)",
        "void at::native::index_elementwise_kernel<128, 4, "
        "at::native::gpu_index_kernel<at::native::index_kernel_impl<at::native::OpaqueType<4> "
        ">(X)::{lambda(char*, char const*, long)#1}>(X)::{lambda(int)#1}>(long, X)"}) {
    const LaunchSizes sizes = SizesOfLaunch(name, {-1, -1, -1}, {-1, -1, -1});
    EXPECT_EQ(sizes.flops, (Bounds{0, 0})) << name;
    EXPECT_EQ(sizes.flops_estimate, 0) << name;
    EXPECT_EQ(sizes.bytes, std::nullopt) << name;
  }
  for (const std::string_view name :
       {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(X)",
        "ncclKernel_ReduceScatter_RING_LL_Sum_float(X)", "my_copy_of_everything(float*)",
        "saxpy(int, float, float*, float*)", ""}) {
    EXPECT_EQ(SizesOfLaunch(name, {5, 1, 1}, {128, 1, 1}).flops, std::nullopt) << name;
  }
}

TEST(LaunchSizesTest, HostileNamesAreHarmless) {
  const std::string deep = "vectorized_elementwise_kernel<" + std::string(100000, '<');
  const std::string open = "void at::native::vectorized_elementwise_kernel<4, at::native::Cut";
  const std::string numbers =
      "vectorized_elementwise_kernel<99999999999999999999, AbsFunctor<float>, std::array<char*, "
      "2>>";
  for (const std::string& name :
       {deep, open, numbers, std::string("elementwise_kernel<>"),
        std::string("elementwise_kernel<,,,>"), std::string("elementwise_kernel<-1, 4, x>"),
        std::string(3, '\0'), std::string("\xff\xfe_elementwise_kernel<")}) {
    EXPECT_EQ(SizesOfLaunch(name, {5, 1, 1}, {128, 1, 1}).kind, LaunchSizes::Kind::kNone) << name;
  }
}

TEST(TemplateArgumentsTest, Splits) {
  const auto arguments =
      TemplateArguments("void k::f<4, a<b, c>, g(int, d)::{lambda(x, y)#1}>(z)", "f");
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(arguments[1], "a<b, c>");
  EXPECT_EQ(arguments[2], "g(int, d)::{lambda(x, y)#1}");
  EXPECT_TRUE(TemplateArguments("void k::ff<4>(z)", "f").empty());
  EXPECT_TRUE(TemplateArguments("void k::f<4(z)", "f").empty());
  EXPECT_EQ(TemplateNumber("(int)4"), 4);
  EXPECT_EQ(TemplateNumber("3ul"), 3);
  EXPECT_EQ(TemplateNumber("three"), std::nullopt);
  EXPECT_EQ(TemplateNumber("4x"), std::nullopt);
}

TEST(FunctorTest, CostsWhatItsOpCosts) {
  struct Row {
    std::string_view spelling;
    int64_t flops;
  };
  for (const Row& row : {
           Row{"at::native::sigmoid_kernel_cuda(X)::{lambda(float)#1}", 20},
           Row{"at::native::sigmoid_backward_kernel_cuda(X)::{lambda(float, float)#1}", 3},
           Row{"at::native::GeluCUDAKernelImpl(X&, at::native::GeluType)::{lambda()#2}", 24},
           Row{"at::native::GeluCUDAKernelImpl(X&, at::native::GeluType)::{lambda()#1}", 28},
           Row{"at::native::addcmul_cuda_kernel(X)::{lambda(float, float, float)#1}", 3},
           Row{"at::native::pow_tensor_scalar_kernel_impl<float, float>(X)::{lambda(float)#1}", 1},
           Row{"at::native::FillFunctor<float>", 0},
       }) {
    const Functor functor = FunctorOf(row.spelling);
    ASSERT_TRUE(functor.flops.has_value()) << row.spelling;
    EXPECT_EQ(functor.flops->estimate, row.flops) << row.spelling;
  }
  EXPECT_EQ(FunctorOf("my::own(X)::{lambda(float)#1}").flops, std::nullopt);
}

}  // namespace
}  // namespace oplens::ops::launch_sizes_test
