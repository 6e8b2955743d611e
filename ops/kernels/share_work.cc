#include "ops/kernels/share_work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "ops/kernels/gradient_evidence.h"
#include "ops/kernels/moved_type.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

// ---- exact division ----

__extension__ typedef __int128 ShareWorkInt128;

// Divides `total` (not negative) in proportion to the weights by largest remainder; on ties the
// earlier one gets more. Without a positive weight, all count equally.
std::vector<int64_t> Divide(int64_t total, std::span<const int64_t> weights) {
  std::vector<ShareWorkInt128> counted(weights.begin(), weights.end());
  ShareWorkInt128 sum = 0;
  for (ShareWorkInt128& weight : counted) sum += weight = std::max<ShareWorkInt128>(weight, 0);
  if (sum == 0) {
    std::fill(counted.begin(), counted.end(), 1);
    sum = static_cast<ShareWorkInt128>(counted.size());
  }
  std::vector<int64_t> result(weights.size());
  std::vector<std::pair<ShareWorkInt128, size_t>> remainders;
  int64_t left = total;
  for (size_t i = 0; i < counted.size(); ++i) {
    const ShareWorkInt128 product = counted[i] * total;
    result[i] = static_cast<int64_t>(product / sum);
    left -= result[i];
    remainders.emplace_back(product % sum, i);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (int64_t i = 0; i < left; ++i) ++result[remainders[static_cast<size_t>(i)].second];
  return result;
}

// ---- one instance ----

// Confidence that a reduction or elementwise kernel beside the products sums the bias gradient.
constexpr double kReductionIsBias = .95;

struct Amount {
  int64_t mma = 0;
  int64_t vec = 0;
  int64_t bytes = 0;
};

using ShareWorkIndices = std::vector<size_t>;

class Instance {
 public:
  Instance(const PricedOp& op, std::span<const InstanceKernel> kernels,
           std::span<KernelShare> shares, CoveredWork covered)
      : op_(op), kernels_(kernels), shares_(shares), covered_(covered) {
    kinds_.reserve(kernels.size());
    for (const InstanceKernel& kernel : kernels) {
      kinds_.push_back(kernel.kind ? *kernel.kind : KernelKindOf(kernel.long_name));
    }
  }

  void Share(Direction direction);

 private:
  void AssignMatrixRoles(bool backward);
  void AssignOtherRoles();
  void PromoteLongest(const ShareWorkIndices& candidates);
  void FailAll(Reason reason);
  void FailCovered();

  ShareWorkIndices WithKind(std::initializer_list<KernelKind> kinds) const;
  ShareWorkIndices WithRole(Role role) const;

  void ShareMatrixForward(const Work& work);
  void ShareMatrixBackward();
  void ShareNorm(const Work& work);
  void ShareAmongMains(const Work& work);

  void ShareGradients(const ShareWorkIndices& mains);
  void NoteShares(const std::vector<PartWork>& parts);
  void Charge(size_t kernel, Amount amount);
  void ChargeAll(const ShareWorkIndices& kernels, Amount amount);
  void ChargeAuxiliary(const ShareWorkIndices& kernels, int64_t tensors, int64_t bytes);

  const std::vector<PartWork>& Parts() const { return *parts_; }

  const PricedOp& op_;
  const std::vector<PartWork>* parts_ = nullptr;  // What the kernels share.
  std::span<const InstanceKernel> kernels_;
  std::span<KernelShare> shares_;
  CoveredWork covered_;
  std::vector<KernelKind> kinds_;
};

Amount AmountOf(const Work& work) {
  return {work.mma.Value().value_or(0), work.vec.Value().value_or(0),
          work.bytes.Value().value_or(0)};
}

bool IsNormKind(KernelKind kind) {
  return kind >= KernelKind::kNormStatistics && kind <= KernelKind::kNormGradWeights;
}

const Work* FindPart(const std::vector<PartWork>& parts, Part part) {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const PartWork& candidate) {
    return candidate.part == part;
  });
  return found == parts.end() ? nullptr : &found->work;
}

