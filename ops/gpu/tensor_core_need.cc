#include "ops/gpu/tensor_core_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ops/kernels/kernel_name.h"
#include "parse/model/compute_capability.h"

namespace oplens::ops {
namespace {

/// "_MI16x16x1" is an instruction of 16 x 16; "_MI0" would be none.
bool HasMatrixInstruction(std::string_view name) {
  constexpr std::string_view kMark = "_MI";
  for (size_t at = name.find(kMark); at != name.npos; at = name.find(kMark, at + 1)) {
    const size_t digit = at + kMark.size();
    if (digit < name.size() && name[digit] >= '1' && name[digit] <= '9') return true;
  }
  return false;
}

/// Whether the name says that the kernel uses AMD's matrix cores: Tensile's by the instruction
/// shape ("Cijk_..._MT128x128x32_MI32x32x8x1_..."), MIOpen's generated convolutions by "gtcx" (gtc
/// with the x of xdlops), Composable Kernel's by "xdl", others by "mfma".
bool NamesMatrixCores(std::string_view long_name) {
  if (long_name.starts_with("Cijk_")) return HasMatrixInstruction(long_name);
  if (long_name.starts_with("igemm_")) return long_name.find("_gtcx") != long_name.npos;
  for (const std::string_view word : {"xdl", "Xdl", "mfma", "MFMA"}) {
    if (long_name.find(word) != long_name.npos) return true;
  }
  return false;
}

/// AOTriton's attention, behind PyTorch's scaled_dot_product_attention on AMD GPUs; in files of
/// code objects "attn_fwd.kd".
bool IsAotritonAttention(std::string_view long_name) {
  const std::string_view name = long_name.substr(0, long_name.find('.'));
  constexpr std::string_view kNames[] = {"attn_fwd", "bwd_kernel_dk_dv", "bwd_kernel_dq",
                                         "bwd_kernel_fuse"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

constexpr double kAboveVectorPeak = 1.05;
constexpr std::string_view kGemv = "gemv: a matrix times a vector";
constexpr std::string_view kAnotherMaker = "no NVIDIA GPU";
constexpr std::string_view kNoTensorCores = "the GPU has no Tensor Cores";

using enum MathType;

bool IsTensorCoreNeedNarrowInteger(MathType math) { return math == kInt8 || math == kInt4; }

/// Joins sentences by "; ".
class Why {
 public:
  explicit Why(std::string* text) : text_(text) {}
  void Add(std::string_view sentence) {
    if (sentence.empty()) return;
    if (!text_->empty()) text_->append("; ");
    text_->append(sentence);
  }

 private:
  std::string* text_;
};

class Judge {
 public:
  explicit Judge(const TensorCoreCase& kernel)
      : kernel_(kernel),
        capability_(kernel.gpu != nullptr ? kernel.gpu->compute_capability : 0),
        why_(&result_.why) {
    if (kernel.op != nullptr && kernel.op->product) product_ = &*kernel.op->product;
    extents_ = kernel.extents;
    if (extents_.empty() && product_ != nullptr) extents_ = product_->extents;
    left_ = product_ != nullptr ? product_->left : kernel.dtype;
    right_ = product_ != nullptr ? product_->right : kernel.dtype;
    if (left_ == DType::kUnknown) left_ = kernel.dtype;
    if (right_ == DType::kUnknown) right_ = left_;
    wanted_ = MathTypeOf(left_, right_, &type_known_);
  }

  TensorCoreJudgement Run() {
    result_.use = kernel_.verdict->use;
    result_.math = kernel_.verdict->math;
    std::string_view evidence;
    if (result_.use == TensorCoreUse::kUnknown) evidence = Resolve();
    if (result_.use == TensorCoreUse::kYes && result_.math == kUnknown) result_.math = wanted_;
    why_.Add(RuleText());
    why_.Add(evidence);
    JudgeFitness();
    return std::move(result_);
  }

 private:
  /// The rule, its token and the math type: "P1:s16816gemm fp16".
  std::string RuleText() const {
    const TensorCoreVerdict& verdict = *kernel_.verdict;
    std::string text(verdict.rule.empty() ? "no rule" : verdict.rule);
    if (!verdict.token.empty()) {
      text += ':';
      text += verdict.token;
    }
    // AMD's matrix cores take fp32 unrounded.
    const bool full_fp32 = by_matrix_cores_ && result_.math == kTf32;
    if (result_.use == TensorCoreUse::kYes && result_.math != kUnknown && !full_fp32) {
      text += ' ';
      text += MathTypeWord(result_.math);
    }
    return text;
  }

  /// True if the GPU is unknown.
  bool HasTensorCores() const { return capability_ == 0 || capability_ >= kFirstWithTensorCores; }
  bool IsNamedGemv() const {
    return kernel_.long_name.find("gemv") != std::string_view::npos ||
           kernel_.long_name.find("Gemv") != std::string_view::npos;
  }
  bool IsMain() const { return kernel_.role == Role::kMain; }
  bool IsProduct() const {
    return kernel_.op != nullptr && kernel_.op->matmul_like &&
           kernel_.op->op_class == OpClass::kCompute;
  }

  bool IsOfAnotherMaker() const { return kernel_.gpu != nullptr && !kernel_.gpu->IsNvidia(); }

  /// Decides `use` if the name leaves it open; returns the evidence.
  std::string_view Resolve() {
    if (NamesMatrixCores(kernel_.long_name)) {
      by_matrix_cores_ = true;
      result_.use = TensorCoreUse::kYes;
      return "by name: AMD's matrix cores";
    }
    if (IsOfAnotherMaker()) return ResolveOfAmd();
    if (!HasTensorCores()) {
      result_.use = TensorCoreUse::kNo;
      return "by GPU";
    }
    if (IsAboveVectorPeak()) {
      result_.use = TensorCoreUse::kYes;
      return "by rate: faster than CUDA cores can be";
    }
    if (!IsProduct() || !IsMain() || !type_known_) return {};
    if (capability_ != 0 && !HasTensorCoreFor(capability_, wanted_)) {
      result_.use = TensorCoreUse::kNo;
      return "by data type: none of its Tensor Cores";
    }
    // Generated products: TF32 is optional there, narrower types always use Tensor Cores.
    const bool generated = kernel_.verdict->rule == "U3";
    if (generated && capability_ != 0 && wanted_ != kTf32 && wanted_ != kFp64) {
      result_.use = TensorCoreUse::kYes;
      return "by data type";
    }
    return {};
  }

  /// Triton's tl.dot of 16-bit factors is always an instruction of the matrix cores.
  std::string_view ResolveOfAmd() {
    const bool attention = product_ != nullptr && product_->kind == MatrixProduct::Kind::kAttention;
    if (kernel_.gpu->maker != Maker::kAmd || !attention || (wanted_ != kFp16 && wanted_ != kBf16) ||
        !IsAotritonAttention(kernel_.long_name)) {
      return {};
    }
    result_.use = TensorCoreUse::kYes;
    return "by data type: AOTriton's attention";
  }

  bool IsAboveVectorPeak() const {
    if (kernel_.gpu == nullptr || !kernel_.flops_mma || !kernel_.duration_ns) return false;
    if (*kernel_.flops_mma <= 0 || *kernel_.duration_ns <= 0) return false;
    // Winograd and FFT kernels do fewer FLOPs than the convolution, whatever their names.
    if (product_ != nullptr && product_->kind == MatrixProduct::Kind::kConvolution) return false;
    if (IsFastConvolution(kernel_.long_name)) return false;
    MathUnit unit = MathUnit::kVectorFp32;
    if (wanted_ == kFp64) unit = MathUnit::kVectorFp64;
    double peak = kernel_.gpu->Peak(unit);
    // The kernel may use packed arithmetic; DP4A does four products at once.
    if (wanted_ == kFp16 || wanted_ == kBf16) {
      peak = std::max(peak, kernel_.gpu->Peak(MathUnit::kVectorFp16));
    } else if (peak > 0 && (IsTensorCoreNeedNarrowInteger(wanted_) || wanted_ == kUnknown)) {
      peak *= 4;
    }
    const double rate = static_cast<double>(*kernel_.flops_mma) /
                        (static_cast<double>(*kernel_.duration_ns) * 1e-9);
    return peak > 0 && rate > kAboveVectorPeak * peak;
  }

  void Set(TensorCoreFitness fitness, std::string_view cause) {
    result_.fitness = fitness;
    why_.Add(cause);
  }

  void JudgeFitness() {
    if (by_matrix_cores_) {
      result_.fitness = TensorCoreFitness::kYes;
      return;
    }
    if (kernel_.op == nullptr) return JudgeWithoutOp();
    if (!IsProduct()) return;
    switch (kernel_.role) {
      case Role::kHelper:
      case Role::kLayout:
      case Role::kReduce:
      case Role::kEpilogue:
        return why_.Add("beside the product");
      case Role::kMain:
      case Role::kUnknown:
        break;
    }
    if (product_ != nullptr && (product_->m == 0 || product_->n == 0 || product_->k == 0)) return;
    if (result_.use == TensorCoreUse::kYes) {
      result_.fitness = TensorCoreFitness::kYes;
      // Alignment rules are known for NVIDIA's libraries only.
      if (!IsOfAnotherMaker()) Advise();
      return;
    }
    if (IsOfAnotherMaker()) return Set(TensorCoreFitness::kUnknown, kAnotherMaker);
    if (JudgeShape()) return;
    JudgeType();
  }

  KernelKind KindByName() const {
    return kernel_.kind ? *kernel_.kind : KernelKindOf(kernel_.long_name);
  }

  /// Without a price only the name says whether the kernel is a product.
  void JudgeWithoutOp() {
    if (result_.use == TensorCoreUse::kYes) {
      result_.fitness = TensorCoreFitness::kYes;
    } else if (KindByName() == KernelKind::kMatrix) {
      if (IsOfAnotherMaker()) return Set(TensorCoreFitness::kUnknown, kAnotherMaker);
      if (IsNamedGemv()) return Set(TensorCoreFitness::kNo, kGemv);
      if (!HasTensorCores()) return Set(TensorCoreFitness::kNo, kNoTensorCores);
      Set(TensorCoreFitness::kUnknown, "sizes and type of the op are not known");
    }
  }

  /// Decides shapes that run on CUDA cores by design, whatever the type. Returns whether it did.
  bool JudgeShape() {
    if (product_ == nullptr) {
      if (IsNamedGemv()) Set(TensorCoreFitness::kNo, kGemv);
      return IsNamedGemv();
    }
    if (product_->kind == MatrixProduct::Kind::kConvolution && product_->groups > 1) {
      const int64_t channels = ExtentOf("C").value_or(product_->k);
      constexpr int64_t kFewChannels = 4;
      if (channels < kFewChannels) {
        Set(TensorCoreFitness::kNo,
            channels == 1 ? "depthwise convolution" : "too few channels in a group");
        return true;
      }
    }
    if (product_->kind != MatrixProduct::Kind::kGemm) return false;
    const int64_t least = std::min(product_->m, product_->n);
    if (least == 1) {
      Set(TensorCoreFitness::kNo, kGemv);
      return true;
    }
    return false;
  }

  std::optional<int64_t> ExtentOf(std::string_view name) const {
    for (const NamedExtent& extent : product_->extents) {
      if (extent.name == name) return extent.extent;
    }
    return std::nullopt;
  }

  void JudgeType() {
    if (!HasTensorCores()) return Set(TensorCoreFitness::kNo, kNoTensorCores);
    if (!type_known_) return Set(TensorCoreFitness::kUnknown, "data type not known");
    if (wanted_ == kUnknown) {
      return Set(TensorCoreFitness::kNo,
                 fmt::format("{}: no type of Tensor Cores", DTypeWord(left_)));
    }
    if (capability_ == 0) return Set(TensorCoreFitness::kUnknown, "GPU not known: --gpu NAME");
    if (!HasTensorCoreFor(capability_, wanted_)) {
      return Set(TensorCoreFitness::kNo,
                 wanted_ == kTf32
                     ? std::string("fp32: TF32 needs sm_80")
                     : fmt::format("{}: not on sm_{}", MathTypeWord(wanted_), capability_));
    }
    if (wanted_ == kTf32) {
      Set(TensorCoreFitness::kUnknown, TfText());
      return Advise();
    }
    JudgeAlignment();
  }

  std::string_view TfText() const {
    // Whether fp32 may be rounded to TF32 is a setting that profiles do not record.
    if (result_.use != TensorCoreUse::kNo) return "fp32: by TF32 only, which is a setting";
    if (product_ != nullptr && product_->kind == MatrixProduct::Kind::kConvolution) {
      return "fp32: TF32 not used; cudnn.allow_tf32 is on by default";
    }
    return "fp32: TF32 not used; matmul.allow_tf32 is off by default since PyTorch 1.12";
  }

  /// Hard requirements of libraries, and small or odd shapes that they may not run on Tensor Cores.
  void JudgeAlignment() {
    result_.fitness = TensorCoreFitness::kYes;
    if (product_ == nullptr) return;
    switch (product_->kind) {
      case MatrixProduct::Kind::kGemm:
        JudgeGemm();
        break;
      case MatrixProduct::Kind::kAttention:
        JudgeAttention();
        break;
      case MatrixProduct::Kind::kRecurrent:
        if (HasUnaligned(8)) {
          Set(TensorCoreFitness::kUnknown, "recurrent kernels want multiples of 8");
        }
        break;
      case MatrixProduct::Kind::kConvolution:
        break;
    }
    Advise();
  }

  void JudgeGemm() {
    constexpr int64_t kNarrowType = 16;  // fp8: multiples for K and N.
    constexpr int64_t kInt8Least = 4;
    constexpr int64_t kSmall = 4;
    if (wanted_ == kFp8 && (product_->k % kNarrowType != 0 || product_->n % kNarrowType != 0)) {
      const std::string_view columns = product_->extents.empty() ? "N" : product_->extents[0].name;
      return Set(TensorCoreFitness::kNo,
                 fmt::format("fp8 needs K and {} in multiples of 16", columns));
    }
    if (wanted_ == kInt8 && product_->k % kInt8Least != 0) {
      return Set(TensorCoreFitness::kNo, "int8 needs K in multiples of 4");
    }
    if (std::min(product_->m, product_->n) <= kSmall) {
      Set(TensorCoreFitness::kUnknown, "few rows or columns: kernels for CUDA cores may be faster");
    }
  }

  void JudgeAttention() {
    constexpr int64_t kMostHeadDimension = 256;
    if (product_->k > kMostHeadDimension) {
      Set(TensorCoreFitness::kUnknown, "head dimension above 256: no fused kernel");
    } else if (product_->k % 8 != 0) {
      Set(TensorCoreFitness::kUnknown, "fused kernels want head dimensions in multiples of 8");
    }
  }

  bool HasUnaligned(int64_t alignment) const {
    return std::any_of(product_->extents.begin(), product_->extents.end(),
                       [&](const NamedExtent& extent) { return extent.extent % alignment != 0; });
  }

  /// Recommends padding for extents that slow the fast kernels.
  void Advise() {
    if (product_ == nullptr) return;
    MathType math = result_.use == TensorCoreUse::kYes ? result_.math : wanted_;
    if (math == kUnknown) math = wanted_;
    int64_t alignment = AlignmentOf(math);
    const bool fixed = product_->kind == MatrixProduct::Kind::kAttention ||
                       product_->kind == MatrixProduct::Kind::kRecurrent;
    if (fixed) alignment = std::max<int64_t>(alignment, 8);
    if (alignment < 2) return;
    for (const NamedExtent& extent : extents_) {
      if (extent.extent <= 0 || extent.extent % alignment == 0 || !Matters(extent)) continue;
      const auto padded =
          (Checked(extent.extent) + (alignment - extent.extent % alignment)).Value();
      if (!padded) continue;
      if (result_.padding_at == std::string::npos) {
        result_.padding_at = result_.why.empty() ? 0 : result_.why.size() + 2;  // After "; ".
      }
      why_.Add(fmt::format("{}={}: pad to {}", extent.name, extent.extent, *padded));
    }
  }

  /// The number of rows does not affect the alignment of the row-major left factor; libraries
  /// before Ampere wanted it aligned nevertheless.
  bool Matters(const NamedExtent& extent) const {
    if (product_->kind != MatrixProduct::Kind::kGemm) return true;
    if (capability_ != 0 && capability_ < kFirstWithTf32) return true;
    return extent.extent == product_->k || extent.extent == product_->n;
  }

  const TensorCoreCase& kernel_;
  const int capability_;
  const MatrixProduct* product_ = nullptr;
  std::span<const NamedExtent> extents_;
  DType left_ = DType::kUnknown;
  DType right_ = DType::kUnknown;
  bool type_known_ = false;
  bool by_matrix_cores_ = false;
  MathType wanted_ = kUnknown;
  TensorCoreJudgement result_;
  Why why_;
};

}  // namespace

std::string_view TensorCoreFitnessWord(TensorCoreFitness fitness) {
  switch (fitness) {
    case TensorCoreFitness::kUnknown:
      return "?";
    case TensorCoreFitness::kNo:
      return "0";
    case TensorCoreFitness::kYes:
      return "1";
    case TensorCoreFitness::kNotAsked:
      break;
  }
  return "-";
}

TensorCoreJudgement JudgeTensorCore(const TensorCoreCase& kernel) { return Judge(kernel).Run(); }

}  // namespace oplens::ops
