#include "oplens/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/utf8.h"

namespace oplens::screen {
namespace {

constexpr std::string_view kCut = "...";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The byte position of character number `character`.
size_t PlaceOf(std::string_view text, size_t character) {
  size_t place = 0;
  for (; place < text.size(); ++place) {
    if (IsContinuation(text[place])) continue;
    if (character-- == 0) return place;
  }
  return text.size();
}

}  // namespace

std::string Shown(std::string_view text) {
  std::string shown;
  AppendUtf8(text, Utf8Hidden::kControls, &shown);
  return shown;
}

size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

std::string CutRight(std::string_view text, size_t width) {
  if (Width(text) <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(text.substr(0, PlaceOf(text, width)));
  return std::string(text.substr(0, PlaceOf(text, width - kCut.size()))).append(kCut);
}

std::string CutLeft(std::string_view text, size_t width) {
  const size_t characters = Width(text);
  if (characters <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(text.substr(PlaceOf(text, characters - width)));
  std::string cut(kCut);
  return cut.append(text.substr(PlaceOf(text, characters - width + kCut.size())));
}

std::string PadRight(std::string text, size_t width) {
  const size_t characters = Width(text);
  if (characters < width) text.append(width - characters, ' ');
  return text;
}

std::string PadLeft(std::string text, size_t width) {
  const size_t characters = Width(text);
  if (characters < width) text.insert(0, width - characters, ' ');
  return text;
}

std::vector<std::string> Wrap(std::string_view text, size_t indent, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  bool begun = false;  // The line has a word.
  size_t at = 0;
  while (at < text.size() && text[at] == ' ') line.push_back(text[at++]);
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = std::min(text.find_first_not_of(' ', end), text.size());
    if (begun && Width(line) + 1 + Width(word) > width) {
      lines.push_back(std::move(line));
      line.assign(indent, ' ');
      begun = false;
    }
    if (begun) line.push_back(' ');
    line.append(CutRight(word, width - std::min(width, Width(line))));
    begun = true;
  }
  if (begun) lines.push_back(std::move(line));
  return lines;
}

std::string TimeText(double ns) {
  struct Unit {
    double ns;
    const char* word;
  };
  static constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const Unit& unit : kUnits) {
    // A value that would be rounded up to 1000 takes the larger unit.
    if (std::abs(ns) >= unit.ns * 0.9995) {
      return fmt::format("{} {}", RateText(ns / unit.ns), unit.word);
    }
  }
  return fmt::format("{:.0f} ns", ns);
}

std::string RateText(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size > 0 && size < 0.005) return "<0.01";
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  if (size < 1e7) return fmt::format("{:.0f}", value);
  return fmt::format("{:.1e}", value);
}

std::string PercentText(double pct) {
  if (pct > 0 && pct < 0.05) return "<0.1";
  return fmt::format("{:.1f}", pct);
}

std::string ShellWord(std::string_view name) {
  const auto plain = [](char c) {
    return IsLetter(c) || IsDigit(c) ||
           std::string_view("_-./=+,:@%").find(c) != std::string_view::npos ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  if (!name.empty() && std::ranges::all_of(name, plain)) return std::string(name);
  std::string quoted = "'";
  for (const char c : name) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "'";
}

}  // namespace oplens::screen
