// Ops that concatenate tensors or rearrange one: inputs are read, the output written.

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// The tensors of the list, which annotations record one by one, and the dimension after them.
struct Joined {
  std::vector<Tensor> tensors;
  int64_t dim = 0;
};

std::optional<Joined> ReadJoined(const OpCall& call, Reason* reason) {
  Joined joined;
  for (const OpArg& arg : call.args) {
    *reason = Reason::kUnsupportedArgs;
    if (arg.name == "out" || arg.kind == OpArg::Kind::kNone) continue;
    if (arg.kind == OpArg::Kind::kInt) {
      joined.dim = arg.int_value;
      continue;
    }
    if (arg.kind != OpArg::Kind::kTensor) return std::nullopt;
    const std::optional<Tensor> tensor = TensorOf(arg, reason);
    if (!tensor) return std::nullopt;
    joined.tensors.push_back(*tensor);
  }
  *reason = Reason::kUnsupportedArgs;
  if (joined.tensors.empty()) return std::nullopt;
  return joined;
}

PriceResult PricedJoin(const std::vector<Tensor>& tensors) {
  Checked input_bytes;
  Checked elements;
  DType type = tensors.front().dtype;
  for (const Tensor& tensor : tensors) {
    input_bytes += tensor.bytes();
    elements += tensor.elements();
    type = PromoteDTypes(type, tensor.dtype);
  }
  // The gradients are views of dY.
  PriceResult result =
      Priced(TensorsText(tensors), {0, 0, input_bytes + BytesOf(elements, type)}, Work());
  // A kernel's name may only give the type if no tensor has one.
  const bool all_unknown = std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.dtype == DType::kUnknown;
  });
  if (all_unknown) result.price->moved_elements = elements * 2;
  return result;
}

// cat has long ignored empty vectors, whatever the other shapes.
bool IsEmptyVector(const Tensor& tensor) {
  return tensor.shape.size() == 1 && tensor.shape[0] == 0;
}

bool EqualBut(Shape a, Shape b, size_t dim) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (i != dim && a[i] != b[i]) return false;
  }
  return true;
}

PriceResult PriceCat(std::string_view, const OpCall& call) {
  Reason reason;
  const std::optional<Joined> joined = ReadJoined(call, &reason);
  if (!joined) return Unpriced(reason);
  const auto& tensors = joined->tensors;
  auto first = std::find_if_not(tensors.begin(), tensors.end(), IsEmptyVector);
  if (first == tensors.end()) first = tensors.begin();
  const std::optional<size_t> dim = DimIndex(joined->dim, first->shape.size());
  const bool fits = dim && !first->shape.empty() &&
                    std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
                      return IsEmptyVector(tensor) || EqualBut(tensor.shape, first->shape, *dim);
                    });
  return fits ? PricedJoin(tensors) : Unpriced(Reason::kShapeMismatch);
}

PriceResult PriceStack(std::string_view, const OpCall& call) {
  Reason reason;
  const std::optional<Joined> joined = ReadJoined(call, &reason);
  if (!joined) return Unpriced(reason);
  const Shape shape = joined->tensors.front().shape;
  const bool fits =
      DimIndex(joined->dim, shape.size() + 1) &&
      std::all_of(joined->tensors.begin(), joined->tensors.end(), [&](const Tensor& tensor) {
        return EqualBut(tensor.shape, shape, shape.size());
      });
  return fits ? PricedJoin(joined->tensors) : Unpriced(Reason::kShapeMismatch);
}

// repeat(x, counts): the gradient sums the copies.
PriceResult PriceRepeat(std::string_view op, const OpCall& call) {
  Reason reason = Reason::kUnsupportedArgs;
  const auto x = call.args.empty() ? std::nullopt : TensorOf(call.args.front(), &reason);
  if (!x) return Unpriced(reason);
  Checked copies = 1;
  size_t counts = 0;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const OpArg& arg = call.args[i];
    const bool list = arg.kind == OpArg::Kind::kIntList;
    if (!list && arg.kind != OpArg::Kind::kInt) return Unpriced(Reason::kUnsupportedArgs);
    const std::vector<int64_t> values = list ? arg.int_list : std::vector{arg.int_value};
    if (std::any_of(values.begin(), values.end(), [](int64_t count) { return count < 0; })) {
      return Unpriced(Reason::kUnsupportedArgs);
    }
    copies *= Elements(values);
    counts += values.size();
  }
  if (op == "repeat" && counts < x->shape.size()) return Unpriced(Reason::kShapeMismatch);
  const Checked outputs = x->elements() * copies;
  const Checked bytes = x->bytes() + BytesOf(outputs, x->dtype);
  return Priced(TensorText(*x), {0, 0, bytes}, Work{0, outputs, bytes});
}

// flip, roll etc.: every element moves; the gradient moves them back.
PriceResult PriceRearrange(std::string_view, const OpCall& call) {
  Reason reason = Reason::kUnsupportedArgs;
  const auto x = call.args.empty() ? std::nullopt : TensorOf(call.args.front(), &reason);
  if (!x) return Unpriced(reason);
  const Work work{0, 0, x->bytes() * 2};
  return Priced(TensorText(*x), work, work);
}

constexpr std::string_view kCatNames[] = {"cat"};
constexpr std::string_view kStackNames[] = {"stack"};
constexpr std::string_view kJoinRepeatNames[] = {"repeat", "tile"};
constexpr std::string_view kRearrangeNames[] = {
    "flip", "fliplr", "flipud", "roll", "pixel_shuffle", "pixel_unshuffle", "rot90"};
constexpr OpModel kJoinModels[] = {
    {kCatNames, PriceCat},
    {kStackNames, PriceStack},
    {kJoinRepeatNames, PriceRepeat},
    {kRearrangeNames, PriceRearrange},
};

}  // namespace

std::span<const OpModel> JoinOps() { return kJoinModels; }

}  // namespace oplens::ops
