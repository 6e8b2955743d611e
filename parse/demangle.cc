#include "parse/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace oplens::parse {
namespace {

void RemoveAll(std::string_view part, std::string* text) {
  for (size_t at = text->find(part); at != std::string::npos; at = text->find(part, at)) {
    text->erase(at, part.size());
  }
}

}  // namespace

std::string Demangle(std::string_view name) {
  const std::string mangled(name);
  if (!name.starts_with("_Z")) return mangled;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && demangled ? std::string(demangled.get()) : mangled;
}

std::string ShortKernelName(std::string_view demangled) {
  std::string name(demangled.substr(0, demangled.find('<')));
  for (const std::string_view part :
       {"void ", "at::", "cuda::", "native::", "(anonymous namespace)::"}) {
    RemoveAll(part, &name);
  }
  name = name.substr(0, name.find('('));
  return name.empty() ? std::string(demangled) : name;
}

}  // namespace oplens::parse
