#include "parse/model/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace oplens::parse::demangle_test {
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
      // As Nsight Systems spells an unnamed namespace.
      {"<unnamed>::k(int)", "k"},
      {"void at::native::<unnamed>::fill<float>(float *)", "fill"},
      {"<unnamed>::k(<unnamed>::T<(int)3>, <unnamed>::T<(int)2>)", "k"},
      {"void <unnamed>::outer::k<float>(T1)", "outer::k"},
      // A kernel that returns something that is not void as such.
      {"std::enable_if<!T7, void>::type lib::gemv::kernel<int, (bool)0>(T1)", "lib::gemv::kernel"},
      {"std::enable_if<(!(false)), void>::type kernel<int>(int)", "kernel"},
      {"unsigned int (anonymous namespace)::k<int>(int)", "k"},
      {"void k(std::array<int, (unsigned long)2>, const float *)", "k"},
      {"lib::Matrix::operator()(int) const", "lib::Matrix::operator"},
      // Nothing would be left: the name itself.
      {"<int>(int)", "<int>(int)"},
      {"", ""},
      // No signatures: nothing of them is a type that is returned.
      {"\u6838\u51fd\u6570 \"a,b\" \U0001f600", "\u6838\u51fd\u6570 \"a,b\" \U0001f600"},
      {"my own kernel", "my own kernel"},
      {"my own \"kernel (old)\"", "my own \"kernel "},
      {"triton kernel 12<3>", "triton kernel 12"},
      {"void \u6838\u51fd\u6570(int)", "\u6838\u51fd\u6570"},
      {"bad\xff utf8 \xf0\x9f", "bad\xff utf8 \xf0\x9f"},
      // Brackets that do not match.
      {"a> b(int)", "a> b"},
  };
  for (const Case& c : kCases) EXPECT_EQ(ShortKernelName(c.demangled), c.expected) << c.demangled;
}

TEST(ShortKernelName, OfALongNameTakesOnePass) {
  std::string name;
  for (int i = 0; i < 250'000; ++i) name += "at::<unnamed>::";
  EXPECT_EQ(ShortKernelName(name + "k(int)"), "k");
}

}  // namespace
}  // namespace oplens::parse::demangle_test
