#ifndef OPLENS_OPLENS_NEXT_COMMANDS_H_
#define OPLENS_OPLENS_NEXT_COMMANDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "oplens/lines.h"
#include "oplens/screen.h"

namespace oplens::screen {

/// A suggested next command.
struct NextCommand {
  std::string command;  ///< "prof --view idle", without files.
  std::string why;
};

/// The suggestions that fit the facts, most important first: at most `most`.
std::vector<NextCommand> NextCommands(const Screen& screen, size_t most);

/// The section about them, with the files as the user named them if these fit.
Section NextLines(const Screen& screen, size_t columns, size_t most);
/// The same for files that are not one run.
Section NextOfOneLines(size_t columns);

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_NEXT_COMMANDS_H_
