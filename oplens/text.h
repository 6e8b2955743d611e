#ifndef OPLENS_OPLENS_TEXT_H_
#define OPLENS_OPLENS_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::screen {

// Fitting text into columns. A character is a code point.

/// Makes any text valid UTF-8 without control characters.
std::string Shown(std::string_view text);
/// The number of characters of valid UTF-8.
size_t Width(std::string_view text);
/// Truncates `text` to `width` characters, with "..." in place of the cut part.
std::string CutRight(std::string_view text, size_t width);
std::string CutLeft(std::string_view text, size_t width);
/// Pads with blanks to `width`.
std::string PadRight(std::string text, size_t width);
std::string PadLeft(std::string text, size_t width);
/// Wraps `text` at blanks into lines of at most `width` characters; lines after the first are
/// indented by `indent` blanks. Cuts words that do not fit.
std::vector<std::string> Wrap(std::string_view text, size_t indent, size_t width);

/// "4.04 ms": at least three digits, in a suitable unit.
std::string TimeText(double ns);
/// A rate with three digits: "0.73", "64.7", "712".
std::string RateText(double value);
/// One decimal: "92.1".
std::string PercentText(double pct);

/// `name` quoted for a shell if needed.
std::string ShellWord(std::string_view name);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_TEXT_H_