// Weights by grid for launches of one kernel, otherwise by duration.
std::vector<int64_t> ShareWorkWeightsOf(std::span<const InstanceKernel> kernels,
                                        const ShareWorkIndices& chosen) {
  std::vector<int64_t> blocks;
  std::vector<int64_t> durations;
  bool by_grid = true;
  for (const size_t i : chosen) {
    const InstanceKernel& kernel = kernels[i];
    const std::optional<int64_t> count =
        (Checked(kernel.grid.x) * kernel.grid.y * kernel.grid.z).Value();
    by_grid &= kernel.long_name == kernels[chosen.front()].long_name && count && *count > 0;
    blocks.push_back(count.value_or(0));
    durations.push_back(kernel.duration_ns);
  }
  return by_grid ? blocks : durations;
}

ShareWorkIndices Instance::WithKind(std::initializer_list<KernelKind> kinds) const {
  ShareWorkIndices result;
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (std::find(kinds.begin(), kinds.end(), kinds_[i]) != kinds.end()) result.push_back(i);
  }
  return result;
}

ShareWorkIndices Instance::WithRole(Role role) const {
  ShareWorkIndices result;
  for (size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i].role == role) result.push_back(i);
  }
  return result;
}

void Instance::FailAll(Reason reason) {
  for (KernelShare& share : shares_) share.reasons.Add(reason);
}

// Makes the longest candidate a main kernel, along with other launches of the same kernel.
void Instance::PromoteLongest(const ShareWorkIndices& candidates) {
  if (candidates.empty()) return;
  const size_t longest = *std::max_element(
      candidates.begin(), candidates.end(),
      [&](size_t a, size_t b) { return kernels_[a].duration_ns < kernels_[b].duration_ns; });
  for (const size_t i : candidates) {
    if (kernels_[i].long_name == kernels_[longest].long_name) shares_[i].role = Role::kMain;
  }
}

// Beside a matrix product, elementwise kernels and reductions are its epilogue, and copies prepare
// its operands. Without a known product kernel, an unknown kernel is the main one, or, if there is
// no bias to explain them, the elementwise kernels are.
void Instance::AssignMatrixRoles(bool backward) {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    switch (kinds_[i]) {
      case KernelKind::kMatrix:
        shares_[i].role = Role::kMain;
        break;
      case KernelKind::kCopy:
        shares_[i].role = Role::kLayout;
        break;
      case KernelKind::kFill:
        shares_[i].role = Role::kHelper;
        break;
      case KernelKind::kUnknown:
      case KernelKind::kLayout:
      case KernelKind::kSecondStage:
      case KernelKind::kHelper:
        shares_[i].role = RoleOf(kinds_[i]);
        break;
      default:
        shares_[i].role = Role::kEpilogue;
    }
  }
  if (covered_.main || !WithRole(Role::kMain).empty()) return;
  PromoteLongest(WithRole(Role::kUnknown));
  if (!WithRole(Role::kMain).empty()) return;
  const bool has_bias =
      backward ? FindPart(Parts(), Part::kBgrad) != nullptr : !(SumOf(op_.forward).vec == 0);
  if (!has_bias) PromoteLongest(WithRole(Role::kEpilogue));
}

// For other ops, elementwise kernels and reductions do the work; copies, fills and layout kernels
// only if there is no other candidate, scans and second stages last.
void Instance::AssignOtherRoles() {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const KernelKind kind = kinds_[i];
    shares_[i].role = RoleOf(kind);
    if (kind == KernelKind::kCopy) shares_[i].role = Role::kLayout;
    if (kind == KernelKind::kFill) shares_[i].role = Role::kHelper;
  }
  const std::initializer_list<KernelKind> kFallbacks[] = {
      {KernelKind::kUnknown},
      {KernelKind::kCopy, KernelKind::kLayout},
      {KernelKind::kFill},
      {KernelKind::kHelper, KernelKind::kSecondStage},
  };
  for (const auto& kinds : kFallbacks) {
    if (covered_.main || !WithRole(Role::kMain).empty()) return;
    PromoteLongest(WithKind(kinds));
  }
}

