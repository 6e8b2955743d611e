#ifndef OPLENS_BASE_ASCII_H_
#define OPLENS_BASE_ASCII_H_

namespace oplens {

/// Whether `c` is one of 0 to 9, whatever the locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace oplens

#endif  // OPLENS_BASE_ASCII_H_
