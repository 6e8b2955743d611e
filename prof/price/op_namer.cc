#include "prof/price/op_namer.h"

#include <cstddef>
#include <string_view>

#include "ops/kernels/kernel_family.h"
#include "ops/kernels/kernel_name.h"
#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxNamedStreams = 4096;

/// Between a batch norm and the next convolution: a sum, an activation, casts.
constexpr int kMostBetween = 4;

constexpr std::string_view kConvolution = "convolution";
constexpr std::string_view kConvolutionBackward = "convolution_backward";

bool IsTransform(std::string_view name) {
  const ops::Role role = ops::RoleOf(name);
  return role == ops::Role::kHelper || role == ops::Role::kLayout;
}

bool IsBackwardNorm(std::string_view op) { return op.find("backward") != std::string_view::npos; }

}  // namespace

bool OpNamer::FollowsConvolution(const Before& before) {
  switch (before.what) {
    case Before::What::kTransform:
      return before.between == 0;
    case Before::What::kBatchNorm:
    case Before::What::kConvolution:
      return before.between <= kMostBetween;
    case Before::What::kNone:
      break;
  }
  return false;
}

void OpNamer::Name(PricedKernel* row) {
  using ops::KernelFamily;
  if (!row->op.empty() || row->replay || row->facts == nullptr || row->facts->name.empty()) return;
  const int64_t rows = row->record->grid.y;
  const ops::NamedOp& named = row->facts->named_op(rows);
  if (named.op.empty()) return;
  row->op = named.op;
  row->op_by_name = true;
  row->name_confidence = named.confidence;
  if (streams_.size() > kMaxNamedStreams) streams_.clear();
  const KernelRecord& record = *row->record;
  Before& before = streams_[{record.process_id.value_or(-1), record.device_id, record.stream_id}];
  const KernelFamily family = row->facts->family().Of(rows);
  switch (family) {
    case KernelFamily::kGemm:
      if (!FollowsConvolution(before)) {
        before = {};
        return;
      }
      row->op = before.backward ? kConvolutionBackward : kConvolution;
      row->name_confidence = Confidence::kLow;
      if (before.what != Before::What::kTransform) before.what = Before::What::kConvolution;
      before.between = 0;
      return;
    case KernelFamily::kConv:
    case KernelFamily::kLayout:
      if (row->op == kConvolution || row->op == kConvolutionBackward) {
        // The transforms of both directions have one name.
        const bool backward = before.what == Before::What::kNone
                                  ? row->op == kConvolutionBackward
                                  : before.backward || row->op == kConvolutionBackward;
        if (IsTransform(row->facts->name)) {
          before = {Before::What::kTransform, 0, backward};
        } else if (before.what == Before::What::kTransform) {
          before = {};
        } else {
          before.between = 0;
        }
        return;
      }
      [[fallthrough]];
    case KernelFamily::kElementwise:
    case KernelFamily::kFill:
      ++before.between;
      return;
    case KernelFamily::kNorm:
      if (row->op.find("batch_norm") != std::string_view::npos) {
        before = {Before::What::kBatchNorm, 0, IsBackwardNorm(row->op)};
        return;
      }
      [[fallthrough]];
    default:
      before = {};
  }
}

}  // namespace oplens::prof
