#include "oplens/lines.h"

#include <utility>

#include "oplens/text.h"

namespace oplens::screen {
namespace {

std::string_view EscapeOf(Style style) {
  switch (style) {
    case Style::kTitle:
      return "\x1b[1m";
    case Style::kQuiet:
      return "\x1b[2m";
    case Style::kPlain:
      break;
  }
  return {};
}

}  // namespace

void AddWrapped(std::string_view text, size_t indent, size_t columns, size_t most, Section* lines) {
  std::vector<std::string> texts = Wrap(text, indent, columns);
  if (texts.size() > most && most > 0) {
    // Mark the cut.
    texts[most - 1] = CutRight(texts[most - 1] + " " + texts[most].substr(indent), columns);
    if (!texts[most - 1].ends_with("...")) {
      texts[most - 1] = CutRight(texts[most - 1] + " ...", columns);
    }
    texts.resize(most);
  }
  for (std::string& line : texts) lines->push_back({Style::kPlain, std::move(line)});
}

std::string JoinSections(const std::vector<Section>& sections, size_t most, bool colours) {
  size_t count = 0;
  for (const Section& section : sections) count += section.size();
  const bool spaced = count + sections.size() <= most + 1;
  constexpr std::string_view kPlainAgain = "\x1b[0m";
  std::string text;
  size_t left = most;
  for (size_t i = 0; i < sections.size(); ++i) {
    if (i > 0 && spaced) text.push_back('\n');
    for (const Line& line : sections[i]) {
      if (left == 0) return text;
      if (!spaced) --left;
      const std::string_view escape = colours ? EscapeOf(line.style) : std::string_view();
      text.append(escape).append(line.text);
      if (!escape.empty()) text.append(kPlainAgain);
      text.push_back('\n');
    }
  }
  return text;
}

}  // namespace oplens::screen