void Instance::Charge(size_t kernel, Amount amount) {
  KernelShare& share = shares_[kernel];
  share.flops_mma = share.flops_mma.value_or(0) + amount.mma;
  share.flops_vec = share.flops_vec.value_or(0) + amount.vec;
  share.flops = *share.flops_mma + *share.flops_vec;
  share.bytes = share.bytes.value_or(0) + amount.bytes;
}

void Instance::ChargeAll(const ShareWorkIndices& chosen, Amount amount) {
  if (chosen.size() == 1) return Charge(chosen.front(), amount);
  const std::vector<int64_t> weights = ShareWorkWeightsOf(kernels_, chosen);
  const std::vector<int64_t> mma = Divide(amount.mma, weights);
  const std::vector<int64_t> vec = Divide(amount.vec, weights);
  const std::vector<int64_t> bytes = Divide(amount.bytes, weights);
  for (size_t i = 0; i < chosen.size(); ++i) Charge(chosen[i], {mma[i], vec[i], bytes[i]});
}

// Roles whose work nested calls do get none of it.
void Instance::FailCovered() {
  const bool no_bias = op_.matmul_like && SumOf(op_.forward).vec == 0;
  for (KernelShare& share : shares_) {
    const bool covered =
        (share.role == Role::kMain && covered_.main) ||
        (share.role == Role::kEpilogue && (covered_.epilogue || (covered_.main && no_bias)));
    if (covered) share.role = Role::kUnknown;
  }
}

void Instance::ShareMatrixForward(const Work& work) {
  const ShareWorkIndices mains = WithRole(Role::kMain);
  const ShareWorkIndices epilogues = WithRole(Role::kEpilogue);
  Work main_work = work;
  if (covered_.epilogue) main_work.vec = 0;
  if (!epilogues.empty()) {
    Charge(epilogues.front(), {0, work.vec.Value().value_or(0), 0});
    main_work.vec = 0;
  }
  if (!mains.empty()) return ChargeAll(mains, AmountOf(main_work));
  // The product ran in a nested op; none of the op's bytes belong to the bias alone.
  for (const size_t i : epilogues) {
    shares_[i].bytes.reset();
    shares_[i].reasons.Add(Reason::kUnknownRole);
  }
}

// Charges each gradient to its kernels. A gradient without a kernel was not needed.
void Instance::ShareGradients(const ShareWorkIndices& mains) {
  std::vector<PartWork> gradients;
  for (const PartWork& part : Parts()) {
    if (part.part != Part::kBgrad) gradients.push_back(part);
  }
  if (mains.empty() || gradients.empty()) return;
  const ShareWorkIndices epilogues = WithRole(Role::kEpilogue);
  // Sums over broadcast dimensions go to their own kernel if there is one.
  const auto charge = [&](const ShareWorkIndices& kernels, Work work) {
    if (!epilogues.empty()) {
      Charge(epilogues.front(), {0, work.vec.Value().value_or(0), 0});
      work.vec = 0;
    }
    ChargeAll(kernels, AmountOf(work));
  };
  const auto name = [&](size_t kernel, Part part, double confidence) {
    shares_[kernel].part = part;
    shares_[kernel].part_confidence = confidence;
  };
  const bool two = gradients.size() == 2 && FindPart(gradients, Part::kDgrad) != nullptr &&
                   FindPart(gradients, Part::kWgrad) != nullptr;
  if (!two) {
    for (const size_t kernel : mains) {
      name(kernel, gradients.size() == 1 ? gradients.front().part : Part::kBackward, 1);
    }
    return charge(mains, SumOf(gradients));
  }
  std::vector<InstanceKernel> kernels;
  for (const size_t kernel : mains) kernels.push_back(kernels_[kernel]);
  std::vector<GradientGuess> guesses =
      GuessGradients(op_.product ? &*op_.product : nullptr, kernels);
  for (size_t i = 0; i < mains.size(); ++i) {
    if (kernels[i].part) guesses[i] = {*kernels[i].part, 1};
    name(mains[i], guesses[i].part, guesses[i].confidence);
  }
  std::vector<PartWork> left = gradients;
  for (const Part part : {Part::kDgrad, Part::kWgrad}) {
    ShareWorkIndices chosen;
    for (size_t i = 0; i < mains.size(); ++i) {
      if (guesses[i].part == part) chosen.push_back(mains[i]);
    }
    if (chosen.empty()) continue;
    charge(chosen, *FindPart(gradients, part));
    std::erase_if(left, [&](const PartWork& gradient) { return gradient.part == part; });
  }
  ShareWorkIndices undecided;
  for (size_t i = 0; i < mains.size(); ++i) {
    if (guesses[i].part == Part::kBackward) undecided.push_back(mains[i]);
  }
  if (!undecided.empty()) charge(undecided, SumOf(left));
}

