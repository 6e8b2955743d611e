// A made-up training step of torch.compile, from the trace to the rows.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test/support/kineto_builder.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::prof::compiled_program_test {
namespace {

using test::KinetoBuilder;

constexpr int64_t kUs = 1000;

// One kernel of a compiled region, and a product that it calls, forward and backward.
KinetoBuilder Step() {
  KinetoBuilder builder;
  builder.AddHost("python_function", "nn.Module: Net_0", 5 * kUs, 300 * kUs);
  builder.AddHost("user_annotation", "Torch-Compiled Region: 0/0", 10 * kUs, 280 * kUs);
  builder.AddOperator(
      {.name = "CompiledFunction", .start_ns = 20 * kUs, .duration_ns = 200 * kUs, .sequence = 7});
  builder.AddOperator({.name = "extern_kernels.mm",
                       .start_ns = 30 * kUs,
                       .duration_ns = 40 * kUs,
                       .dims = "[[6, 10], [10, 14]]",
                       .types = R"(["float", "float"])"});
  builder.Launch({.name = "ampere_sgemm_32x32", .start_ns = 50 * kUs}, 40 * kUs);
  builder.AddOperator(
      {.name = "triton_poi_fused_addmm_relu_0",
       .start_ns = 100 * kUs,
       .duration_ns = 40 * kUs,
       .dims = "[[6, 14], [14], []]",
       .types = R"(["float", "float", "Scalar"])",
       .values = R"(["", "", "84"])",
       .more = {{"kernel_backend", R"("triton")"}, {"kernel_kwargs", R"("XBLOCK=128")"}}});
  builder.Launch({.name = "triton_poi_fused_addmm_relu_0", .start_ns = 120 * kUs}, 110 * kUs);
  const int64_t engine = 5678;
  const std::string node = "CompiledFunctionBackward";
  builder.AddOperator({.name = "autograd::engine::evaluate_function: " + node,
                       .start_ns = 400 * kUs,
                       .duration_ns = 200 * kUs,
                       .thread_id = engine,
                       .sequence = 7,
                       .forward_thread = 1});
  builder.AddOperator({.name = node,
                       .start_ns = 410 * kUs,
                       .duration_ns = 180 * kUs,
                       .thread_id = engine,
                       .sequence = 7,
                       .forward_thread = 1});
  builder.AddOperator(
      {.name = "triton_per_fused_sum_threshold_backward_1",
       .start_ns = 420 * kUs,
       .duration_ns = 40 * kUs,
       .thread_id = engine,
       .dims = "[[6, 14], [14], [], []]",
       .types = R"(["float", "float", "Scalar", "Scalar"])",
       .values = R"(["", "", "14", "6"])",
       .more = {{"kernel_backend", R"("triton")"}, {"kernel_kwargs", R"("XBLOCK=32")"}}});
  builder.Launch({.name = "triton_per_fused_sum_threshold_backward_1", .start_ns = 440 * kUs},
                 430 * kUs, engine);
  // Of a version that recorded no dims of it.
  builder.AddOperator({.name = "triton_poi_fused_clone_2",
                       .start_ns = 480 * kUs,
                       .duration_ns = 40 * kUs,
                       .thread_id = engine});
  builder.Launch({.name = "triton__0d1d2de", .start_ns = 500 * kUs}, 490 * kUs, engine);
  return builder;
}

TEST(CompiledProgram, RowsOfACompiledStep) {
  const std::filesystem::path trace = test::TestDir() / "step.json";
  Step().Write(trace);
  const test::RunResult run =
      test::RunProgram({test::Program("prof"), "--quiet", "--csv", "--header", "keys", "-c",
                        "dir,layer,op,params,flops,flops_kind,bytes,path,reason", trace.string()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  // 2 * 6 * 14 * 10; 84 points of a bias and a maximum, in place; 84 sums and masks. The layer of
  // what runs backward is that of its forward op, CompiledFunction.
  EXPECT_EQ(
      run.out,
      "\"dir\",\"layer\",\"op\",\"params\",\"flops\",\"flops_kind\",\"bytes\",\"path\",\"reason\"\n"
      "\"fprop\",\"Net_0\",\"extern_kernels.mm\",\"M=14,N=6,K=10,fp32\",\"1680\",\"exact\","
      "\"1136\",\"CompiledFunction > extern_kernels.mm\",\"\"\n"
      "\"fprop\",\"Net_0\",\"triton_poi_fused_addmm_relu_0\",\"X=84,fp32\",\"168\","
      "\"estimate\",\"728\",\"CompiledFunction > triton_poi_fused_addmm_relu_0\",\"\"\n"
      "\"bprop\",\"Net_0\",\"triton_per_fused_sum_threshold_backward_1\",\"X=14,R=6,fp32\","
      "\"168\",\"estimate\",\"392\",\"triton_per_fused_sum_threshold_backward_1\",\"\"\n"
      "\"bprop\",\"Net_0\",\"triton_poi_fused_clone_2\",\"\",\"\",\"unknown\",\"\","
      "\"triton_poi_fused_clone_2\",\"no-arguments\"\n");
}

}  // namespace
}  // namespace oplens::prof::compiled_program_test
