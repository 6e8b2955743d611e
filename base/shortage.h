#ifndef OPLENS_BASE_SHORTAGE_H_
#define OPLENS_BASE_SHORTAGE_H_

#include <string>
#include <string_view>

#include "base/error.h"

namespace oplens {

/// The message for exhausted memory, without a file name.
std::string NoMemoryText();
/// The error for exhausted memory while reading `file`.
Error NoMemory(std::string_view file);

/// "FILE: PROBLEM: strerror; advice". If a system resource such as descriptors is exhausted, the
/// advice for that replaces `advice`.
Error SystemError(std::string_view file, std::string_view problem, int error_number,
                  std::string_view advice);

}  // namespace oplens

#endif  // OPLENS_BASE_SHORTAGE_H_
