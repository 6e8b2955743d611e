#ifndef OPLENS_PROF_WHERE_MARKED_ERROR_H_
#define OPLENS_PROF_WHERE_MARKED_ERROR_H_

#include <cstddef>
#include <string_view>

namespace oplens::prof {

/// Throws UsageError: what is wrong with the text given to `option` ("--where"), with the part of
/// the text around `place` and a mark below it.
[[noreturn]] void FailAt(std::string_view option, std::string_view what, std::string_view text,
                         size_t place);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_WHERE_MARKED_ERROR_H_
