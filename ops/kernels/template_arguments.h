#ifndef OPLENS_OPS_KERNELS_TEMPLATE_ARGUMENTS_H_
#define OPLENS_OPS_KERNELS_TEMPLATE_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace oplens::ops {

/// The arguments of `function`'s first use as a template in a demangled name, trimmed:
/// "f<4, a<b, c>, d>(int)" with "f" -> "4", "a<b, c>", "d". Lambdas ("{lambda(int)#1}") and
/// signatures are parts of an argument. Empty if there is none or it is not closed.
std::vector<std::string_view> TemplateArguments(std::string_view name, std::string_view function);

/// A number as compilers print it: "4", "4u", "2ul", "(int)4"; nullopt for anything else.
std::optional<int64_t> TemplateNumber(std::string_view argument);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_TEMPLATE_ARGUMENTS_H_
