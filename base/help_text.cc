#include "base/help_text.h"

#include <unistd.h>

#include <algorithm>

#include "base/terminal.h"

namespace oplens {
namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kWidestOption = 24;  // Longer ones get their own line.
constexpr size_t kCommandPart = 56;   // Longer examples (in percent of a line) get their own line.

size_t LineLength(const std::string& text) {
  const size_t line = text.rfind('\n');
  return text.size() - (line == text.npos ? 0 : line + 1);
}

/// Pads to column `at`, on a new line if the current one is too long.
void GoTo(size_t at, std::string* help) {
  if (LineLength(*help) + 2 > at) {
    help->append("\n").append(at, ' ');
  } else {
    help->append(at - LineLength(*help), ' ');
  }
}

std::string NamesOf(const OptionText& option) {
  std::string names = option.short_name.empty() ? "      " : "  -" + option.short_name;
  if (!option.long_name.empty()) {
    if (!option.short_name.empty()) names += ", ";
    names += "--" + option.long_name;
  }
  if (!option.argument.empty()) names += " " + option.argument;
  return names;
}

void AppendOptions(const std::vector<OptionGroup>& groups, size_t columns, std::string* help) {
  size_t widest = 0;
  for (const OptionGroup& group : groups) {
    for (const OptionText& option : group.options) {
      const size_t width = NamesOf(option).size();
      if (width <= kWidestOption) widest = std::max(widest, width);
    }
  }
  for (const OptionGroup& group : groups) {
    help->append("\n").append(group.title).append(":\n");
    for (const OptionText& option : group.options) {
      help->append(NamesOf(option));
      GoTo(widest + 2, help);
      AppendWrapped(option.text, widest + 2, columns, help);
    }
  }
}

void AppendHelpTextExamples(const std::vector<ExampleText>& examples, size_t columns,
                            std::string* help) {
  if (examples.empty()) return;
  size_t widest = 0;
  for (const ExampleText& example : examples) {
    if (example.command.size() <= columns * kCommandPart / 100) {
      widest = std::max(widest, example.command.size());
    }
  }
  help->append("\nExamples:\n");
  for (const ExampleText& example : examples) {
    help->append("  ").append(example.command);
    GoTo(widest + 4, help);
    AppendWrapped(example.text, widest + 4, columns, help);
  }
}

}  // namespace

size_t HelpColumns() {
  const Terminal terminal = TerminalAt(STDOUT_FILENO);
  if (!terminal.is_terminal || terminal.columns <= 0) return kHelpColumns;
  return std::clamp(static_cast<size_t>(terminal.columns), kNarrowest, kHelpColumns);
}

void AppendWrapped(std::string_view text, size_t indent, size_t columns, std::string* help) {
  size_t used = LineLength(*help);
  bool first = true;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!first && used + 1 + word.size() > columns) {
      help->append("\n").append(indent, ' ');
      used = indent;
    } else if (!first) {
      help->append(" ");
      ++used;
    }
    help->append(word);
    used += word.size();
    first = false;
  }
  help->append("\n");
}

void AppendWordList(const WordList& list, size_t columns, std::string* help) {
  help->append(list.title).append(":");
  const bool told = std::any_of(list.words.begin(), list.words.end(),
                                [](const WordText& word) { return !word.text.empty(); });
  if (!told) {
    std::string words;
    for (const WordText& word : list.words) {
      words.append(words.empty() ? "" : list.several ? ", " : " ").append(word.word);
    }
    help->append("\n  ");
    AppendWrapped(words, 2, columns, help);
    return;
  }
  help->append("\n");
  size_t widest = 0;
  size_t unit = 0;
  for (const WordText& word : list.words) {
    widest = std::max(widest, word.word.size());
    if (!word.unit.empty()) unit = std::max(unit, word.unit.size() + 3);
  }
  const size_t indent = 2 + widest + 2 + unit;
  for (const WordText& word : list.words) {
    help->append("  ").append(word.word).append(widest - word.word.size() + 2, ' ');
    if (!word.unit.empty()) help->append("[").append(word.unit).append("]");
    if (LineLength(*help) < indent) help->append(indent - LineLength(*help), ' ');
    AppendWrapped(word.text, indent, columns, help);
  }
}

std::string HelpText(const ProgramText& text, const std::vector<OptionGroup>& options,
                     size_t columns) {
  std::string help = text.name + " - ";
  AppendWrapped(text.summary, 2, columns, &help);
  help += "\nUsage:\n";
  for (const std::string& form : text.synopsis) {
    help += "  " + text.name + " ";
    AppendWrapped(form, 4, columns, &help);
  }
  AppendHelpTextExamples(text.examples, columns, &help);
  AppendOptions(options, columns, &help);
  for (const std::string& paragraph : text.description) {
    help += "\n";
    AppendWrapped(paragraph, 0, columns, &help);
  }
  for (const WordList& list : text.lists) {
    if (list.title.empty()) continue;
    help += "\n";
    AppendWordList(list, columns, &help);
  }
  return help;
}

}  // namespace oplens
