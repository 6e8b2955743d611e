#include "ops/kernels/launch_elementwise.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "ops/kernels/template_arguments.h"

namespace oplens::ops {
namespace {

constexpr int64_t kWidestNumber = 16;  // Bytes of a complex double.

bool NameHolds(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

int64_t SizeOf(DType type) { return (BitsOf(type) + 7) / 8; }

// Bytes by which newer versions choose the elements of a thread; 0: unknown.
int64_t DecisiveBytes(const Functor& functor) {
  if (functor.result == DType::kUnknown) return 0;
  int64_t read = 0;
  for (const DType type : functor.inputs) {
    if (type == DType::kUnknown) return 0;
    read += SizeOf(type);
  }
  const int64_t written = SizeOf(functor.result);
  return functor.inputs.empty() ? written : std::min(read, written);
}

// Elements of a thread of vectorized_elementwise_kernel, whose vectors have `width` elements. Until
// PyTorch 2.5 the kernel takes at::detail::Array and each thread 4 elements. Later it takes
// std::array: 4 elements as before, or (from 2.8) 16, 8 or 4 by the bytes of an element.
void SetVectorized(std::string_view name, int64_t width, const Functor& functor, LaunchRule* rule) {
  rule->per_thread = rule->per_thread_on_amd = {4, 4};
  if (!NameHolds(name, "std::array")) return;
  const int64_t least = std::max<int64_t>(width, 4);
  const int64_t bytes = DecisiveBytes(functor);
  const int64_t most = bytes >= 4 ? 4 : bytes >= 2 ? 8 : 16;
  rule->per_thread = {least, std::max(least, width == 8 ? 8 : most)};
  rule->per_thread_on_amd = {least, std::max<int64_t>(least, 16)};
}

// Bytes of an element with its K operands. Two inputs may be the same tensor, which counts once;
// those of a kernel for any strides may be stored once for many elements.
std::optional<ElementWork> BytesOfElement(const Functor& functor, int64_t operands,
                                          bool is_strided) {
  if (functor.result == DType::kUnknown) return std::nullopt;
  if (operands > 0 && operands != static_cast<int64_t>(functor.inputs.size()) + 1) {
    return std::nullopt;
  }
  const int64_t written = SizeOf(functor.result);
  int64_t read = 0;
  int64_t largest = 0;
  for (const DType type : functor.inputs) {
    if (type == DType::kUnknown) return std::nullopt;
    read += SizeOf(type);
    largest = std::max(largest, SizeOf(type));
  }
  const int64_t least = is_strided ? 0 : largest;
  return ElementWork{{written + least, written + read}, written + read};
}

void SetWork(const Functor& functor, int64_t operands, bool is_strided, bool is_cast,
             LaunchRule* rule) {
  rule->kind = LaunchSizes::Kind::kElements;
  rule->flops = functor.flops;
  rule->does_no_flops = functor.flops && functor.flops->bounds == Bounds{0, 0};
  if (is_cast) return;
  rule->bytes = BytesOfElement(functor, operands, is_strided);
  if (functor.has_number) rule->most_bytes_beside = kWidestNumber;
  const DType type = functor.inputs.empty() ? functor.result : functor.inputs.front();
  if (type != DType::kUnknown) rule->dtype = DTypeWord(type);
}

// "std::array<char*, 3ul>", "at::detail::Array<char*, 3>" -> 3; 0: not told.
int64_t OperandsOf(std::string_view array) {
  for (const std::string_view name : {"array", "Array"}) {
    const std::vector<std::string_view> arguments = TemplateArguments(array, name);
    if (arguments.size() == 2) return TemplateNumber(arguments[1]).value_or(0);
  }
  return 0;
}

LaunchRule::Written WrittenBy(const Functor& functor) {
  constexpr std::string_view kActivations[] = {"clamp_min", "gelu",      "silu",
                                               "threshold", "hardswish", "leaky_relu"};
  using enum LaunchRule::Written;
  if (functor.inputs.empty() || (functor.op == "add" && functor.has_number)) return kUnrelated;
  if (functor.op == "threshold" && functor.inputs.size() == 2) return kReluGradient;
  if (functor.op == "add" && functor.inputs.size() == 2) return kSum;
  const bool is_activation = std::find(std::begin(kActivations), std::end(kActivations),
                                       functor.op) != std::end(kActivations);
  return functor.inputs.size() == 1 && is_activation ? kActivation : kAny;
}

std::optional<LaunchRule> VectorizedRule(std::string_view name) {
  const auto arguments = TemplateArguments(name, "vectorized_elementwise_kernel");
  if (arguments.size() != 3) return std::nullopt;
  const std::optional<int64_t> width = TemplateNumber(arguments[0]);
  if (!width || *width < 1 || *width > 16) return std::nullopt;
  const Functor functor = FunctorOf(arguments[1]);
  LaunchRule rule;
  SetWork(functor, OperandsOf(arguments[2]), false, false, &rule);
  SetVectorized(arguments[2], *width, functor, &rule);
  rule.written = WrittenBy(functor);
  return rule;
}

std::optional<LaunchRule> UnrolledRule(std::string_view name) {
  const auto arguments = TemplateArguments(name, "unrolled_elementwise_kernel");
  if (arguments.size() < 3) return std::nullopt;
  const std::optional<int64_t> given = TemplateNumber(arguments[2]);
  const int64_t per_thread = given.value_or(4);
  if (per_thread < 1 || per_thread > 64) return std::nullopt;
  LaunchRule rule;
  const Functor functor = FunctorOf(arguments[0]);
  SetWork(functor, OperandsOf(arguments[1]), true,
          NameHolds(name, "LoadWithCast<") || NameHolds(name, "StoreWithCast<"), &rule);
  if (functor.inputs.empty()) rule.written = LaunchRule::Written::kUnrelated;
  rule.per_thread = rule.per_thread_on_amd = {per_thread, per_thread};
  return rule;
}

// elementwise_kernel<threads, per thread, gpu_kernel_impl_nocast<functor>(..)::{lambda(int)#1}>
std::optional<LaunchRule> StridedRule(std::string_view name) {
  for (const std::string_view kernel : {"elementwise_kernel", "elementwise_kernel_manual_unroll"}) {
    const auto arguments = TemplateArguments(name, kernel);
    if (arguments.size() < 3) continue;
    const std::optional<int64_t> threads = TemplateNumber(arguments[0]);
    const std::optional<int64_t> per_thread = TemplateNumber(arguments[1]);
    if (!threads || !per_thread || *threads < 1 || *threads > 1024 || *per_thread < 1 ||
        *per_thread > 64) {
      return std::nullopt;
    }
    LaunchRule rule;
    const auto nocast = TemplateArguments(arguments[2], "gpu_kernel_impl_nocast");
    const auto any = TemplateArguments(arguments[2], "gpu_kernel_impl");
    const std::string_view functor = !nocast.empty() ? nocast[0]
                                     : !any.empty()  ? any[0]
                                                     : arguments[2];
    SetWork(FunctorOf(functor), 0, true, nocast.empty(), &rule);
    rule.threads = *threads;
    rule.per_thread = rule.per_thread_on_amd = {*per_thread, *per_thread};
    return rule;
  }
  return std::nullopt;
}

// index_elementwise_kernel<threads, per thread, functor>: an element of n is one index.
std::optional<LaunchRule> IndexRule(std::string_view name) {
  const auto arguments = TemplateArguments(name, "index_elementwise_kernel");
  if (arguments.size() < 3) return std::nullopt;
  const std::optional<int64_t> threads = TemplateNumber(arguments[0]);
  const std::optional<int64_t> per_thread = TemplateNumber(arguments[1]);
  if (!threads || !per_thread || *threads < 1 || *threads > 1024 || *per_thread < 1 ||
      *per_thread > 64) {
    return std::nullopt;
  }
  LaunchRule rule;
  rule.kind = LaunchSizes::Kind::kElements;
  rule.threads = *threads;
  rule.per_thread = rule.per_thread_on_amd = {*per_thread, *per_thread};
  constexpr std::string_view kMoves[] = {"index_kernel_impl<", "index_put_kernel_impl<",
                                         "index_copy_kernel_impl<", "take_kernel"};
  rule.does_no_flops = std::any_of(std::begin(kMoves), std::end(kMoves),
                                   [&](std::string_view word) { return NameHolds(name, word); });
  return rule;
}

// elementwise_kernel_with_index<int, functor>: ranges, one element for a thread.
std::optional<LaunchRule> RangeRule(std::string_view name) {
  const auto arguments = TemplateArguments(name, "elementwise_kernel_with_index");
  if (arguments.size() < 2) return std::nullopt;
  constexpr std::string_view kRanges[] = {"arange_cuda_out", "range_cuda_out", "linspace_cuda_out",
                                          "logspace_cuda_out"};
  LaunchRule rule;
  rule.kind = LaunchSizes::Kind::kElements;
  rule.per_thread = rule.per_thread_on_amd = {1, 1};
  rule.does_no_flops =
      std::any_of(std::begin(kRanges), std::end(kRanges),
                  [&](std::string_view word) { return NameHolds(arguments[1], word); });
  return rule;
}

}  // namespace

std::optional<LaunchRule> ElementwiseRuleOf(std::string_view kernel_name) {
  if (!NameHolds(kernel_name, "elementwise_kernel")) return std::nullopt;
  using Reader = std::optional<LaunchRule> (*)(std::string_view);
  for (const Reader read : {VectorizedRule, UnrolledRule, StridedRule, IndexRule, RangeRule}) {
    if (std::optional<LaunchRule> rule = read(kernel_name)) return rule;
  }
  return std::nullopt;
}

}  // namespace oplens::ops
