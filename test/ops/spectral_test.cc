#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "ops/op_model.h"
#include "parse/model/torch_call.h"
#include "test/ops/cases.h"

namespace oplens::ops::test::spectral_test {
namespace {

TEST(SpectralTest, Prices) {
  CheckCases({
      // 5*16*log2(8) = 240; 8 bytes a complex number.
      {"torch.fft_fft",
       "[2,8]complex64",
       "T=(2,8),c64,n=(8,)",
       {0, 240, 256},
       {Back({0, 240, 256})}},
      {"torch.fft_ifft",
       "[2,8]complex128 dim=0",
       "T=(2,8),c128,n=(2,)",
       {0, 80, 512},
       {Back({0, 80, 512})}},
      // Of real data, half; the result is complex and whole.
      {"torch.fft_fft",
       "[2,8]float32",
       "T=(2,8),fp32,n=(8,)",
       {0, 120, 192},
       {Back({0, 120, 192})}},
      // Half of the spectrum: 2*5 complex numbers.
      {"torch.fft_rfft",
       "[2,8]float32",
       "T=(2,8),fp32,n=(8,)",
       {0, 120, 144},
       {Back({0, 120, 144})}},
      {"torch.fft_rfft", "[2,8]int64", "T=(2,8),int64,n=(8,)", {0, 120, 208}, {}},
      // And back.
      {"torch.fft_irfft",
       "[2,5]complex64",
       "T=(2,5),c64,n=(8,)",
       {0, 120, 144},
       {Back({0, 120, 144})}},
      {"torch.fft_irfft",
       "[2,5]complex64 n=4",
       "T=(2,5),c64,n=(4,)",
       {0, 40, 112},
       {Back({0, 40, 112})}},
      {"torch.fft_hfft",
       "[2,5]complex64 8 -1",
       "T=(2,5),c64,n=(8,)",
       {0, 120, 144},
       {Back({0, 120, 144})}},
      {"torch.fft_ihfft",
       "[2,8]float64",
       "T=(2,8),fp64,n=(8,)",
       {0, 120, 288},
       {Back({0, 120, 288})}},
      // Padded to 16: 5*32*4.
      {"torch.fft_fft",
       "[2,8]complex64 16",
       "T=(2,8),c64,n=(16,)",
       {0, 640, 384},
       {Back({0, 640, 384})}},
      // 4x8 in two dimensions: 5*96*5.
      {"torch.fft_fft2",
       "[3,4,8]complex64",
       "T=(3,4,8),c64,n=(4,8)",
       {0, 2400, 1536},
       {Back({0, 2400, 1536})}},
      {"torch.fft_fftn",
       "[2,4,8]complex64",
       "T=(2,4,8),c64,n=(2,4,8)",
       {0, 1920, 1024},
       {Back({0, 1920, 1024})}},
      {"torch.fft_fftn",
       "[2,4,8]complex64 (4,8)",
       "T=(2,4,8),c64,n=(4,8)",
       {0, 1600, 1024},
       {Back({0, 1600, 1024})}},
      {"torch.fft_rfftn",
       "[2,4,8]float32 dim=(0,2)",
       "T=(2,4,8),fp32,n=(2,8)",
       {0, 640, 576},
       {Back({0, 640, 576})}},
      {"torch.fft_irfft2",
       "[4,5]complex64",
       "T=(4,5),c64,n=(4,8)",
       {0, 400, 288},
       {Back({0, 400, 288})}},
      {"torch.fft_fft", "[5,1]complex64", "T=(5,1),c64,n=(1,)", {0, 0, 80}, {Back({0, 0, 80})}},
      {"torch.fft_fft", "[0,8]complex64", "T=(0,8),c64,n=(8,)", {0, 0, 0}, {Back({0, 0, 0})}},
  });
}

TEST(SpectralTest, RefusesWhatCannotBe) {
  CheckCases({
      {"torch.fft_fft", "[]complex64", Reason::kShapeMismatch},
      {"torch.fft_fft", "[2,8]complex64 0", Reason::kUnsupportedArgs},
      {"torch.fft_fft", "[2,8]complex64 (1,2)", Reason::kUnsupportedArgs},
      {"torch.fft_fft", "[2,8]complex64 dim=2", Reason::kShapeMismatch},
      {"torch.fft_fft", "[2,8]complex64 'x'", Reason::kUnsupportedArgs},
      {"torch.fft_fft", "[2,0]complex64", Reason::kUnsupportedArgs},
      {"torch.fft_rfft", "[2,8]complex64", Reason::kShapeMismatch},
      {"torch.fft_irfft", "[2,1]complex64", Reason::kUnsupportedArgs},
      {"torch.fft_irfft", "[1,9223372036854775807]complex64", Reason::kUnsupportedArgs},
      {"torch.fft_fft2", "[8]complex64", Reason::kShapeMismatch},
      {"torch.fft_fftn", "[2,8]complex64 dim=(0,0)", Reason::kShapeMismatch},
      {"torch.fft_fftn", "[9223372036854775807,9223372036854775807]complex64",
       Reason::kCostOverflow},
      {"torch.fft_fft", "[9223372036854775807]complex64", Reason::kCostOverflow},
  });
}

// Lengths that are no power of two have the logarithm that mathematics gives them.
TEST(SpectralTest, AnyLength) {
  for (int64_t length = 1; length < 3000; length = length * 5 / 4 + 1) {
    const PriceResult result =
        PriceCall(MakeCall("torch.fft_fft", fmt::format("[7,{}]complex64", length)));
    ASSERT_TRUE(result.price.has_value());
    const double expected =
        5.0 * 7.0 * static_cast<double>(length) * std::log2(static_cast<double>(length));
    EXPECT_EQ(result.price->forward[0].work.vec.Value(), std::llround(expected)) << length;
  }
}

OpCall Native(const char* name, const char* args) {
  return MakeTorchCall(name, MakeCall("", args).args);
}

TEST(SpectralTest, SameByTheDispatchersNames) {
  struct Pair {
    const char* native;
    const char* native_args;
    const char* python;
    const char* python_args;
  };
  const Pair pairs[] = {
      {"aten::fft_fft", "[2,8]complex64 None -1 None", "torch.fft_fft", "[2,8]complex64"},
      {"aten::fft_rfft", "[2,8]float32 4 1 None", "torch.fft_rfft", "[2,8]float32 4"},
      {"aten::fft_fftn", "[2,4,8]complex64 None None None", "torch.fft_fftn", "[2,4,8]complex64"},
      {"aten::_fft_c2c", "[3,4,8]complex64 [1,2] 0 True", "torch.fft_fft2", "[3,4,8]complex64"},
      {"aten::_fft_r2c", "[2,8]float32 [1] 0 True", "torch.fft_rfft", "[2,8]float32"},
      {"aten::_fft_r2c", "[2,8]float32 [1] 0 False", "torch.fft_fft", "[2,8]float32"},
      {"aten::_fft_c2r", "[2,5]complex64 [1] 2 8", "torch.fft_irfft", "[2,5]complex64"},
  };
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.native);
    const PriceResult native = PriceCall(Native(pair.native, pair.native_args));
    const PriceResult python = PriceCall(MakeCall(pair.python, pair.python_args));
    ASSERT_TRUE(native.price && python.price) << ReasonWord(native.reason);
    EXPECT_EQ(native.price->params, python.price->params);
    EXPECT_EQ(FiguresOf(native.price->forward[0].work), FiguresOf(python.price->forward[0].work));
  }
  EXPECT_EQ(PriceCall(Native("aten::_fft_c2r", "[2,5]complex64 [1] 2")).reason,
            Reason::kUnsupportedArgs);
  EXPECT_EQ(PriceCall(Native("aten::_fft_c2c", "[2,5]complex64")).reason, Reason::kUnsupportedArgs);
}

