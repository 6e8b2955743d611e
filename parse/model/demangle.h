#ifndef OPLENS_PARSE_MODEL_DEMANGLE_H_
#define OPLENS_PARSE_MODEL_DEMANGLE_H_

#include <string>
#include <string_view>

namespace oplens::parse {

/// The C++ signature of a mangled name ("_Z..."); any other name, or one that cannot be demangled,
/// as it is.
std::string Demangle(std::string_view name);

/// PyProf's short kernel name: the signature without the type that the kernel returns, up to its
/// first '<', without the namespaces at, cuda, native and unnamed ones, then up to the first '('.
/// A text of several words that is no signature ('my kernel') keeps them all.
/// Where nothing is left of a name by these rules, the name itself. An unnamed namespace may be
/// spelled "(anonymous namespace)", as here, or "<unnamed>", as Nsight Systems does.
std::string ShortKernelName(std::string_view demangled);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_MODEL_DEMANGLE_H_
