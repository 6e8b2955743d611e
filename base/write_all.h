#ifndef OPLENS_BASE_WRITE_ALL_H_
#define OPLENS_BASE_WRITE_ALL_H_

#include <string_view>

namespace oplens {

/// Writes all of `bytes`, whatever the number of calls or signals. On failure returns false and
/// sets `errno`.
bool WriteAll(int fd, std::string_view bytes);

}  // namespace oplens

#endif  // OPLENS_BASE_WRITE_ALL_H_
