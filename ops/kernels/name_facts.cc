#include "ops/kernels/name_facts.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "base/once.h"

namespace oplens::ops {
namespace {

// A row applies if the name contains the word and matches the pattern; the first one decides.
// Groups: types a and b of the factors (ab: both) and d of the result, acc a letter for those not
// given; tile m, n, k; l the layout, la and lb of each factor; sizes sm, sn, sk; h head dimension;
// e experts; ggml a type number of ggml. The order is set where the library's convention is known.
struct NamePattern {
  const char* word;
  const char* pattern;
  NameFacts::Order order = NameFacts::Order::kUnknown;
};

constexpr NameFacts::Order kBlasOrder = NameFacts::Order::kBlas;
constexpr NameFacts::Order kRowsOrder = NameFacts::Order::kRows;

#define OPLENS_TYPE "bf16|tf32|f16|f32|f64|i8|i32|s8|u8|e4m3|e5m2|e2m1"
#define OPLENS_GEN_TYPE "MxE[0-9]m[0-9]|E[0-9]m[0-9]|Bfloat16|Fp16|Fp32"
#define OPLENS_OGS_TYPE "bf16|fp16|fp32|mxfp4|mxfp8|fp8e4nv|fp8e5|float8_e4m3fn|uint8"
#define OPLENS_TILE "(?P<m>\\d+)x(?P<n>\\d+)x(?P<k>\\d+)"
#define OPLENS_INT "(?:\\(int\\))?"
#define OPLENS_BLAS_TILE                                                                \
  "(?:maxwell|volta|turing|ampere|hopper)_(?:(?P<d>fp16|bf16|fp32|int8)_)?(?:g|gz)?"    \
  "(?P<acc>[shdczi])\\d*(?:gemm|cudnn)_(?:(?P<ab>fp16|bf16|int8|tf32)_)?(?:winograd_)?" \
  "(?P<m>\\d+)x(?P<n>\\d+)(?:.*_stages_(?P<k>\\d+)x\\d+)?(?:.*_(?P<l>nn|nt|tn|tt)(?:_v\\d+)?$)?"

constexpr NamePattern kPatterns[] = {
    // nvjet_qqtst_128x256_128x6_..._TNT: types of A, B, C, the sums and D; nvjet_tst: A, sums, D
    {"nvjet_",
     "^nvjet_(?:sm\\d+_)?(?P<a>[a-z])(?P<b>[a-z])[a-z]s(?P<d>[a-z])_(?:mma_)?(?P<m>\\d+)x(?P<n>\\d+"
     ")"
     "[x_](?P<k>\\d+)(?:.*_(?P<l>[NT]{2})[NT]{1,2}$)?",
     kBlasOrder},
    {"nvjet_",
     "^nvjet_(?:sm\\d+_)?(?P<ab>[a-z])s(?P<d>[a-z])_(?:mma_)?(?P<m>\\d+)x(?P<n>\\d+)[x_](?P<k>\\d+)"
     "(?:.*_(?P<l>[NT]{2})[NT]{1,2}$)?",
     kBlasOrder},
    // cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8: D, sums, A; then the
    // tile, its depth and stages
    {"cutlass_",
     "cutlass_(?:\\d+_)?(?:wmma_)?(?:tensorop|simt)_(?:(?P<d>bf16|f16|s8)_)?(?P<acc>[shdczi])\\d*"
     "(?:gemm|fprop|dgrad|wgrad)_(?:optimized_|analytic_|relu_|forwardCompat_)*"
     "(?:(?P<ab>bf16|f16|tf32|s8)_)?(?:forwardCompat_)?(?P<m>\\d+)x(?P<n>\\d+)_(?P<k>\\d+)x\\d+"
     "(?:_(?P<l>nn|nt|tn|tt|nhwc|nchw))?",
     kBlasOrder},
    {"cutlass3x_",
     "cutlass3x_sm\\d+_\\w*?_(?P<a>" OPLENS_TYPE ")_(?P<b>" OPLENS_TYPE ")_(?:" OPLENS_TYPE
     ")_(?:" OPLENS_TYPE "|void)_(?P<d>" OPLENS_TYPE ")_(?:\\w*?_)??" OPLENS_TILE
     "(?:\\w*?_(?P<l>[nt]{2})[nt]_)?",
     kBlasOrder},
    // sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64: A, B, D, sums
    {"_xmma_",
     "_xmma_\\w*?_(?P<a>" OPLENS_TYPE ")(?P<b>" OPLENS_TYPE ")_(?P<d>" OPLENS_TYPE
     ")(?:" OPLENS_TYPE ")_(?:" OPLENS_TYPE
     ")_(?P<l>nn|nt|tn|tt|nhwc|nchw)\\w*?_tilesize" OPLENS_TILE,
     kBlasOrder},
    // volta_fp16_s884gemm_fp16_128x128_..._stages_32x1_tn, volta_scudnn_128x64_relu_small_nn_v1
    {"gemm_", OPLENS_BLAS_TILE, kBlasOrder},
    {"cudnn_", OPLENS_BLAS_TILE, kBlasOrder},
    // Triton: types of the result and both factors; blocks; sizes in names of constants
    {"matmul_ogs_",
     "matmul_ogs_[NT](?P<l>[NT]{2})_(?P<d>" OPLENS_OGS_TYPE ")x(?P<a>" OPLENS_OGS_TYPE
     ")x(?P<b>" OPLENS_OGS_TYPE ")_" OPLENS_TILE,
     kRowsOrder},
    {"BLOCK_",
     "BLOCK_(?:SIZE_)?M_(?P<m>\\d+)_BLOCK_(?:SIZE_)?N_(?P<n>\\d+)"
     "(?:_BLOCK_(?:SIZE_)?K_(?P<k>\\d+))?",
     kRowsOrder},
    // TensorRT-LLM: bmm_Bfloat16_MxE2m1MxE4m3_Fp32_..._t128x64x256
    {"bmm_", "^bmm_(?P<d>" OPLENS_GEN_TYPE ")_(?P<a>" OPLENS_GEN_TYPE ")(?P<b>" OPLENS_GEN_TYPE
             ")_Fp32_(?:\\w*?_)??t" OPLENS_TILE},
    {"fmhaSm",
     "^fmhaSm\\w+?Kernel_Qkv(?P<ab>" OPLENS_GEN_TYPE ")O(?P<d>" OPLENS_GEN_TYPE ")H(?P<h>\\d+)"
     "(?:\\w*?VarSeqQ(?P<m>\\d+)Kv(?P<n>\\d+))?"},
    {"fmhaSm", "^fmhaSm\\w+?Kernel_Q(?P<a>" OPLENS_GEN_TYPE ")Kv(?P<b>" OPLENS_GEN_TYPE
               ")O(?P<d>" OPLENS_GEN_TYPE ")H(?P<h>\\d+)(?:\\w*?VarSeqQ(?P<m>\\d+)Kv(?P<n>\\d+))?"},
    {"fmha_v2_",
     "fmha_v2_flash_attention_(?P<ab>bf16|fp16|e4m3)_(?P<m>\\d+)_(?P<n>\\d+)_\\w*?_(?P<h>\\d+)_"},
    // FlashAttention 2 (head dimension, then the block) and CUTLASS attention
    {"kernel_traits",
     "[Ff]lash_(?:fwd|bwd)_kernel_traits\\w*<" OPLENS_INT "(?P<h>\\d+), " OPLENS_INT
     "(?P<m>\\d+), " OPLENS_INT "(?P<n>\\d+)(?:,[^>]*?cutlass::(?P<ab>half_t|bfloat16_t))?"},
    {"fmha_cutlass", "fmha_cutlass[FB]_(?P<ab>f16|bf16|f32)_\\w*?_(?P<m>\\d+)x(?P<n>\\d+)"},
    // Compile-time sizes: DeepGEMM, TensorRT-LLM for few rows
    {"fp8_gemm_kernel",
     "(?P<ab>fp8)_gemm_kernel<(?P<sn>\\d+)u, (?P<sk>\\d+)u, (?P<m>\\d+)u, (?P<n>\\d+)u, "
     "(?P<k>\\d+)u",
     kRowsOrder},
    {"deep_gemm",
     "deep_gemm::sm\\d+_(?P<ab>fp8|bf16)_gemm_\\w+<(?:\\(cute::UMMA::Major\\)\\d+, "
     ")*(?P<sm>\\d+)u, "
     "(?P<sn>\\d+)u, (?P<sk>\\d+)u, \\d+u(?:, (?P<m>\\d+)u, (?P<n>\\d+)u, (?P<k>\\d+)u)?",
     kRowsOrder},
    {"router_gemm_kernel",
     "router_gemm_kernel<(?P<ab>__nv_bfloat16), (?P<d>float|__nv_bfloat16), \\d+, \\d+, "
     "(?P<sm>\\d+), (?P<sn>\\d+), (?P<sk>\\d+)>"},
    {"fused_a_gemm_kernel", "fused_a_gemm_kernel<\\d+, (?P<sn>\\d+), (?P<sk>\\d+),"},
    // Routing of FasterTransformer, vLLM, TensorRT-LLM: values per thread, experts
    {"topkGating", "topkGating\\w*<" OPLENS_INT "\\d+, " OPLENS_INT "(?P<e>\\d+), "},
    // ggml: weights of a numbered type, rows packed to 8 bits
    {"mul_mat_q<", "mul_mat_q<\\(ggml_type\\)(?P<ggml>\\d+), " OPLENS_INT "(?P<n>\\d+)"},
    {"mul_mat_vec_q<", "mul_mat_vec_q<\\(ggml_type\\)(?P<ggml>\\d+)"},
    // ROCm: Cijk_Alik_Bljk_BBS_BH_..._MT128x128x32
    {"Cijk_",
     "^Cijk_A(?P<la>il|li)k_B(?P<lb>lj|jl)k_(?P<ab>F8|B8|I8|[HBSDCZ])(?:\\w*?_MT" OPLENS_TILE ")?",
     kBlasOrder},
    {"igemm_", "^igemm_\\w+?_(?P<l>nhwc|nchw)_(?P<ab>bf16|fp16|fp32|int8)_\\w*?_bt" OPLENS_TILE},
    // Templates of CUTLASS 2 and 3
    {"GemmShape<",
     "GemmShape<" OPLENS_INT "(?P<m>\\d+), " OPLENS_INT "(?P<n>\\d+), " OPLENS_INT "(?P<k>\\d+)>"},
    {"cute::C<",
     "GemmUniversal.*?cute::tuple<cute::C<(?P<m>\\d{2,})>, cute::C<(?P<n>\\d+)>, "
     "cute::C<(?P<k>\\d+)>"},
};

#undef OPLENS_TYPE
#undef OPLENS_GEN_TYPE
#undef OPLENS_OGS_TYPE
#undef OPLENS_TILE
#undef OPLENS_INT
#undef OPLENS_BLAS_TILE

struct TypeName {
  std::string_view spelled;
  std::string_view word;
};

// The libraries' spellings of tensor types; TF32 is an arithmetic type, its tensors are fp32.
constexpr TypeName kTypeNames[] = {
    {"h", "fp16"},
    {"t", "bf16"},
    {"s", "fp32"},
    {"d", "fp64"},
    {"c", "complex64"},
    {"z", "complex128"},
    {"q", "fp8"},
    {"H", "fp16"},
    {"B", "bf16"},
    {"S", "fp32"},
    {"D", "fp64"},
    {"C", "complex64"},
    {"Z", "complex128"},
    {"F8", "fp8"},
    {"B8", "fp8"},
    {"I8", "int8"},
    {"f16", "fp16"},
    {"f32", "fp32"},
    {"f64", "fp64"},
    {"tf32", "fp32"},
    {"bf16", "bf16"},
    {"i8", "int8"},
    {"i32", "int32"},
    {"s8", "int8"},
    {"u8", "uint8"},
    {"e4m3", "fp8"},
    {"e5m2", "fp8"},
    {"e2m1", "fp4"},
    {"fp16", "fp16"},
    {"fp32", "fp32"},
    {"fp8", "fp8"},
    {"int8", "int8"},
    {"mxfp4", "mxfp4"},
    {"mxfp8", "mxfp8"},
    {"fp8e4nv", "fp8"},
    {"fp8e5", "fp8"},
    {"uint8", "uint8"},
    {"E4m3", "fp8"},
    {"E5m2", "fp8"},
    {"E2m1", "fp4"},
    {"MxE4m3", "mxfp8"},
    {"MxE5m2", "mxfp8"},
    {"MxE2m1", "mxfp4"},
    {"Bfloat16", "bf16"},
    {"Fp16", "fp16"},
    {"Fp32", "fp32"},
    {"half_t", "fp16"},
    {"bfloat16_t", "bf16"},
    {"__nv_bfloat16", "bf16"},
    {"float", "fp32"},
    {"float8_e4m3fn", "fp8"},
};

// By ggml's type number; empty: withdrawn.
constexpr std::string_view kGgmlTypes[] = {
    "fp32",    "fp16",  "q4_0",   "q4_1",  "",      "",       "q5_0", "q5_1",    "q8_0",
    "q8_1",    "q2_K",  "q3_K",   "q4_K",  "q5_K",  "q6_K",   "q8_K", "iq2_xxs", "iq2_xs",
    "iq3_xxs", "iq1_s", "iq4_nl", "iq3_s", "iq2_s", "iq4_xs", "int8", "int16",   "int32",
    "int64",   "fp64",  "iq1_m",  "bf16",  "",      "",       "",     "tq1_0",   "tq2_0",
    "",        "",      "",       "mxfp4", "nvfp4"};

std::string TypeWord(std::string_view spelled) {
  const auto* type = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                  [&](const TypeName& name) { return name.spelled == spelled; });
  return type == std::end(kTypeNames) ? std::string() : std::string(type->word);
}

/// Named groups of one match; unmatched ones are empty.
class NameFactsGroups {
 public:
  NameFactsGroups(const re2::RE2& pattern, const std::vector<re2::StringPiece>& match)
      : numbers_(pattern.NamedCapturingGroups()), match_(match) {}

