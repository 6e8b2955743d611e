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
