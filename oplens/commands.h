#ifndef OPLENS_OPLENS_COMMANDS_H_
#define OPLENS_OPLENS_COMMANDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::screen {

/// A word behind `oplens` that another program of oplens answers.
struct Command {
  std::string_view word;
  std::string_view program;
  std::string_view option = {};  ///< Of it, for which the word is short; "": none.
  std::string_view arguments;    ///< As help shows them.
  std::string_view help;         ///< One line.
};

/// All of them, in the order in which they are listed.
std::span<const Command> Commands();

/// Null where it is none.
const Command* FindCommand(std::string_view word);

/// The word that `word` was meant to be, by its letters; "" where none is near.
std::string_view NearCommand(std::string_view word);

/// What can be done, in ten lines.
std::string ListOfCommands();

/// Replaces this program by that of `command`, which lies beside it, with its option and
/// `arguments`. Returns only if that fails: a sentence that says why.
std::string RunCommand(const Command& command, const std::vector<std::string>& arguments);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_COMMANDS_H_