  std::string_view operator[](const char* name) const {
    const auto number = numbers_.find(name);
    if (number == numbers_.end()) return {};
    const re2::StringPiece& text = match_[static_cast<size_t>(number->second)];
    return {text.data(), text.size()};
  }

  /// nullopt if absent or 0 (decided at run time).
  std::optional<int64_t> Size(const char* name) const {
    const std::string_view text = (*this)[name];
    int64_t size = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
    if (read.ec != std::errc() || size <= 0) return std::nullopt;
    return size;
  }

 private:
  const std::map<std::string, int>& numbers_;
  const std::vector<re2::StringPiece>& match_;
};

void FillTypes(const NameFactsGroups& groups, NameFacts* facts) {
  const std::string sums = TypeWord(groups["acc"]);
  const std::string both = TypeWord(groups["ab"]);
  facts->left = both.empty() ? TypeWord(groups["a"]) : both;
  facts->right = both.empty() ? TypeWord(groups["b"]) : both;
  facts->result = TypeWord(groups["d"]);
  // CUTLASS and cuBLAS omit types equal to the sums' type.
  if (facts->left.empty()) facts->left = facts->right = sums;
  if (facts->result.empty()) facts->result = sums;
  int64_t number = -1;
  const std::string_view ggml = groups["ggml"];
  std::from_chars(ggml.data(), ggml.data() + ggml.size(), number);
  if (number >= 0 && number < static_cast<int64_t>(std::size(kGgmlTypes))) {
    facts->left = kGgmlTypes[number];
    if (!facts->left.empty()) facts->right = "q8_1";
  }
}

void FillLayout(const NameFactsGroups& groups, NameFacts* facts) {
  facts->layout = groups["l"];
  for (char& c : facts->layout) c = c == 'N' ? 'n' : c == 'T' ? 't' : c;
  // Tensile: the first of two indices is contiguous; l is the summed one.
  if (const std::string_view left = groups["la"]; !left.empty()) {
    facts->layout = left == "li" ? "t" : "n";
    facts->layout += groups["lb"] == "jl" ? "t" : "n";
  }
}

NameFacts FactsIn(const NameFactsGroups& groups, NameFacts::Order order) {
  NameFacts facts;
  facts.order = order;
  FillTypes(groups, &facts);
  FillLayout(groups, &facts);
  facts.tile_m = groups.Size("m");
  facts.tile_n = groups.Size("n");
  facts.tile_k = groups.Size("k");
  facts.m = groups.Size("sm");
  facts.n = groups.Size("sn");
  facts.k = groups.Size("sk");
  facts.head_dimension = groups.Size("h");
  facts.experts = groups.Size("e");
  return facts;
}

// Compiles the row's pattern on first use. Names are bytes, not necessarily UTF-8.
const re2::RE2& Compiled(size_t row) {
  static Once once[std::size(kPatterns)];
  static std::unique_ptr<re2::RE2> compiled[std::size(kPatterns)];
  once[row].Do([&] {
    compiled[row] = std::make_unique<re2::RE2>(kPatterns[row].pattern, re2::RE2::Latin1);
  });
  return *compiled[row];
}

}  // namespace

