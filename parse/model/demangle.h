#ifndef OPLENS_PARSE_MODEL_DEMANGLE_H_
#define OPLENS_PARSE_MODEL_DEMANGLE_H_

#include <string>
#include <string_view>

namespace oplens::parse {

/// Returns the C++ signature of a mangled name ("_Z..."), or `name` if it cannot be demangled.
std::string Demangle(std::string_view name);

/// Returns PyProf's short kernel name: the signature without the return type, up to its first '<',
/// without the namespaces at, cuda, native and unnamed ones, then up to the first '('; the whole
/// name if that leaves nothing. Keeps all words of a text that is no signature ('my kernel').
/// Unnamed namespaces are "(anonymous namespace)", or "<unnamed>" in Nsight Systems.
std::string ShortKernelName(std::string_view demangled);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_MODEL_DEMANGLE_H_
