#ifndef OPLENS_OPLENS_NEXT_COMMANDS_H_
#define OPLENS_OPLENS_NEXT_COMMANDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "oplens/screen.h"

namespace oplens::screen {

/// A command that is worth typing next.
struct NextCommand {
  std::string command;  ///< "prof --view idle", without its files.
  std::string why;
};

/// What fits what was found, the most important first: at most `most`.
std::vector<NextCommand> NextCommands(const Screen& screen, size_t most);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_NEXT_COMMANDS_H_
