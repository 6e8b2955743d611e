#include "ops/kernels/name_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "ops/kernels/function_name.h"
#include "ops/kernels/name_facts.h"
#include "ops/kernels/template_arguments.h"

namespace oplens::ops {
namespace {

/// Templates around the functor that is looked for.
constexpr std::string_view kWrappers[] = {
    "BinaryFunctor",          "AUnaryFunctor",    "BUnaryFunctor",     "gpu_kernel_impl",
    "gpu_kernel_impl_nocast", "gpu_index_kernel", "gpu_reduce_kernel", "ReduceOp",
    "func_wrapper_t"};

/// What a word ends in that names an operation.
constexpr std::string_view kEnds[] = {"Functor",     "functor",  "_impl",     "Impl",
                                      "kernel_cuda", "_kernel",  "Kernel",    "Ops",
                                      "Op",          "Epilogue", "_to_device"};
/// What such a word may also begin with.
constexpr std::string_view kBegins[] = {"CUDAFunctor_", "cutlass_", "direct_copy"};

/// Operations of the C++ library that a functor applies.
constexpr std::string_view kOperations[] = {"plus", "minus", "multiplies", "divides"};

constexpr size_t kLongestWord = 160;

bool IsOfWord(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c) || c == '_'; }

bool NamesOperation(std::string_view word, std::string_view function) {
  if (word.empty() || word.size() > kLongestWord || IsDigit(word.front()) || word == function ||
      std::find(std::begin(kWrappers), std::end(kWrappers), word) != std::end(kWrappers)) {
    return false;
  }
  const auto begins = [&](std::string_view part) {
    return word.size() > part.size() && word.starts_with(part);
  };
  const auto ends = [&](std::string_view part) {
    return word.size() > part.size() && word.ends_with(part);
  };
  return std::any_of(std::begin(kBegins), std::end(kBegins), begins) ||
         std::any_of(std::begin(kEnds), std::end(kEnds), ends);
}

/// The first word of `text` for which `is` holds, and where it ends; "": none.
template <typename Is>
std::string_view FirstWord(std::string_view text, Is is) {
  for (size_t at = 0; at < text.size();) {
    if (!IsOfWord(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsOfWord(text[end])) ++end;
    if (is(text.substr(at, end - at))) return text.substr(at, end - at);
    at = end;
  }
  return {};
}

std::string TileOf(std::string_view kernel_name, std::string_view function) {
  const NameFacts facts = NameFactsOf(kernel_name);
  if (!facts.tile_m && !facts.tile_n) return {};
  const auto text = [](const std::optional<int64_t>& size) {
    return size ? fmt::format("{}", *size) : std::string("?");
  };
  const std::string plane = text(facts.tile_m) + "x" + text(facts.tile_n);
  if (function.find(plane) != std::string_view::npos) return {};
  return "tile=" + plane + "x" + text(facts.tile_k);
}

}  // namespace

std::string NameVariantOf(std::string_view kernel_name) {
  if (kernel_name.find('<') == std::string_view::npos) return {};
  const std::string path = FunctionOf(kernel_name);
  const size_t last = path.rfind("::");
  const std::string_view function =
      std::string_view(path).substr(last == std::string::npos ? 0 : last + 2);
  const std::vector<std::string_view> arguments = TemplateArguments(kernel_name, function);
  if (arguments.empty()) return {};
  const auto names = [&](std::string_view word) { return NamesOperation(word, function); };
  for (const std::string_view argument : arguments) {
    const std::string_view word = FirstWord(argument, names);
    if (word.empty()) continue;
    std::string variant(word);
    for (const std::string_view other : arguments) {
      if (!other.starts_with("std::")) continue;
      const std::string_view operation = FirstWord(other.substr(5), [](std::string_view each) {
        return std::find(std::begin(kOperations), std::end(kOperations), each) !=
               std::end(kOperations);
      });
      if (operation.empty()) continue;
      variant += ",";
      variant += operation;
      break;
    }
    return variant;
  }
  return TileOf(kernel_name, function);
}

}  // namespace oplens::ops
