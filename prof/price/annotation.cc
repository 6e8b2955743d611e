#include "prof/price/annotation.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "ops/dtype.h"
#include "ops/pricing.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"

namespace oplens::prof {
namespace {

constexpr size_t kMaxAnnotationBytes = size_t{4} << 20;

/// Python attribute look-ups that PyProf's patches annotate like ops; some programs leave hundreds
/// of them open around every kernel.
constexpr std::string_view kNoiseOps[] = {"__getattr__", "size"};
constexpr std::string_view kNoisePrefix = "has_torch_function";

bool IsNoise(std::string_view op) {
  return op.starts_with(kNoisePrefix) ||
         std::find(std::begin(kNoiseOps), std::end(kNoiseOps), op) != std::end(kNoiseOps);
}

/// "(32,128,768);(3072,768)"
void AppendShape(const std::vector<int64_t>& shape, std::string* text) {
  if (!text->empty()) text->push_back(';');
  text->append(ops::TupleText(shape));
}

void DescribeTensors(const OpCall& call, Annotation* annotation) {
  annotation->has_all_types = true;
  for (const OpArg& arg : call.args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    annotation->has_shapes = true;
    AppendShape(arg.shape, &annotation->shapes);
    const std::optional<ops::DType> dtype = ops::ParseDType(arg.dtype);
    if (annotation->dtype.empty() && dtype) annotation->dtype = ops::DTypeWord(*dtype);
    if (dtype) annotation->has_types = true;
    if (!dtype && arg.list == 0) annotation->has_all_types = false;
  }
}

void ReadAnnotation(std::string_view text, const ops::Rules* rules, Annotation* annotation) {
  std::string error;
  std::optional<OpCall> call = ParseOpCall(text, &error);
  if (!call) {
    annotation->reason = Reason::kBadMarkerText;
    return;
  }
  ops::PriceResult result = ops::PriceCall(*call, rules, &annotation->rules);
  annotation->price = std::move(result.price);
  annotation->reason = result.reason;
  DescribeTensors(*call, annotation);
  annotation->names_only = call->args.empty();
  annotation->is_noise = IsNoise(call->op);
  annotation->is_backward_pass = call->op == "backward";
  annotation->op = std::move(call->op);
  annotation->mod = std::move(call->mod);
}

}  // namespace

Annotations::Annotations(Epochs* epochs, const ops::Rules* rules)
    : cache_(epochs, kMaxAnnotationBytes), rules_(rules) {}

const Annotation* Annotations::Of(std::string_view text) {
  bool is_new = false;
  auto* const entry = cache_.Get(text, &is_new);
  if (is_new) {
    entry->value.id = entry->id;
    ReadAnnotation(entry->text, rules_, &entry->value);
  }
  return &entry->value;
}

}  // namespace oplens::prof
