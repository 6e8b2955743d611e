#include "base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/parse_number.h"

namespace oplens {
namespace {

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// Sets `*size` to `told`, else `asked`, whichever is first a positive number of sane size.
void Choose(std::string_view told, int asked, int* size) {
  constexpr int kMost = 100'000;
  int value = 0;
  if (ParseNumber(told, &value) && value > 0 && value <= kMost) {
    *size = value;
  } else if (asked > 0 && asked <= kMost) {
    *size = asked;
  }
}

}  // namespace

Terminal TerminalAt(int file_descriptor) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(file_descriptor) == 1;
  if (!terminal.is_terminal) return terminal;
  winsize size{};
  if (::ioctl(file_descriptor, TIOCGWINSZ, &size) != 0) size = {};
  Choose(Variable("COLUMNS"), size.ws_col, &terminal.columns);
  Choose(Variable("LINES"), size.ws_row, &terminal.rows);
  terminal.takes_colours = Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
  return terminal;
}

std::string AwaitedNote(std::string_view tool) {
  if (::isatty(STDIN_FILENO) != 1) return {};
  return fmt::format(
      "{}: waiting for a profile or records on standard input; to read a file: {} FILE\n", tool,
      tool);
}

}  // namespace oplens
