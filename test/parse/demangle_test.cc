#include "parse/demangle.h"

#include <gtest/gtest.h>

#include <string_view>

namespace oplens::parse {
namespace {

TEST(Demangle, OnlyMangledNames) {
  EXPECT_EQ(Demangle("_Z5saxpyifPfS_"), "saxpy(int, float, float*, float*)");
  // A plain C name may be a mangled type: "f" is float. It stays.
  EXPECT_EQ(Demangle("f"), "f");
  EXPECT_EQ(Demangle("volta_sgemm_128x64_nt"), "volta_sgemm_128x64_nt");
  EXPECT_EQ(Demangle("_Zbroken"), "_Zbroken");
  EXPECT_EQ(Demangle(""), "");
}

TEST(ShortKernelName, FollowsPyProf) {
  struct Case {
    std::string_view demangled;
    std::string_view expected;
  };
  constexpr Case kCases[] = {
      {"saxpy(int, float, float*, float*)", "saxpy"},
      {"void at::native::reduce_kernel<512, 1>(int)", "reduce_kernel"},
      {"void at::native::(anonymous namespace)::fill<float>(float*)", "fill"},
      {"void at::cuda::detail::copy<int>(int*)", "detail::copy"},
      {"volta_sgemm_128x64_nt", "volta_sgemm_128x64_nt"},
      {"void mine::step()", "mine::step"},
      // Nothing would be left: the name itself.
      {"<unnamed>::k(int)", "<unnamed>::k(int)"},
  };
  for (const Case& c : kCases) EXPECT_EQ(ShortKernelName(c.demangled), c.expected) << c.demangled;
}

}  // namespace
}  // namespace oplens::parse
