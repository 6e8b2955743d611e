#ifndef OPLENS_BASE_WRITE_ALL_H_
#define OPLENS_BASE_WRITE_ALL_H_

#include <string_view>

namespace oplens {

/// Writes all of `bytes`, however many calls that takes and whatever signals come. False where one
/// fails: `errno` says why.
bool WriteAll(int fd, std::string_view bytes);

}  // namespace oplens

#endif  // OPLENS_BASE_WRITE_ALL_H_
