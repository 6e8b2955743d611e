#ifndef OPLENS_BASE_TERMINAL_H_
#define OPLENS_BASE_TERMINAL_H_

#include <string>
#include <string_view>

namespace oplens {

/// The terminal behind a file descriptor.
struct Terminal {
  bool is_terminal = false;
  /// Size in characters; 80 x 24 if the terminal does not report it.
  int columns = 80;
  int rows = 24;
  /// A terminal, TERM other than "dumb", and NO_COLOR unset or empty (https://no-color.org).
  bool takes_colours = false;
};

/// The terminal of standard output (1) or standard error (2). Positive COLUMNS and LINES in the
/// environment override the size.
Terminal TerminalAt(int file_descriptor);

/// The line that says what `tool` waits for, if standard input is a terminal; otherwise "".
std::string AwaitedNote(std::string_view tool);

}  // namespace oplens

#endif  // OPLENS_BASE_TERMINAL_H_