void Instance::ShareMatrixBackward() {
  ShareGradients(WithRole(Role::kMain));
  const ShareWorkIndices epilogues = WithRole(Role::kEpilogue);
  const Work* bias = FindPart(Parts(), Part::kBgrad);
  if (bias == nullptr || covered_.epilogue) return;
  if (!epilogues.empty()) {
    Charge(epilogues.front(), AmountOf(*bias));
    for (const size_t kernel : epilogues) {
      shares_[kernel].part = Part::kBgrad;
      shares_[kernel].part_confidence = kReductionIsBias;
    }
  } else if (WithRole(Role::kMain).empty() && shares_.size() == 1) {
    // The only launched kernel must be the sum over the rows.
    shares_.front().part = Part::kBgrad;
  }
}

// Traffic of a part's kernels: `tensors` tensors of the input's size, less the ideal `bytes`.
void Instance::ChargeAuxiliary(const ShareWorkIndices& kernels, int64_t tensors, int64_t bytes) {
  if (!op_.input_bytes || !op_.bytes_known) return;
  const std::optional<int64_t> moved = (*op_.input_bytes * tensors).Value();
  if (!moved || *moved < bytes) return;
  const std::vector<int64_t> parts = Divide(*moved - bytes, ShareWorkWeightsOf(kernels_, kernels));
  for (size_t i = 0; i < kernels.size(); ++i) shares_[kernels[i]].aux_bytes = parts[i];
}

// Divides the work of a norm in several kernels. FLOPs per element, forward: 3 statistics, 5
// normalise; backward: 4 row sums, 6 input gradient (10 if it computes the sums itself), 6
// gradients of gamma and beta. Bytes: the tensors of X's size that each kernel reads and writes,
// scaled to the op's ideal bytes.
void Instance::ShareNorm(const Work& work) {
  struct Share {
    KernelKind kind;
    int64_t flops;
    int64_t tensors;
  };
  Share plan[] = {
      {KernelKind::kNormStatistics, 3, 1},  {KernelKind::kNormApply, 5, 2},
      {KernelKind::kNormGradSums, 4, 2},    {KernelKind::kNormGradInput, 6, 3},
      {KernelKind::kNormGradWeights, 6, 2},
  };
  if (WithKind({KernelKind::kNormGradSums}).empty()) plan[3].flops += plan[2].flops;

  std::vector<ShareWorkIndices> groups;
  std::vector<int64_t> flop_weights;
  std::vector<int64_t> byte_weights;
  for (const Share& share : plan) {
    ShareWorkIndices group = WithKind({share.kind});
    if (group.empty()) continue;
    groups.push_back(std::move(group));
    flop_weights.push_back(share.flops);
    byte_weights.push_back(share.tensors);
  }
  const Amount total = AmountOf(work);
  const std::vector<int64_t> flops = Divide(total.vec, flop_weights);
  const std::vector<int64_t> bytes = Divide(total.bytes, byte_weights);
  for (size_t i = 0; i < shares_.size(); ++i) {
    if (!IsNormKind(kinds_[i]) && shares_[i].role == Role::kMain) shares_[i].role = Role::kHelper;
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    ChargeAll(groups[i], {0, flops[i], bytes[i]});
    ChargeAuxiliary(groups[i], byte_weights[i], bytes[i]);
  }
}

