#ifndef OPLENS_PARSE_COUNTERS_KERNEL_KEY_H_
#define OPLENS_PARSE_COUNTERS_KERNEL_KEY_H_

#include <string>
#include <string_view>

namespace oplens::parse {

/// A kernel's name such that the spellings of different demanglers are equal: without return type,
/// blanks, parameters, casts and suffixes of numbers, with one word each for truth
/// values and lambdas. "void k<float, (int)4, (bool)1>(T1 *)" and "void k<float, 4, true>(float*)"
/// are both "k<float,4,1>".
std::string KernelKey(std::string_view name);

/// Whether a name is a function's own name only, as `ncu --kernel-name-base function` prints.
bool IsBareName(std::string_view name);

/// The function's own name in a KernelKey.
std::string_view BareNameOf(std::string_view key);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_COUNTERS_KERNEL_KEY_H_
