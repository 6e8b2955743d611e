#include "base/help_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_text.h"
#include "base/manual.h"
#include "base/near_words.h"

namespace oplens {
namespace {

/// `text` in single quotes for a shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string FunctionName(std::string_view name) {
  std::string function = "_oplens_complete_";
  for (const char c : name) function += c == '-' ? '_' : c;
  return function;
}

std::string Joined(const std::vector<WordText>& words) {
  std::string joined;
  for (const WordText& word : words) joined.append(joined.empty() ? "" : " ").append(word.word);
  return joined;
}

// Common to all programs: the current word, which bash splits at "=".
constexpr std::string_view kBashHead =
    R"(  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local words='' several='' files='' at
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
)";

constexpr std::string_view kBashTail = R"(  if [[ -n $files ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    compopt -o filenames 2>/dev/null
    return
  fi
  if [[ -n $several && $cur == *,* ]]; then
    mapfile -t COMPREPLY < <(compgen -P "${cur%,*}," -W "$words" -- "${cur##*,}")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  fi
  if [[ -n $several ]]; then compopt -o nospace 2>/dev/null; fi
}
)";

// For programs that run a command: completes it after "--".
constexpr std::string_view kBashCommand = R"(  for ((at = 1; at < COMP_CWORD; ++at)); do
    if [[ ${COMP_WORDS[at]} == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((at + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
        compopt -o filenames 2>/dev/null
      fi
      return
    fi
  done
)";

/// First words that name another program.
std::vector<std::string> OtherPrograms(const ProgramText& text) {
  std::vector<std::string> programs;
  for (const WordText& word : text.first_words) {
    const bool known =
        std::find(text.see_also.begin(), text.see_also.end(), word.word) != text.see_also.end();
    if (known) programs.push_back(word.word);
  }
  return programs;
}

std::string Joined(const std::vector<std::string>& words, std::string_view between) {
  std::string joined;
  for (const std::string& word : words) joined.append(joined.empty() ? "" : between).append(word);
  return joined;
}

/// After the name of another program, calls that program's completion function, loading it if
/// needed.
std::string BashOtherPrograms(const ProgramText& text, std::string_view prefix) {
  const std::vector<std::string> programs = OtherPrograms(text);
  if (programs.empty()) return "";
  const std::string name = std::string(prefix) + "${COMP_WORDS[1]}";
  return "  if ((COMP_CWORD > 1)); then\n    case ${COMP_WORDS[1]} in\n      " +
         Joined(programs, " | ") + ")\n        at=" + FunctionName(prefix) +
         "${COMP_WORDS[1]}\n        declare -F \"$at\" >/dev/null || _completion_loader \"" + name +
         "\" 2>/dev/null\n        if declare -F \"$at\" >/dev/null; then\n"
         "          COMP_WORDS=(\"${COMP_WORDS[@]:1}\")\n          COMP_CWORD=$((COMP_CWORD - 1))\n"
         "          \"$at\"\n          return\n        fi\n        ;;\n    esac\n  fi\n";
}

/// The lines of a `case` for an option with a value.
std::string BashCase(const ProgramText& text, const OptionText& option) {
  std::string pattern;
  for (const std::string& name : option.Names()) {
    pattern.append(pattern.empty() ? "" : " | ").append(name);
  }
  bool several = false;
  const std::vector<WordText> words = ValueWords(text, option, &several);
  std::string body;
  if (!words.empty()) {
    body = "words=" + Quoted(Joined(words));
    if (several) body += " several=1";
  } else {
    body = option.TakesFile() ? "files=1" : "return";
  }
  return "    " + pattern + ") " + body + " ;;\n";
}

/// Escapes a text for the brackets of a description.
std::string ZshDescription(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string ZshFunctionName(const std::string& program, const OptionText& option) {
  return FunctionName(program) + "_" +
         (option.long_name.empty() ? option.short_name : option.long_name);
}

/// The completion of an option's value: ":WORD:ACTION".
std::string ZshValue(const std::string& program, const OptionText& option, bool words) {
  if (option.argument.empty()) return "";
  std::string action = " ";
  if (words) {
    action = ZshFunctionName(program, option);
  } else if (option.TakesFile()) {
    action = "_files";
  }
  return ":" + ZshDescription(option.argument) + ":" + action;
}

/// A function for _arguments that completes the words of a value.
std::string ZshFunction(const std::string& program, const OptionText& option,
                        const std::vector<WordText>& words, bool several) {
  std::string function = ZshFunctionName(program, option) + "() {\n";
  function += several ? "  _values -s , " : "  _values ";
  function += Quoted(ZshDescription(option.argument));
  for (const WordText& word : words) {
    std::string value = ZshDescription(word.word);
    if (!word.text.empty()) value += "[" + ZshDescription(word.text) + "]";
    function += " \\\n    " + Quoted(value);
  }
  return function + "\n}\n";
}

std::string ZshOption(const std::string& program, const OptionText& option, bool words) {
  const std::vector<std::string> names = option.Names();
  const std::string rest =
      Quoted("[" + ZshDescription(option.text) + "]" + ZshValue(program, option, words));
  if (names.size() == 1) {
    // An option with a value takes both "--view VALUE" and "--view=VALUE".
    const std::string equals = !option.argument.empty() && names[0].starts_with("--") ? "=" : "";
    return Quoted("*" + names[0] + equals) + rest;
  }
  const std::string equals = option.argument.empty() ? "" : "=";
  return "{" + names[0] + "," + names[1] + equals + "}" + rest;
}

std::string Manual(const ProgramText& text, const std::vector<OptionGroup>& options,
                   const std::string& value) {
  const size_t comma = std::min(value.find(','), value.size());
  const std::string kind = value.substr(0, comma);
  const std::string prefix = comma < value.size() ? value.substr(comma + 1) : "";
  if (kind == "man") return ManualPage(text, options, prefix, OPLENS_VERSION);
  if (kind == "bash") return BashCompletion(text, options, prefix);
  if (kind == "zsh") return ZshCompletion(text, options, prefix);
  throw UsageError("--manual: there is no '" + kind + "'; give man, bash or zsh");
}

/// cxxopts' message about a wrong command line, with suggestions for an unknown option.
std::string WrongOption(const cxxopts::Options& declared, std::string_view said) {
  std::string text(said);
  const size_t begin = said.find(cxxopts::LQUOTE);
  const size_t end = said.find(cxxopts::RQUOTE);
  if (begin == said.npos || end == said.npos || !said.ends_with("does not exist")) return text;
  const size_t name = begin + cxxopts::LQUOTE.size();
  std::vector<std::string_view> names;
  for (const std::string& group : declared.groups()) {
    for (const auto& option : declared.group_help(group).options) {
      names.insert(names.end(), option.l.begin(), option.l.end());
    }
  }
  const auto near = NearNames(said.substr(name, end - name), names);
  for (const std::string_view option : near) {
    text += fmt::format("{}--{}", option == near.front() ? ": " : " or ", option);
  }
  return near.empty() ? text : text + "?";
}

}  // namespace

std::string BashCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                           std::string_view prefix) {
  const std::string name = InstalledName(text.name, prefix);
  std::string script = "# Completion of " + name + " for bash; made by " + text.name +
                       " --manual bash.\n" + FunctionName(name) + "() {\n" + std::string(kBashHead);
  if (text.runs_command) script += kBashCommand;
  script += BashOtherPrograms(text, prefix);
  std::string names;
  script += "  case $prev in\n";
  for (const OptionGroup& group : options) {
    for (const OptionText& option : group.options) {
      for (const std::string& word : option.Names()) {
        names.append(names.empty() ? "" : " ").append(word);
      }
      if (!option.argument.empty()) script += BashCase(text, option);
    }
  }
  script += "    *)\n      if [[ $cur == -* ]]; then\n        words=" + Quoted(names) +
            "\n      else\n        files=1\n      fi\n      ;;\n  esac\n";
  if (!text.first_words.empty()) {
    script +=
        "  if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n    mapfile -t COMPREPLY < <(compgen "
        "-f -W " +
        Quoted(Joined(text.first_words)) +
        " -- \"$cur\")\n    compopt -o filenames 2>/dev/null\n    return\n  fi\n";
  }
  script += kBashTail;
  return script + "complete -F " + FunctionName(name) + " " + name + "\n";
}

std::string ZshCompletion(const ProgramText& text, const std::vector<OptionGroup>& options,
                          std::string_view prefix) {
  const std::string name = InstalledName(text.name, prefix);
  std::string functions;
  std::string arguments;
  for (const OptionGroup& group : options) {
    for (const OptionText& option : group.options) {
      bool several = false;
      const std::vector<WordText> words = ValueWords(text, option, &several);
      if (!words.empty()) functions += ZshFunction(name, option, words, several);
      arguments += " \\\n    " + ZshOption(name, option, !words.empty());
    }
  }
  std::string rest = text.runs_command ? "'*:::command: _normal'" : "'*:file:_files'";
  std::string others;
  if (!text.first_words.empty()) {
    rest = Quoted("1:program or file:_alternative \"words:word:(" + Joined(text.first_words) +
                  ")\" \"files:file:_files\"") +
           " \\\n    '*:file:_files'";
    // Completes as if the line began with the other program's name.
    others =
        "  if (( CURRENT > 2 )) && [[ ${words[2]} == (" + Joined(OtherPrograms(text), "|") +
        ") ]]; then\n    shift words\n    (( CURRENT -= 1 ))\n    words[1]=" + std::string(prefix) +
        "${words[1]}\n    _normal\n    return\n  fi\n";
  }
  return "#compdef " + name + "\n# Completion of " + name + " for zsh; made by " + text.name +
         " --manual zsh.\n" + functions + FunctionName(name) + "() {\n" + others +
         "  _arguments -s -S" + arguments + " \\\n    " + rest + "\n}\n" + FunctionName(name) +
         " \"$@\"\n";
}

void AddHelpOptions(cxxopts::Options* options) {
  options->add_options(kHelpOptions)("h,help", "Print this text")("version", "Print the version")(
      "manual", "Print the manual page, or the completion for a shell",
      cxxopts::value<std::string>(), "man|bash|zsh");
}

std::optional<std::string> HelpMessage(const ProgramText& text, const cxxopts::Options& options,
                                       const cxxopts::ParseResult& given) {
  if (given.count("help") > 0) {
    return HelpText(text, ShownOptions(text, options), HelpColumns());
  }
  if (given.count("version") > 0) return text.name + " (oplens) " + OPLENS_VERSION + "\n";
  if (given.count("manual") > 0) {
    return Manual(text, ShownOptions(text, options), given["manual"].as<std::string>());
  }
  return std::nullopt;
}

void ReadCommandLine(cxxopts::Options* declared, int argc, const char* const* argv,
                     std::string_view hint,
                     const std::function<void(const cxxopts::ParseResult& given)>& read) {
  try {
    read(declared->parse(argc, argv));
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(fmt::format("{}; {}", WrongOption(*declared, error.what()), hint));
  }
}

std::string_view GivenText(const cxxopts::ParseResult& given, const std::string& option) {
  if (given.count(option) == 0) return {};
  return given[option].as<std::string>();
}

std::string GivenFile(const cxxopts::ParseResult& given, const std::string& option) {
  std::string file(GivenText(given, option));
  if (file.empty() && given.count(option) > 0) {
    throw UsageError((option == "output" ? "-o" : "--" + option) +
                     ": the name of the file is empty");
  }
  return file;
}

}  // namespace oplens
