#ifndef OPLENS_OPLENS_TEXT_H_
#define OPLENS_OPLENS_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::screen {

// Texts that fit into columns. A character is a code point.

/// `text` as UTF-8 without control characters, whatever a file holds.
std::string Shown(std::string_view text);
/// How many characters valid UTF-8 has.
size_t Width(std::string_view text);
/// At most `width` characters of it: what is cut on the right, or on the left, becomes "...".
std::string CutRight(std::string_view text, size_t width);
std::string CutLeft(std::string_view text, size_t width);
/// Filled with blanks up to `width`.
std::string PadRight(std::string text, size_t width);
std::string PadLeft(std::string text, size_t width);
/// Broken at blanks into lines of at most `width` characters; all but the first begin with `indent`
/// blanks. A word that does not fit is cut.
std::vector<std::string> Wrap(std::string_view text, size_t indent, size_t width);

/// "4.04 ms": three digits or more, and the unit that fits.
std::string TimeText(double ns);
/// Three digits: "0.73", "64.7", "712"; rates.
std::string RateText(double value);
/// One decimal: "92.1".
std::string PercentText(double pct);

/// A name as a shell takes it: quoted where it must be.
std::string ShellWord(std::string_view name);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_TEXT_H_
