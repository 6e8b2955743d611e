#include "parse/readers/nvprof/cuda_api_names.h"

#include <gtest/gtest.h>

namespace oplens::parse::cuda_api_names_test {
namespace {

TEST(CudaApiNames, LaunchesByCallbackId) {
  EXPECT_EQ(RuntimeApiName(13), "cudaLaunch");
  EXPECT_EQ(RuntimeApiName(211), "cudaLaunchKernel");
  EXPECT_EQ(RuntimeApiName(214), "cudaLaunchKernel");  // per-thread default stream
  EXPECT_EQ(RuntimeApiName(269), "cudaLaunchCooperativeKernel");
  EXPECT_EQ(RuntimeApiName(311), "cudaGraphLaunch");
  EXPECT_EQ(RuntimeApiName(430), "cudaLaunchKernelExC");
  EXPECT_EQ(DriverApiName(307), "cuLaunchKernel");
  EXPECT_EQ(DriverApiName(514), "cuGraphLaunch");
  EXPECT_EQ(DriverApiName(652), "cuLaunchKernelEx");
}

TEST(CudaApiNames, AllOthersByCallbackId) {
  EXPECT_EQ(RuntimeApiName(1), "cudaDriverGetVersion");
  EXPECT_EQ(RuntimeApiName(20), "cudaMalloc");
  EXPECT_EQ(RuntimeApiName(22), "cudaFree");
  EXPECT_EQ(RuntimeApiName(135), "cudaEventRecord");
  EXPECT_EQ(DriverApiName(1), "cuInit");
  EXPECT_EQ(DriverApiName(243), "cuMemAlloc");
}

TEST(CudaApiNames, UnknownIdsStayVisible) {
  EXPECT_EQ(RuntimeApiName(523), "runtime:523");
  EXPECT_EQ(DriverApiName(807), "driver:807");
  EXPECT_EQ(RuntimeApiName(0), "runtime:0");
  EXPECT_EQ(DriverApiName(-1), "driver:-1");
  EXPECT_EQ(RuntimeApiName(INT64_MAX), "runtime:9223372036854775807");
}

}  // namespace
}  // namespace oplens::parse::cuda_api_names_test
