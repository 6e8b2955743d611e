#ifndef OPLENS_OPLENS_COMMANDS_H_
#define OPLENS_OPLENS_COMMANDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::screen {

/// A word after `oplens` that runs another program of oplens.
struct Command {
  std::string_view word;
  std::string_view program;
  std::string_view option = {};  ///< The option of that program that the word stands for; "": none.
  std::string_view arguments;
  std::string_view help;  ///< One line.
};

/// All commands, in display order.
std::span<const Command> Commands();

/// Null if `word` is no command.
const Command* FindCommand(std::string_view word);

/// The command that `word` is a misspelling of; "" if none is similar.
std::string_view NearCommand(std::string_view word);

/// The help text that lists all commands.
std::string ListOfCommands();

/// Replaces this process by the program of `command`, which is in the same folder, with its option
/// and `arguments`. Returns only on failure: a sentence that says why.
std::string RunCommand(const Command& command, const std::vector<std::string>& arguments);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_COMMANDS_H_
