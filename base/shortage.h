#ifndef OPLENS_BASE_SHORTAGE_H_
#define OPLENS_BASE_SHORTAGE_H_

#include <string>
#include <string_view>

#include "base/error.h"

namespace oplens {

/// What is said where the system has no more memory, without a file.
std::string NoMemoryText();
/// The same of the file that is being read.
Error NoMemory(std::string_view file);

/// "FILE: PROBLEM: what errno says; advice". Where the system has no more of something, such as
/// descriptors, what to do about that stands in the place of `advice`.
Error SystemError(std::string_view file, std::string_view problem, int error_number,
                  std::string_view advice);

}  // namespace oplens

#endif  // OPLENS_BASE_SHORTAGE_H_
