#ifndef OPLENS_OPLENS_COMMANDS_H_
#define OPLENS_OPLENS_COMMANDS_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace oplens::screen {

/// A word behind `oplens`, or the name of a link to it: what runs then.
struct Command {
  std::string_view word;
  std::string_view arguments;  ///< As help shows them.
  std::string_view help;       ///< One line.
  /// Takes what main() would get, and returns the exit code.
  std::function<int(int argc, char** argv)> run;
  bool has_link = false;  ///< A program has this name, after the prefix of installed names.
};

/// All commands, in the order in which they are listed.
std::span<const Command> Commands();

/// Null for a word that is no command.
const Command* FindCommand(std::string_view word);

/// The program that was started as `path`, argv[0]; null for `oplens` and any other name.
const Command* FindProgram(std::string_view path);

/// The command that `word` probably means, by its letters; "" if none is near.
std::string_view NearCommand(std::string_view word);

/// What `oplens` prints without arguments: a line per command.
std::string ListOfCommands();

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_COMMANDS_H_
