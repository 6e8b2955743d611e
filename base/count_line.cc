#include "base/count_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/program.h"
#include "base/terminal.h"

namespace oplens {

CountLine::CountLine(std::string_view tool, std::string_view what, size_t total, bool wanted)
    : tool_(tool),
      what_(what),
      total_(total),
      wanted_(wanted && TerminalAt(STDERR_FILENO).is_terminal) {}

CountLine::~CountLine() { Erase(); }

void CountLine::Show(size_t done) {
  constexpr std::chrono::seconds kFirst{1};
  if (!wanted_ || std::chrono::steady_clock::now() - began_ < kFirst) return;
  std::string line = fmt::format("{}: {} of {} {}", tool_, done, total_, what_);
  if (line == shown_) return;
  Erase();
  PrintError("\r" + line);
  shown_ = std::move(line);
}

void CountLine::Erase() {
  if (shown_.empty()) return;
  PrintError("\r" + std::string(shown_.size(), ' ') + "\r");
  shown_.clear();
}

}  // namespace oplens
