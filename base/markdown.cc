#include "base/markdown.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"

namespace oplens {
namespace {

/// The longest run of backticks.
size_t LongestTicks(std::string_view text) {
  size_t longest = 0;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// Splits a text node, so that nothing that spans the place becomes a link or a mention.
/// Backslashes do not keep GitHub from that: it looks at the text after they are gone.
constexpr std::string_view kSplit = "<!-- -->";

bool IsWord(char c) { return IsLetter(c) || IsDigit(c); }

/// Whether `text[at]` must follow a backslash.
bool IsMarkup(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == '_') {
    // Within a word it is no emphasis.
    return at == 0 || at + 1 == text.size() || !IsWord(text[at - 1]) || !IsWord(text[at + 1]);
  }
  return std::string_view("\\`*[]<>|~&$#").find(c) != std::string_view::npos;
}

/// Whether the character at `at` begins a list, or underlines a heading, at the start of a line.
bool StartsBlock(std::string_view text, size_t at) {
  if (at == 0) return std::string_view("-+=").find(text[0]) != std::string_view::npos;
  const bool digits = std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at),
                                  [](char c) { return IsDigit(c); });
  const bool ends = at + 1 == text.size() || text[at + 1] == ' ';
  return digits && ends && (text[at] == '.' || text[at] == ')');
}

/// Whether the text must be split behind the character at `at`.
bool Links(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  const auto begins = [](std::string_view part, std::string_view lower) {
    return ToLowerText(part.substr(0, lower.size())) == lower;
  };
  return rest.front() == '@' || rest.front() == '#' || rest.starts_with("://") ||
         begins(rest, "www.") ||
         (rest.front() == '-' && at >= 2 && begins(text.substr(at - 2), "gh-"));
}

}  // namespace

void AppendMarkdownCode(std::string_view name, std::string* out) {
  std::string valid;
  AppendUtf8(name, Utf8Hidden::kControls, &valid);
  if (valid.empty()) return;
  const std::string ticks(LongestTicks(valid) + 1, '`');
  // One blank on both sides is taken away.
  const auto padded = [](char c) { return c == '`' || c == ' '; };
  const bool pads = padded(valid.front()) || padded(valid.back());
  out->append(ticks).append(pads ? " " : "");
  for (const char c : valid) {
    if (c == '|') out->push_back('\\');
    out->push_back(c);
  }
  out->append(pads ? " " : "").append(ticks);
}

void AppendMarkdownText(std::string_view text, std::string* out) {
  std::string valid;
  AppendUtf8(text, Utf8Hidden::kControls, &valid);
  for (size_t at = 0; at < valid.size(); ++at) {
    if (IsMarkup(valid, at) || StartsBlock(valid, at)) out->push_back('\\');
    out->push_back(valid[at]);
    if (Links(valid, at)) out->append(kSplit);
  }
}

void AppendMarkdownBlock(std::string_view lines, std::string* out) {
  const std::string fence(std::max<size_t>(LongestTicks(lines) + 1, 3), '`');
  out->append(fence).append("text\n");
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    AppendUtf8(lines.substr(0, end), Utf8Hidden::kControls, out);
    out->push_back('\n');
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  out->append(fence).append("\n");
}

}  // namespace oplens