TEST(SpectralTest, ShortTime) {
  CheckCases({
      // Centred: 16 + 8 samples, frames of 8 every 2: 9. 5*72*3/2 = 540; 5 complex numbers each.
      {"torch.stft", "[16]float32 8", "T=(16,),fp32,n=8,h=2", {0, 540, 424}, {}},
      // Not centred: 5 frames of two signals; a multiplication a sample by a window of 8.
      {"torch.stft",
       "[2,16]float32 8 2 8 [8]float32 False",
       "T=(2,16),fp32,n=8,h=2",
       {0, 680, 560},
       {}},
      {"torch.stft",
       "[16]float32 8 center=False onesided=False",
       "T=(16,),fp32,n=8,h=2",
       {0, 300, 384},
       {}},
      // Frames of 4, 8 apart: 8 of 16 samples are read.
      {"torch.stft", "[16]float32 4 8 center=False", "T=(16,),fp32,n=4,h=8", {0, 40, 80}, {}},
      {"torch.stft", "[16]float32 0", Reason::kUnsupportedArgs},
      {"torch.stft", "[16]float32 8 0", Reason::kUnsupportedArgs},
      {"torch.stft", "[16]float32 3", Reason::kUnsupportedArgs},
      {"torch.stft", "[4]float32 8 center=False", Reason::kShapeMismatch},
      {"torch.stft", "[1,2,3]float32 8", Reason::kShapeMismatch},
      {"torch.stft", "[16]float32", Reason::kUnsupportedArgs},
  });
  const PriceResult plain =
      PriceCall(Native("aten::stft", "[2,16]float32 8 2 8 [8]float32 False True True"));
  ASSERT_TRUE(plain.price.has_value()) << ReasonWord(plain.reason);
  EXPECT_EQ(FiguresOf(plain.price->forward[0].work), (Figures{0, 680, 560}));
}

}  // namespace
}  // namespace oplens::ops::test::spectral_test
