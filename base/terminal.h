#ifndef OPLENS_BASE_TERMINAL_H_
#define OPLENS_BASE_TERMINAL_H_

#include <string>
#include <string_view>

namespace oplens {

/// What is at the other end of a file descriptor, for programs that write for people there.
struct Terminal {
  bool is_terminal = false;
  /// Characters of a line and lines of a screen; 80 and 24 where the terminal does not tell.
  int columns = 80;
  int rows = 24;
  /// Whether colours are welcome: a terminal, TERM other than "dumb", NO_COLOR unset or empty
  /// (https://no-color.org).
  bool takes_colours = false;
};

/// Of standard output (1) or standard error (2). COLUMNS and LINES of the environment, where they
/// are positive numbers, come before what the terminal says.
Terminal TerminalAt(int file_descriptor);

/// The line that says what program `tool` waits for, where standard input is a terminal; else "".
std::string AwaitedNote(std::string_view tool);

}  // namespace oplens

#endif  // OPLENS_BASE_TERMINAL_H_
