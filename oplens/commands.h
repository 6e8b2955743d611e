#ifndef OPLENS_OPLENS_COMMANDS_H_
#define OPLENS_OPLENS_COMMANDS_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace oplens::screen {

/// A command: a word after `oplens`, or the name of a link to it.
struct Command {
  std::string_view word;
  std::string_view arguments;
  std::string_view help;  ///< One line.
  /// Takes main()'s arguments and returns the exit code.
  std::function<int(int argc, char** argv)> run;
  bool has_link = false;  ///< There is a link with this name, after the prefix of installed names.
};

/// All commands, in display order.
std::span<const Command> Commands();

/// Null if `word` is no command.
const Command* FindCommand(std::string_view word);

/// The program whose link `path` (argv[0]) names; null for `oplens` and other names.
const Command* FindProgram(std::string_view path);

/// The command that `word` is a misspelling of; "" if none is similar.
std::string_view NearCommand(std::string_view word);

/// The output of `oplens` without arguments: one line per command.
std::string ListOfCommands();

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_COMMANDS_H_