void Instance::ShareAmongMains(const Work& work) {
  const ShareWorkIndices mains = WithRole(Role::kMain);
  if (mains.empty()) return;
  Checked zeros;
  for (const PartWork& part : Parts()) zeros += part.zeros;
  Work own = work;
  own.bytes = work.bytes - zeros;
  ChargeAll(mains, AmountOf(own));
  // Otherwise a memset wrote them, or an op with its own price.
  const ShareWorkIndices fills = WithKind({KernelKind::kFill});
  if (!(zeros == 0) && !fills.empty()) ChargeAll(fills, {0, 0, zeros.Value().value_or(0)});
}

// Sets each kernel's fraction of its gradient's work (of all work if gradients are not told apart)
// and how well its FLOPs are known.
void Instance::NoteShares(const std::vector<PartWork>& parts) {
  const Work all = SumOf(parts);
  for (KernelShare& share : shares_) {
    if (!share.flops) continue;
    const Work* part = parts.size() > 1 ? FindPart(parts, share.part) : nullptr;
    const Amount total = AmountOf(part != nullptr ? *part : all);
    const int64_t flops = total.mma + total.vec;
    if (flops > 0) {
      share.share = static_cast<double>(*share.flops) / static_cast<double>(flops);
    } else if (total.bytes > 0 && op_.bytes_known) {
      share.share = static_cast<double>(*share.bytes) / static_cast<double>(total.bytes);
    }
    const bool estimated =
        (*share.flops_mma > 0 && op_.mma_estimated) || (*share.flops_vec > 0 && op_.vec_estimated);
    share.flops_kind = *share.flops == 0   ? FlopsKind::kNone
                       : op_.flops_bounded ? FlopsKind::kBound
                       : estimated         ? FlopsKind::kEstimate
                                           : FlopsKind::kExact;
    if (share.flops_kind == FlopsKind::kBound) {
      share.flops_bound = std::exchange(share.flops, std::nullopt);
      share.flops_mma.reset();
      share.flops_vec.reset();
    }
  }
}

void Instance::Share(Direction direction) {
  // A gradient function computes gradients in its forward.
  const std::vector<PartWork>& forward = op_.forward;
  const bool gradient_call = !forward.empty() && forward.front().part != Part::kForward;
  const bool backward = direction == Direction::kBackward || gradient_call;
  parts_ = direction == Direction::kBackward ? &op_.backward : &forward;
  const std::vector<PartWork>& parts = *parts_;
  for (KernelShare& share : shares_) share.part = backward ? Part::kBackward : Part::kForward;
  op_.matmul_like ? AssignMatrixRoles(backward) : AssignOtherRoles();
  FailCovered();
  if (parts.empty()) return FailAll(Reason::kUnknownOp);
  Work work = SumOf(parts);
  if (!backward && op_.bytes_if_copied) work.bytes = *op_.bytes_if_copied;
  if (!Fits(work)) return FailAll(Reason::kCostOverflow);

  for (size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i].role == Role::kUnknown) {
      shares_[i].reasons.Add(Reason::kUnknownRole);
    } else {
      Charge(i, {0, 0});
    }
  }
  if (op_.matmul_like) {
    backward ? ShareMatrixBackward() : ShareMatrixForward(work);
  } else if (!covered_.main && std::any_of(kinds_.begin(), kinds_.end(), IsNormKind)) {
    ShareNorm(work);
  } else {
    ShareAmongMains(work);
  }
  NoteShares(parts);
}

