#include "ops/kernels/tensor_core.h"

#include <re2/re2.h>

#include <array>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>

#include "base/ascii.h"
#include "ops/kernels/kernel_family.h"
#include "ops/kernels/lazy_pattern.h"

namespace oplens::ops {
namespace {

constexpr uint32_t Bit(MathType type) { return uint32_t{1} << static_cast<uint32_t>(type); }

template <typename... Types>
constexpr uint32_t Bits(Types... types) {
  return (Bit(types) | ...);
}

using enum MathType;

/// Types from this compute capability up to the next. fp64 at a quarter of its usual rate or less
/// (8.6, 8.7, 8.9, 12.0) does not count.
struct Generation {
  int first;
  uint32_t types;
};

constexpr Generation kGenerations[] = {
    {70, Bits(kFp16)},
    {72, Bits(kFp16, kInt8)},
    {75, Bits(kFp16, kInt8, kInt4, kBinary)},
    {80, Bits(kFp16, kBf16, kTf32, kFp64, kInt8, kInt4, kBinary)},
    {86, Bits(kFp16, kBf16, kTf32, kInt8, kInt4, kBinary)},
    {89, Bits(kFp16, kBf16, kTf32, kFp8, kInt8, kInt4, kBinary)},
    {90, Bits(kFp16, kBf16, kTf32, kFp64, kFp8, kInt8, kBinary)},
    {100, Bits(kFp16, kBf16, kTf32, kFp64, kFp8, kFp4, kInt8)},
    {110, Bits(kFp16, kBf16, kTf32, kFp8, kFp4, kInt8)},
};

MathType MathTypeOfFactor(DType type) {
  switch (type) {
    case DType::kFloat16:
    case DType::kComplex32:
      return kFp16;
    case DType::kBFloat16:
      return kBf16;
    case DType::kTFloat32:
    case DType::kFloat32:
    case DType::kComplex64:
      return kTf32;
    case DType::kFloat64:
    case DType::kComplex128:
      return kFp64;
    case DType::kFloat8E4m3:
    case DType::kFloat8E5m2:
      return kFp8;
    case DType::kFloat4E2m1:
      return kFp4;
    case DType::kInt8:
    case DType::kUInt8:
      return kInt8;
    case DType::kInt4:
    case DType::kUInt4:
      return kInt4;
    default:
      return kUnknown;
  }
}

bool IsWide(MathType math) {
  return math == kFp16 || math == kBf16 || math == kTf32 || math == kFp64;
}

bool IsMathTypeNarrowInteger(MathType math) { return math == kInt8 || math == kInt4; }

// One rule; it applies if the name contains one of the words and matches the pattern. The words
// (lower case, '|' between) are searched case-insensitively; they avoid compiling a pattern, the
// most expensive step here, until a name needs it.
struct LocalTensorCoreRule {
  const char* id;
  TensorCoreUse use;
  const char* words;
  const char* pattern = nullptr;  // Null: the words decide.
  const char* unless = nullptr;   // Excludes names.
};

constexpr TensorCoreUse kYes = TensorCoreUse::kYes;
constexpr TensorCoreUse kNo = TensorCoreUse::kNo;

// The first rule that applies decides. N: CUDA cores, though a word in the name may suggest
// otherwise. P: Tensor Cores. U: the name leaves it open. D: CUDA cores, by library.
constexpr LocalTensorCoreRule kTensorCoreRules[] = {
    // Communication
    {"N1", kNo, "nccl"},
    // Split-K sums, whose names often contain the product's
    {"N2", kNo,
     "splitkreduce|splitk_reduce|reducesplitk|reduce_1block|execute_split_k_kernel__|"
     "execute_split_k_kernel_cublas|execute_split_k_kernel_cudnn"},
    // Accessories of attention
    {"N3", kNo, "flash_|flashattn|prepare_varlen",
     R"(flash_\w*(?:combine|dot_do_o|convert_d|clear_dkv))"
     R"(|FlashAttn\w*(?:Combine|Preprocess|Postprocess)|prepare_varlen)"},
    // Accessories of convolutions
    {"N4", kNo,
     "nchwtonhwc|nhwctonchw|offsets|scaletensor|scalepacked|im2col|col2im|flip_filter|"
     "fft1d_|fft2d_|generatewinogradtiles|winograd_nonfused|wgrad2d_|kernel_helper_stage|"
     "init_device_workspace|foldednhwc|subtensorop",
     R"(nchwToNhwc|nhwcToNchw|compute\w*Offsets|scale(?:Tensor|Packed)|im2col|col2im)"
     R"(|flip_filter|fft[12]d_|generateWinogradTiles|winograd_nonfused)"
     R"(|wgrad2d_\w*reduction|kernel_helper_stage|init_device_workspace|[fF]oldedNhwc)"
     R"(|SubTensorOp)"},
    // CUTLASS and xmma kernels for CUDA cores
    {"N5", kNo, "_simt_|opclasssimt|_ffma|_ff_main|xmma_pooling|gemvx|xmma_depthwise",
     R"(_simt_|OpClassSimt|_ffma(?:_|$)|_ff_main|xmma_pooling|gemvx|xmma_depthwise)"},
    // cuBLAS and cuDNN without an instruction shape: FFMA, DFMA, HFMA2, DP4A
    {"N6", kNo, "gemm|cudnn", R"((?:^|_)(?:[sdczhi]gemm|gcgemm|scudnn|hcudnn|icudnn)(?:_|$))",
     R"((?:^|_)(?:[sdczhi]gemm|gcgemm|scudnn|hcudnn|icudnn)_.*(?:884|1688|mma))"
     R"(|^igemm_(?:fwd|bwd|wrw)_)"},  // The last: MIOpen
    // Inductor's pointwise and reduction templates
    {"N7", kNo, "triton_poi_|triton_red_|triton_per_", R"(^triton_(?:poi|red|per)_)"},

    // Instruction shape m,n,k after the accumulator's letter: s884gemm, h1688cudnn, i8816
    {"P1", kYes, "884|1684|1688|8816|8832|16816|16832|16864|161616|168256",
     R"((?:^|[^0-9])(?:gz|[hsidbcz])?)"
     R"((?:884|1684|1688|8816|8832|16816|16832|16864|161616|168256))"
     R"((?:tf32)?(?:gemm|cudnn|fprop|dgrad|wgrad|xorgemm))"},
    // CUTLASS 3: s64x128x16gemm
    {"P2", kYes, "gemm|_conv", R"([shid]\d+x\d+x\d+(?:tf32)?(?:gemm|_conv|implicit_gemm))"},
    // xmma: tensor16x8x16; sp is 2:4 sparse
    {"P3", kYes, "tensor8x8x4|tensor16x8x", R"(_(?:sp)?tensor(?:8x8x4|16x8x\d+)(?:_|$))"},
    // CUTLASS operator classes, also inside mangled names
    {"P4", kYes, "tensorop", R"(_tensorop_|cutlass_tensorop|OpClassTensorOp|MmaTensorOp)"},
    // Instruction words between non-letters
    {"P5", kYes, "hmma|imma|dmma|qmma|wgmma|hgmma|qgmma|utcmma|tcgen05|mma884",
     R"((?i)(?:^|[^a-z])(?:hmma|imma|dmma|qmma|wgmma|hgmma|qgmma|utcmma|tcgen05|mma884))"
     R"((?:[^a-z]|$))"},
    // cuBLAS 12's generated products
    {"P6", kYes, "nvjet_", R"(^nvjet_)"},
    // Hopper xmma, which names no instruction
    {"P7", kYes, "warpgroupsize", R"(^sm\d+_xmma_\w*warpgroupsize)"},
    // Attention
    {"P8", kYes, "flash_|flashattn|compute_attn_ws|fmha|fort_native_sdpa",
     R"(flash_fwd_kernel|flash_fwd_splitkv_(?:mla_)?kernel|flash_bwd_dq_dk_dv)"
     R"(|FlashAttn(?:Fwd|Bwd)Sm\d+|compute_attn_ws)"
     R"(|fmha_cutlass[FB]_b?f16_\w*sm(?:70|75|8\d)|fmha_cutlass[FB]_f32_\w*sm8\d)"
     R"(|fort_native_sdpa|fmha_v2_|fmhaSm\d+)"},
    // DeepGEMM
    {"P9", kYes, "deep_gemm|sm90_|sm100_|fp8_gemm_kernel",
     R"(deep_gemm::\w*gemm|^sm(?:90|100)_(?:fp8|bf16|fp4)\w*gemm|fp8_gemm_kernel)"},
    // Marlin: mma.sync after dequantisation
    {"P10", kYes, "marlin", R"([Mm]arlin(?:<|_gemm))"},
    // TensorRT-LLM's generated batched products
    {"P11", kYes, "bmm_", R"(^bmm_(?:E4m3|E2m1|Mx\w*|Bfloat16|Fp16)_)"},
    // PyTorch's weight-only int4 product; the instruction is in its name
    {"P12", kYes, "tinygemm_m16n8k16"},
    // AMD's Matrix Cores: the instruction shape MI of Tensile (fp32 has such too, without
    // rounding), gtcx of MIOpen and xdl of Composable Kernel
    {"P13", kYes, "cijk_", R"(^Cijk_\w{4}_\w{4}_(?:[HBD]|F8|B8|I8)\w*_MI\d+x\d+)"},
    {"P14", kYes, "igemm_", R"(^igemm_(?:fwd|bwd|wrw)_gtcx\d*_\w*_(?:bf16|fp16|int8)_)"},
    {"P15", kYes, "mfma|_xdl", R"((?i)(?:^|[^a-z])mfma(?:[^a-z]|$)|_xdl(?:ops)?(?:_|$))"},
    {"P16", kYes, "fmha",
     R"(ck_tile.*Fmha(?:Fwd|BatchPrefill)|^aiter::fmha_fwd_hd\d+_(?:bf16|fp16))"},
    // Triton's expert products, of types that it multiplies only on Tensor Cores
    {"P17", kYes, "matmul_ogs_",
     R"(matmul_ogs_[NT]{3}_\w+?x(?:bf16|fp16|mxfp\d|fp8\w*|float8\w*)x)"},
    // ggml's attention for 16-bit types
    {"P18", kYes, "flash_attn_ext_f16"},
    // A CuTe instruction in the kernel's type: SM80_16x8x32_S32S8S8S32_TN
    {"P19", kYes, "sm70_|sm75_|sm80_|sm89_|sm90_|sm100_|sm120_|mma_",
     R"((?:cute::SM\d+|MMA)_\d+x\d+x\d+_\w)"},
    // int8 and fp8 in Triton, multiplied only by Tensor Cores: torch._int_mm, vLLM, SGLang,
    // bitsandbytes
    {"P20", kYes, "_int_mm|_int8_matmul|_w8a8_|scaled_mm_kernel",
     R"(^triton_tem_\w*_int_mm|^_w8a8_(?:triton_)?block_(?:int8_matmul|fp8_matmul|scaled_mm))"
     R"(|^_int8_matmul_|^scaled_mm_kernel)"},

    // Legacy cuDNN kernels, for CUDA cores or Tensor Cores
    {"U1", kNo,
     "conv2d_c1_k1|dgrad2d_c1_k1|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel|direct_group|"
     "conv1x1|"
     "rnn_blockpersist",
     R"((?:conv2d_c1_k1|dgrad2d_c1_k1|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel)"
     R"(|direct_group|conv1x1|RNN_blockPersist)\w*<float)"},
    {"U2", TensorCoreUse::kUnknown,
     "conv2d_c1_k1|dgrad2d_c1_k1|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel|direct_group|"
     "conv1x1|"
     "rnn_blockpersist"},
    // Memory-efficient attention for older GPUs and types (the others: P8)
    {"N8", kNo, "fmha_cutlass"},
    // Products of Triton, Myelin, and CUTLASS with a custom template
    {"U3", TensorCoreUse::kUnknown, "triton_|_gemm_mha_v2_|cutlass"},

    // PyTorch, cub, thrust
    {"D1", kNo, "at::native::|at::cuda::|cub::|thrust::"},
    // Elementwise, reductions, norms, optimizers, memory
    {"D2", kNo,
     "elementwise|pointwise|softmax|norm|multi_tensor_apply|memcpy|memset|reduce|reduction|pooling|"
     "dropout|transpose|embedding|indexselect|act_and_mul|rotary|_rope_|quant_8bit|reshape_and_"
     "cache|"
     "linearize_index|bucketize|cunn_"},
    // cuBLAS and cuDNN: vectors, few columns, legacy convolutions
    {"D3", kNo,
     "gemv|gemmsn|gemmk1|dot_kernel|scal_kernel|magma_sgemm|magma_dgemm|convolve_sgemm|"
     "wgrad_alg0_engine|dgrad_engine|compute_gemm_pointers|cudnn::"},
    // Generated code and other frameworks' tensor expressions
    {"D4", kNo,
     "nvfuser_pointwise|nvfuser_reduction|nvfuser_inner|nvfuser_outer|nvfuser_transpose|mshadow::|"
     "eigen::internal::eigenmetakernel|tensorflow::functor::|cupy_"},
    // cuRAND
    {"D5", kNo, "curand|gen_sequenced|generate_seed_pseudo"},
    // ggml's products with few rows
    {"D6", kNo, "mul_mat_vec"},

    // Other Triton 2 kernels, whose names end in the specialised arguments
    {"U3", TensorCoreUse::kUnknown, "_0d1d"},
};

// Only this many bytes of a name are searched; kernel names are shorter.
constexpr size_t kReach = size_t{1} << 16;

// The first of `words` that occurs in the name, as a view of the name; otherwise empty.
std::string_view FindAny(std::string_view name, std::string_view words) {
  while (!words.empty()) {
    const size_t bar = words.find('|');
    const std::string_view word = words.substr(0, bar);
    const size_t place = name.find(word);
    if (place != std::string_view::npos) return name.substr(place, word.size());
    words.remove_prefix(bar == std::string_view::npos ? words.size() : bar + 1);
  }
  return {};
}

bool IsWordByte(char c) { return IsLetter(c) || IsDigit(c); }

// Strips bounding characters and limits the length to what a column shows.
std::string_view Trim(std::string_view token) {
  constexpr size_t kMost = 24;
  while (!token.empty() && !IsWordByte(token.front())) token.remove_prefix(1);
  token = token.substr(0, kMost);
  while (!token.empty() && !IsWordByte(token.back())) token.remove_suffix(1);
  return token;
}

struct CompiledRule {
  LazyPattern pattern;
  LazyPattern unless;
};

// `*token`: the part of the name that matched.
bool Applies(const LocalTensorCoreRule& rule, CompiledRule* compiled, std::string_view name,
             std::string_view lower, std::string_view* token) {
  const std::string_view word = FindAny(lower, rule.words);
  if (word.empty()) return false;
  *token = name.substr(static_cast<size_t>(word.data() - lower.data()), word.size());
  if (rule.pattern != nullptr && !compiled->pattern.Matches(rule.pattern, name, token)) {
    return false;
  }
  std::string_view spared;
  return rule.unless == nullptr || !compiled->unless.Matches(rule.unless, name, &spared);
}

// Type of the factors by patterns on the lower-case name; the first match decides.
struct MathRule {
  MathType type;
  const char* pattern;
};

constexpr MathRule kMathRules[] = {
    // Tensile's types follow its indices; Triton's left factor follows the result's type: weights
    // of few bits are widened to it.
    {MathType::kBf16, R"(^cijk_\w{4}_\w{4}_b[^8]|matmul_ogs_\w{3}_\w+?xbf16x)"},
    {MathType::kFp16, R"(^cijk_\w{4}_\w{4}_h|matmul_ogs_\w{3}_\w+?xfp16x)"},
    {MathType::kFp64, R"(^cijk_\w{4}_\w{4}_d)"},
    {MathType::kFp8, R"(^cijk_\w{4}_\w{4}_[fb]8)"},
    {MathType::kInt8, R"(^cijk_\w{4}_\w{4}_i8)"},
    // CUTLASS attention in fp32; others have their types in their names.
    {MathType::kThreeTf32, R"(fmha_cutlass[fb]_f32|3xtf32|fastf32|fast_f32)"},
    // cuBLAS's generated products: type letters, the factors' first.
    {MathType::kFp8, R"(^nvjet_(?:sm\d+_)?q)"},
    {MathType::kBf16, R"(^nvjet_(?:sm\d+_)?t)"},
    {MathType::kFp16, R"(^nvjet_(?:sm\d+_)?h)"},
    {MathType::kTf32, R"(^nvjet_(?:sm\d+_)?s[^m])"},
    {MathType::kUnknown, R"(^nvjet_)"},
    // Weights of few bits are widened before the product.
    {MathType::kBf16, R"(marlin.*(?:bf16|bfloat16)|tinygemm)"},
    {MathType::kFp16, R"(marlin.*(?:half|fp16|f16))"},
    {MathType::kUnknown, R"(marlin)"},
    // By the instruction
    {MathType::kFp64,
     R"((?:^|[^a-z0-9])(?:d|z|gz)(?:884|1684|1688|16816)|f64f64|dmma|\dx\d+gemm_f64)"},
    {MathType::kBinary, R"(168256|xorgemm)"},
    // Unsigned E4M3 is a type of scales.
    {MathType::kFp8, R"((?:^|[^u])e[45]m[23]|fp8|float8|qmma|qgmma)"},
    {MathType::kFp4, R"(e2m1|fp4|float4)"},
    {MathType::kInt4, R"((?:^|[^a-z0-9])i(?:8832|16864)|i4i4|_int4_|int4b_t|[^a-z0-9][su]4_)"},
    {MathType::kInt8,
     R"((?:^|[^a-z0-9])i(?:8816|16832)|i8i8|int8|_int_mm|s32[su]8[su]8|(?:^|[^a-z])imma|[^a-z0-9][su]8_)"},
    {MathType::kTf32, R"(tf32|tfloat32)"},
    {MathType::kBf16, R"(bf16|bfloat16|df16b)"},  // The last: mangled names
    {MathType::kFp16,
     R"(f16|fp16|half|(?:^|[^a-z0-9])(?:h884|h1688|h16816|s884)|turing|sm75|_75_|volta|sm70|_70_)"},
    // fp32 in memory, also complex
    {MathType::kTf32,
     R"((?:^|[^a-z0-9])[sc](?:1684|1688)(?:gemm|cudnn|fprop|dgrad|wgrad)|f32f32|gemm_f32)"},
};

// A mangled name without "_S4_" and "_S8_", which refer to types named before and not to int4 and
// int8: "ES7_S8_Lb1E".
std::string WithoutSubstitutions(std::string_view name) {
  std::string rest(name);
  if (!name.starts_with("_Z")) return rest;
  for (const std::string_view reference : {"_S4_", "_S8_"}) {
    // The last byte may begin the next one.
    for (size_t at = rest.find(reference); at != rest.npos; at = rest.find(reference, at)) {
      rest.erase(at, reference.size() - 1);
    }
  }
  return rest;
}

MathType TensorCoreMathTypeOf(std::string_view lower) {
  static std::array<LazyPattern, std::size(kMathRules)> compiled;
  for (size_t i = 0; i < compiled.size(); ++i) {
    std::string_view found;
    if (compiled[i].Matches(kMathRules[i].pattern, lower, &found)) return kMathRules[i].type;
  }
  return MathType::kUnknown;
}

// By the letter before the instruction shape, xmma's third type, or CUTLASS 3's.
bool SumsInHalf(std::string_view lower) {
  static LazyPattern compiled;
  std::string_view found;
  return compiled.Matches(
      R"((?:^|[^a-z0-9])h(?:884|1688|16816|161616|\d+x\d+x\d+)|f16f16_f16f16_f16_)", lower, &found);
}

// If no rule decides: no product by its library's naming scheme means no Tensor Cores.
void JudgeByFamily(std::string_view long_name, TensorCoreVerdict* verdict) {
  const NamedFamily named = KernelFamilyOf(long_name);
  const auto is_product = [](KernelFamily family) {
    return family == KernelFamily::kOther || family == KernelFamily::kGemm ||
           family == KernelFamily::kGroupedGemm || family == KernelFamily::kConv ||
           family == KernelFamily::kAttention;
  };
  if (named.by_word || is_product(named.family) || is_product(named.tiled)) return;
  verdict->use = kNo;
  verdict->rule = "F1";
  verdict->token = KernelFamilyWord(named.family);
}

TensorCoreVerdict VerdictByRules(std::string_view long_name) {
  long_name = long_name.substr(0, kReach);
  static std::array<CompiledRule, std::size(kTensorCoreRules)> compiled;
  const std::string lower = ToLowerText(long_name);
  for (size_t i = 0; i < compiled.size(); ++i) {
    std::string_view token;
    if (!Applies(kTensorCoreRules[i], &compiled[i], long_name, lower, &token)) continue;
    TensorCoreVerdict verdict{kTensorCoreRules[i].use, kTensorCoreRules[i].id, Trim(token)};
    if (verdict.use == TensorCoreUse::kYes) {
      verdict.math = TensorCoreMathTypeOf(ToLowerText(WithoutSubstitutions(long_name)));
      verdict.half_sums = verdict.math == MathType::kFp16 && SumsInHalf(lower);
    }
    return verdict;
  }
  return {};
}

}  // namespace

std::string_view MathTypeWord(MathType type) {
  switch (type) {
    case MathType::kFp16:
      return "fp16";
    case MathType::kBf16:
      return "bf16";
    case MathType::kTf32:
      return "tf32";
    case MathType::kThreeTf32:
      return "3xtf32";
    case MathType::kFp8:
      return "fp8";
    case MathType::kFp4:
      return "fp4";
    case MathType::kInt8:
      return "int8";
    case MathType::kInt4:
      return "int4";
    case MathType::kFp64:
      return "fp64";
    case MathType::kBinary:
      return "b1";
    case MathType::kUnknown:
      break;
  }
  return "";
}

MathType FindMathType(std::string_view word) {
  for (auto type = MathType::kFp16; type <= MathType::kBinary;
       type = static_cast<MathType>(static_cast<uint8_t>(type) + 1)) {
    if (MathTypeWord(type) == word) return type;
  }
  return MathType::kUnknown;
}

MathType MathTypeOf(DType left, DType right, bool* known) {
  *known = left != DType::kUnknown && right != DType::kUnknown;
  if (!*known) return kUnknown;
  const MathType a = MathTypeOfFactor(left);
  const MathType b = MathTypeOfFactor(right);
  if (a == b) return a;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  // fp8 with fp4 runs as fp8; quantized weights are widened to the type of the activations.
  if ((a == kFp8 && b == kFp4) || (a == kFp4 && b == kFp8)) return kFp8;
  if (IsWide(a) && !IsWide(b)) return a;
  if (IsWide(b) && !IsWide(a)) return b;
  if (IsMathTypeNarrowInteger(a) && IsMathTypeNarrowInteger(b)) return kInt8;
  if (!IsWide(a)) return kUnknown;
  bool unused = false;
  const DType both = PromoteDTypes(left, right);
  return MathTypeOf(both, both, &unused);
}

bool HasTensorCoreFor(int compute_capability, MathType math) {
  if (math == kThreeTf32) math = kTf32;
  if (math == kUnknown) return false;
  uint32_t types = 0;
  for (const Generation& generation : kGenerations) {
    if (compute_capability >= generation.first) types = generation.types;
  }
  return (types & Bit(math)) != 0;
}

int64_t AlignmentOf(MathType math) {
  switch (math) {
    case kFp16:
    case kBf16:
      return 8;
    case kTf32:
    case kThreeTf32:
      return 4;
    case kFp8:
    case kInt8:
      return 16;
    case kFp4:
    case kInt4:
      return 32;
    case kFp64:
      return 2;
    default:
      return 1;
  }
}

std::string_view TensorCoreRulesVersion() { return "5"; }

TensorCoreVerdict TensorCoreVerdictOf(std::string_view long_name) {
  TensorCoreVerdict verdict = VerdictByRules(long_name);
  if (verdict.use == TensorCoreUse::kUnknown) JudgeByFamily(long_name, &verdict);
  return verdict;
}

TensorCoreUse TensorCoreUseOf(std::string_view long_name) {
  return TensorCoreVerdictOf(long_name).use;
}

std::string_view TensorCoreWord(TensorCoreUse use) {
  switch (use) {
    case TensorCoreUse::kNo:
      return "0";
    case TensorCoreUse::kYes:
      return "1";
    case TensorCoreUse::kUnknown:
      break;
  }
  return "?";
}

}  // namespace oplens::ops
