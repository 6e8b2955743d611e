#include "parse/model/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace oplens::parse {
namespace {

// Demanglers' spellings of an unnamed namespace.
constexpr std::string_view kUnnamed = "(anonymous namespace)";
constexpr std::string_view kOtherUnnamed = "<unnamed>";

/// Runs in one pass: names may be long.
std::string ReplaceAll(std::string_view part, std::string_view with, std::string_view text) {
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, done)) {
    result.append(text, done, at - done).append(with);
    done = at + part.size();
  }
  return result.append(text, done);
}

/// Whether a function's own name may begin so: no digit or sign first, and parameters or template
/// arguments follow. False for words that are no signature.
bool BeginsFunction(std::string_view rest) {
  constexpr std::string_view kNoBeginnings = "\"'`0123456789!#%&()*+,-./:;<=>?@[\\]^{|} ";
  if (rest.starts_with(kUnnamed)) return true;
  return !rest.empty() && kNoBeginnings.find(rest.front()) == std::string_view::npos &&
         rest.find_first_of("(<") != std::string_view::npos;
}

/// Returns where the function's own name starts in a signature: behind the return type, i.e. after
/// the last blank outside brackets and before the parameter list. 0 if it is no signature.
size_t StartOfName(std::string_view signature) {
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < signature.size(); ++i) {
    const char c = signature[i];
    if (signature.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (depth == 0 && c == '(') {
      break;
    } else if (depth == 0 && signature.substr(i).starts_with("operator")) {
      break;  // A blank or a bracket of its name may follow.
    } else if (c == '<' || c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ' ' && depth == 0) {
      start = i + 1;
    }
  }
  return depth < 0 || !BeginsFunction(signature.substr(start)) ? 0 : start;
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
  const std::string signature = ReplaceAll(kOtherUnnamed, kUnnamed, demangled);
  const std::string_view own = std::string_view(signature).substr(StartOfName(signature));
  std::string name(own.substr(0, own.find('<')));
  for (const std::string_view part :
       {"void ", "at::", "cuda::", "native::", "(anonymous namespace)::"}) {
    name = ReplaceAll(part, "", name);
  }
  name = name.substr(0, name.find('('));
  return name.empty() ? std::string(demangled) : name;
}

}  // namespace oplens::parse