// Marks kernels named after Winograd or FFT and the plain products between their transforms.
void MarkFastConvolution(std::span<const InstanceKernel> kernels, std::span<KernelShare> shares) {
  const auto is_fast = [](const InstanceKernel& kernel) {
    return IsFastConvolution(kernel.long_name);
  };
  if (std::none_of(kernels.begin(), kernels.end(), is_fast)) return;
  for (size_t i = 0; i < kernels.size(); ++i) {
    shares[i].fast_convolution =
        is_fast(kernels[i]) || kernels[i].long_name.find("gemm") != std::string_view::npos;
  }
}

// For ops whose name does not say what they compute.
void ForgetFlops(std::span<KernelShare> shares) {
  for (KernelShare& share : shares) {
    if (!share.flops) continue;
    share.flops.reset();
    share.flops_mma.reset();
    share.flops_vec.reset();
    share.flops_kind = FlopsKind::kUnknown;
    share.reasons.Add(Reason::kUnknownOp);
  }
}

// Whether `part` is at least half of `whole`.
bool IsMostOf(Checked part, Checked whole) {
  const std::optional<int64_t> a = part.Value();
  const std::optional<int64_t> b = whole.Value();
  return a && b && *b > 0 && *a >= *b - *b / 2;
}

}  // namespace

CoveredWork CoveredBy(const PricedOp& outer, const PricedOp& inner) {
  const Work whole = SumOf(outer.forward);
  const Work part = SumOf(inner.forward);
  const Checked flops = part.mma + part.vec;
  if (outer.matmul_like) return {inner.matmul_like, IsMostOf(part.vec, whole.vec)};
  const Checked outer_flops = whole.mma + whole.vec;
  const bool same = outer_flops == 0 ? IsMostOf(part.bytes, whole.bytes)  // Only moves data.
                                     : IsMostOf(flops, outer_flops);
  return {same, same};
}

namespace {

// For ops that only move elements: takes the element size from the names of the main kernels. False
// if they do not all give the same one.
bool SetBytesByName(const PricedOp& op, Direction direction,
                    std::span<const InstanceKernel> kernels, std::span<KernelShare> shares) {
  if (!op.moved_elements || direction == Direction::kBackward) return false;
  ShareWorkIndices mains;
  std::optional<int64_t> size;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (shares[i].role != Role::kMain || !shares[i].bytes) continue;
    const std::optional<int64_t> own = MovedElementBytes(kernels[i].long_name);
    if (!own || (size && *size != *own)) return false;
    size = own;
    mains.push_back(i);
  }
  const std::optional<int64_t> all =
      size ? (*op.moved_elements * *size).Value() : std::optional<int64_t>();
  if (!all) return false;
  const std::vector<int64_t> parts = Divide(*all, ShareWorkWeightsOf(kernels, mains));
  for (size_t i = 0; i < mains.size(); ++i) shares[mains[i]].bytes = parts[i];
  return true;
}

}  // namespace

void ShareWork(const PricedOp& op, Direction direction, std::span<const InstanceKernel> kernels,
               std::span<KernelShare> shares, CoveredWork covered) {
  std::fill(shares.begin(), shares.end(), KernelShare());
  if (shares.size() != kernels.size()) return;
  Instance(op, kernels, shares, covered).Share(direction);
  if (op.product && op.product->kind == MatrixProduct::Kind::kConvolution) {
    MarkFastConvolution(kernels, shares);
  }
  if (!op.flops_known) ForgetFlops(shares);
  if (op.bytes_known || SetBytesByName(op, direction, kernels, shares)) return;
  for (KernelShare& share : shares) {
    if (!share.bytes) continue;
    share.bytes.reset();
    share.reasons.Add(op.why_no_bytes);
  }
}

std::string_view FlopsKindWord(FlopsKind kind) {
  switch (kind) {
    case FlopsKind::kNone:
      return "none";
    case FlopsKind::kExact:
      return "exact";
    case FlopsKind::kEstimate:
      return "estimate";
    case FlopsKind::kBound:
      return "bound";
    case FlopsKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace oplens::ops
