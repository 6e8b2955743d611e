#include "base/shortage.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace oplens {
namespace {

constexpr std::string_view kNoMemoryProblem = "there is not enough memory";
constexpr std::string_view kMemoryAdvice =
    "raise the limit (ulimit -v, the container's) or take a machine with more; of several files a "
    "smaller --jobs takes less";

/// The advice for an exhausted resource; "" for other errors.
std::string_view AdviceOfShortage(int error_number) {
  switch (error_number) {
    case EMFILE:
      return "raise the limit of open files: ulimit -n";
    case ENFILE:
      return "the whole system has no more: close other programs";
    case ENOMEM:
    case EAGAIN:
      return kMemoryAdvice;
    default:
      return {};
  }
}

}  // namespace

std::string NoMemoryText() { return fmt::format("{}; {}", kNoMemoryProblem, kMemoryAdvice); }

Error NoMemory(std::string_view file) { return Error(file, kNoMemoryProblem, kMemoryAdvice); }

Error SystemError(std::string_view file, std::string_view problem, int error_number,
                  std::string_view advice) {
  const std::string_view shortage = AdviceOfShortage(error_number);
  return Error(file, fmt::format("{}: {}", problem, std::strerror(error_number)),
               shortage.empty() ? advice : shortage);
}

}  // namespace oplens
