#include "prof/price/op_namer.h"

#include <cstddef>
#include <string_view>

#include "ops/kernels/kernel_family.h"
#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxNamedStreams = 4096;

/// Between a batch norm and the next convolution: a sum, an activation, casts.
constexpr int kMostBetween = 4;

constexpr std::string_view kConvolution = "convolution";
constexpr std::string_view kConvolutionBackward = "convolution_backward";

/// Of complex numbers, in cuBLAS and cuDNN.
bool IsOfSpectra(std::string_view name) {
  return name.find("transpose_readWrite") != std::string_view::npos ||
         name.find("complex") != std::string_view::npos;
}

bool IsDgrad(std::string_view name) {
  return name.find("wgrad") == std::string_view::npos &&
         (name.find("dgrad") != std::string_view::npos ||
          name.find("Dgrad") != std::string_view::npos);
}

bool IsBackwardNorm(std::string_view op) { return op.find("backward") != std::string_view::npos; }

}  // namespace

void OpNamer::Forget(Before* before) {
  *before = {Before::What::kNone, 0, false, before->seen_backward};
}

bool OpNamer::FollowsConvolution(const Before& before) {
  switch (before.what) {
    case Before::What::kTransform:
    case Before::What::kConvolution:
      return before.between == 0;
    case Before::What::kBatchNorm:
      return before.between <= kMostBetween;
    case Before::What::kNone:
      break;
  }
  return false;
}

OpNamer::Before& OpNamer::BeforeOf(const Stream& stream) {
  if (last_ == nullptr || last_->first != stream) {
    if (streams_.size() > kMaxNamedStreams) streams_.clear();
    last_ = &*streams_.try_emplace(stream).first;
  }
  return last_->second;
}

void OpNamer::Name(PricedKernel* row) {
  using ops::KernelFamily;
  if (!row->op.empty() || row->replay || row->facts == nullptr || row->facts->name.empty()) return;
  const KernelRecord& record = *row->record;
  const ops::NamedOp& named = row->facts->named_op(record.grid.y);
  if (named.op.empty()) return;
  row->op = named.op;
  row->op_by_name = true;
  row->name_confidence = named.confidence;
  Before& before = BeforeOf({record.process_id.value_or(-1), record.device_id, record.stream_id});
  const auto take_as_convolution = [&] {
    row->op = before.backward ? kConvolutionBackward : kConvolution;
    row->name_confidence = Confidence::kLow;
    before.between = 0;
  };
  // The gradient of the data is also how a transposed convolution runs forward.
  const bool is_dgrad = row->op == kConvolutionBackward && IsDgrad(row->facts->name);
  if (is_dgrad && !before.seen_backward) {
    row->op = kConvolution;
    row->name_confidence = Confidence::kMedium;
  } else if (row->op.find("backward") != std::string_view::npos) {
    before.seen_backward = true;
  }
  const bool is_convolution = row->op == kConvolution || row->op == kConvolutionBackward;
  switch (row->facts->family().Of(record.grid.y)) {
    case KernelFamily::kGemm:
      if (!FollowsConvolution(before)) {
        Forget(&before);
        return;
      }
      return take_as_convolution();
    case KernelFamily::kConv:
    case KernelFamily::kLayout:
    case KernelFamily::kElementwise:
      if (is_convolution) {
        before.backward = before.backward || row->op == kConvolutionBackward;
        if (before.what != Before::What::kBatchNorm) {
          before.what = row->facts->named_kind() == ops::KernelKind::kMatrix
                            ? Before::What::kConvolution
                            : Before::What::kTransform;
        }
        before.between = 0;
        return;
      }
      // Transpositions and products of spectra around the product of an FFT convolution.
      if (before.what == Before::What::kTransform && before.between == 0 &&
          IsOfSpectra(row->facts->name)) {
        return take_as_convolution();
      }
      [[fallthrough]];
    case KernelFamily::kFill:
      ++before.between;
      return;
    case KernelFamily::kNorm:
      if (row->op.find("batch_norm") != std::string_view::npos) {
        before = {Before::What::kBatchNorm, 0, IsBackwardNorm(row->op), before.seen_backward};
        return;
      }
      [[fallthrough]];
    default:
      Forget(&before);
  }
}

}  // namespace oplens::prof
