#ifndef OPLENS_PROF_COMMANDS_H_
#define OPLENS_PROF_COMMANDS_H_

#include <string_view>
#include <vector>

namespace oplens::prof {

/// A task of `prof` as a command of `oplens`: it knows only the options that the task takes.
struct Command {
  std::string_view word;
  std::string_view arguments;  ///< As help shows them.
  std::string_view help;       ///< One line.
};

/// In the order in which help lists them.
std::vector<Command> Commands();

/// Runs the command, one of Commands(); argv[0] is not read. Returns the exit code.
int RunCommand(std::string_view word, int argc, char** argv);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMMANDS_H_