std::string NameFacts::Text() const {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    if (!text.empty()) text += ',';
    text.append(key).append("=").append(value);
  };
  const auto number = [](const std::optional<int64_t>& value) {
    return value ? fmt::to_string(*value) : std::string();
  };
  const auto extent = [](const std::optional<int64_t>& value) {
    return value ? fmt::to_string(*value) : std::string("?");
  };
  add("A", left);
  add("B", right);
  add("D", result);
  if (tile_m || tile_n || tile_k) {
    add("tile", fmt::format("{}x{}x{}", extent(tile_m), extent(tile_n), extent(tile_k)));
  }
  add("layout", layout);
  add("M", number(m));
  add("N", number(n));
  add("K", number(k));
  add("H", number(head_dimension));
  add("experts", number(experts));
  return text;
}

NameFacts NameFactsOf(std::string_view kernel_name) {
  kernel_name = kernel_name.substr(0, 4096);  // Nothing useful comes later.
  for (size_t row = 0; row < std::size(kPatterns); ++row) {
    if (kernel_name.find(kPatterns[row].word) == std::string_view::npos) continue;
    const re2::RE2& pattern = Compiled(row);
    std::vector<re2::StringPiece> match(static_cast<size_t>(pattern.NumberOfCapturingGroups()) + 1);
    const re2::StringPiece text(kernel_name.data(), kernel_name.size());
    if (pattern.Match(text, 0, kernel_name.size(), re2::RE2::UNANCHORED, match.data(),
                      static_cast<int>(match.size()))) {
      return FactsIn(NameFactsGroups(pattern, match), kPatterns[row].order);
    }
  }
  return {};
}

}  // namespace oplens::ops
