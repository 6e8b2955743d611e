#include "base/manual.h"

#include <algorithm>
#include <cctype>

namespace oplens {
namespace {

/// Escapes a text so that troff reads none of it as an instruction.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

/// A text as lines short enough to read as source; a leading full stop is escaped, so that it
/// starts no macro.
std::string Line(std::string_view text) {
  constexpr size_t kLongest = 78;
  const std::string escaped = Escaped(text);
  std::string lines;
  std::string line;
  for (size_t begin = 0; begin < escaped.size();) {
    const size_t end = std::min(escaped.find(' ', begin), escaped.size());
    const std::string word = escaped.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && line.size() + 1 + word.size() > kLongest) {
      lines += line + "\n";
      line.clear();
    }
    if (line.empty() && word.starts_with('.')) line = "\\&";
    line.append(line.empty() || line == "\\&" ? "" : " ").append(word);
  }
  return lines + line + "\n";
}

/// A text after a macro: always one line.
std::string Heading(std::string_view text) { return Escaped(text) + "\n"; }

std::string Bold(std::string_view text) { return "\\fB" + Escaped(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + Escaped(text) + "\\fR"; }

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

void AppendOption(const OptionText& option, std::string* page) {
  page->append(".TP\n");
  std::string names;
  for (const std::string& name : option.Names()) {
    names.append(names.empty() ? "" : ", ").append(Bold(name));
  }
  if (!option.argument.empty()) names.append(" ").append(Italic(option.argument));
  page->append(names).append("\n").append(Line(option.text));
}

void AppendTerm(const WordText& word, std::string* page) {
  page->append(".TP\n").append(Bold(word.word));
  if (!word.unit.empty()) page->append(" [").append(Escaped(word.unit)).append("]");
  page->append("\n").append(Line(word.text));
}

void AppendTerms(std::string_view title, const std::vector<WordText>& words, std::string* page) {
  if (words.empty()) return;
  page->append(".SH ").append(title).append("\n");
  for (const WordText& word : words) AppendTerm(word, page);
}

void AppendList(const WordList& list, std::string* page) {
  page->append(".SS ").append(Heading(list.title));
  const bool told = std::any_of(list.words.begin(), list.words.end(),
                                [](const WordText& word) { return !word.text.empty(); });
  if (told) {
    for (const WordText& word : list.words) AppendTerm(word, page);
    return;
  }
  std::string words;
  for (const WordText& word : list.words) {
    words.append(words.empty() ? "" : ", ").append(word.word);
  }
  page->append(Line(words));
}

/// Replaces program names in a command by the installed names: its first word and those after a
/// pipe.
std::string WithInstalledNames(std::string_view command, const ProgramText& text,
                               std::string_view prefix) {
  std::vector<std::string> names = text.see_also;
  names.push_back(text.name);
  std::string out;
  bool begins = true;
  while (!command.empty()) {
    const size_t end = std::min(command.find(' '), command.size());
    const std::string word(command.substr(0, end));
    const bool ours = begins && std::find(names.begin(), names.end(), word) != names.end();
    out.append(out.empty() ? "" : " ").append(ours ? InstalledName(word, prefix) : word);
    begins = word == "|" || word == "&&";
    command.remove_prefix(std::min(end + 1, command.size()));
  }
  return out;
}

void AppendManualExamples(const ProgramText& text, std::string_view prefix, std::string* page) {
  if (text.examples.empty()) return;
  page->append(".SH EXAMPLES\n");
  for (const ExampleText& example : text.examples) {
    page->append(".TP\n")
        .append(Bold(WithInstalledNames(example.command, text, prefix)))
        .append("\n")
        .append(Line(example.text));
  }
}

void AppendSeeAlso(const ProgramText& text, std::string_view prefix, std::string* page) {
  if (text.see_also.empty()) return;
  page->append(".SH SEE ALSO\n");
  for (size_t i = 0; i < text.see_also.size(); ++i) {
    page->append(".BR ")
        .append(Escaped(InstalledName(text.see_also[i], prefix)))
        .append(i + 1 < text.see_also.size() ? " (1),\n" : " (1)\n");
  }
}

}  // namespace

std::string InstalledName(std::string_view name, std::string_view prefix) {
  return name == "oplens" ? std::string(name) : std::string(prefix) + std::string(name);
}

std::string ManualPage(const ProgramText& text, const std::vector<OptionGroup>& options,
                       std::string_view prefix, std::string_view version) {
  const std::string name = InstalledName(text.name, prefix);
  std::string page = ".\\\" Made by " + Escaped(text.name) + " \\-\\-manual man.\n";
  page.append(".TH ").append(Escaped(Upper(name))).append(" 1 \"\" \"oplens ");
  page.append(version).append("\" \"User Commands\"\n");
  page.append(".nh\n.ad l\n");
  // Stays one line: the index of man pages (whatis) parses it.
  page.append(".SH NAME\n").append(Escaped(name)).append(" \\- ").append(Heading(text.summary));
  page.append(".SH SYNOPSIS\n");
  for (size_t i = 0; i < text.synopsis.size(); ++i) {
    if (i > 0) page.append(".br\n");
    page.append(Bold(name)).append("\n").append(Line(text.synopsis[i]));
  }
  page.append(".SH DESCRIPTION\n");
  bool first = true;
  for (const std::string& paragraph : text.description) {
    if (!first) page.append(".PP\n");
    page.append(Line(paragraph));
    first = false;
  }
  page.append(".SH OPTIONS\n");
  for (const OptionGroup& group : options) {
    page.append(".SS ").append(Heading(group.title));
    for (const OptionText& option : group.options) AppendOption(option, &page);
  }
  const bool lists = std::any_of(text.lists.begin(), text.lists.end(),
                                 [](const WordList& list) { return !list.title.empty(); });
  if (lists) page.append(".SH WORDS\n");
  for (const WordList& list : text.lists) {
    if (!list.title.empty()) AppendList(list, &page);
  }
  AppendManualExamples(text, prefix, &page);
  AppendTerms("EXIT STATUS", text.exit_codes, &page);
  AppendTerms("ENVIRONMENT", text.environment, &page);
  AppendTerms("FILES", text.files, &page);
  AppendSeeAlso(text, prefix, &page);
  return page;
}

}  // namespace oplens
