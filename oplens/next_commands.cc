#include "oplens/next_commands.h"

#include <algorithm>
#include <string_view>

#include "oplens/text.h"
#include "prof/verdicts/change_point.h"

namespace oplens::screen {
namespace {

// From these shares on, a suggestion is worthwhile.
constexpr double kMuchCommunicationPct = 5;
constexpr double kMuchMissedTcPct = 5;
constexpr double kMuchLostPct = 5;
constexpr double kLittleKnownPct = 80;
constexpr double kUnevenPct = 2;

bool CommunicatesMuch(const Screen& screen) {
  return screen.time && screen.time->communication_pct.value_or(0) >= kMuchCommunicationPct;
}

/// Whether ranks of a run wait, or may wait, for each other.
bool AreUneven(const Screen& screen) {
  return screen.are_ranks && screen.ranks.size() > 1 &&
         (screen.slowest_by_pct.value_or(0) >= kUnevenPct || CommunicatesMuch(screen));
}

/// Whether there are enough steps for the view stragglers.
bool HasStragglerSteps(const Screen& screen) { return screen.steps.steady >= prof::kLeastSteps; }

struct Advice {
  bool (*fits)(const Screen& screen);
  std::string_view command;
  std::string_view why;
};

constexpr Advice kAdvice[] = {
    {[](const Screen& screen) { return AreUneven(screen) && HasStragglerSteps(screen); },
     "view stragglers", "which rank holds the others up, by which op"},
    {[](const Screen& screen) { return AreUneven(screen) && !HasStragglerSteps(screen); },
     "view ranks", "the ranks side by side"},
    {CommunicatesMuch, "view collectives", "what collectives waited for"},
    {[](const Screen& screen) { return screen.missed_tc_pct.value_or(0) >= kMuchMissedTcPct; },
     "kernels --csv -c op,kernel,params,sil,tc,tc_elig,tc_why", "why products miss Tensor Cores"},
    {[](const Screen& screen) {
       return !screen.losses.empty() && screen.losses.front().share_pct.value_or(0) >= kMuchLostPct;
     },
     "view losses", "what the recording lacks"},
    {[](const Screen& screen) {
       return screen.kernels > 0 && screen.flops_known_pct.value_or(0) < kLittleKnownPct;
     },
     "check", "how many kernels have each column"},
    {[](const Screen& screen) {
       return screen.flops_known_pct.value_or(0) > 0 && !screen.ops.rows.empty();
     },
     "view advice", "what to change, what it saves at most"},
    {[](const Screen& screen) { return !screen.layers.rows.empty() && !screen.records; },
     "view modules", "all layers as a tree"},
    {[](const Screen& screen) {
       return screen.are_ranks && screen.ranks.size() > 1 && !AreUneven(screen);
     },
     "view ranks", "the ranks side by side"},
    {[](const Screen& screen) { return screen.kernels > 0 || screen.time; }, "report -o run.html",
     "all of it, with a timeline"},
};

constexpr std::string_view kBeforeCommand = "  oplens ";
constexpr size_t kBetween = 2;

/// The file arguments of each command: as the user named them, if they fit.
std::string FilesFor(const Screen& screen, const std::vector<NextCommand>& commands,
                     size_t columns) {
  std::string files;
  for (const std::string& input : screen.inputs) files += " " + ShellWord(input);
  // Other characters would not be displayed as they must be typed.
  const bool plain = std::ranges::all_of(files, [](char c) { return c >= ' ' && c <= '~'; });
  size_t widest = 0;
  size_t widest_why = 0;
  for (const NextCommand& next : commands) {
    widest = std::max(widest, next.command.size());
    widest_why = std::max(widest_why, next.why.size());
  }
  const bool fits =
      kBeforeCommand.size() + widest + files.size() + kBetween + widest_why <= columns;
  const bool pipe = screen.inputs.empty() || screen.inputs.front() == "-";
  if (plain && fits && !pipe) return files;
  return screen.inputs.size() > 1 ? " FILE..." : " FILE";
}

/// `command`: indented, perhaps padded.
Line CommandLine(const std::string& command, const std::string& why, size_t columns) {
  const size_t begin = command.find_first_not_of(' ');
  const size_t end = command.find_last_not_of(' ') + 1;
  return {Style::kPlain,
          CutRight(command + "  " + why, columns),
          {command.substr(begin, end - begin), why},
          true};
}

}  // namespace

std::vector<NextCommand> NextCommands(const Screen& screen, size_t most) {
  std::vector<NextCommand> commands;
  if (most > 1 && !screen.verdict_command.empty()) {
    commands.push_back({screen.verdict_command, "what the first sentence says, in figures"});
  }
  const size_t count = std::size(kAdvice);
  for (size_t i = 0; i < count && most > 0; ++i) {
    const Advice& advice = kAdvice[i];
    if (!advice.fits(screen)) continue;
    if (std::ranges::find(commands, advice.command, &NextCommand::command) != commands.end()) {
      continue;
    }
    // Keep the last line for the HTML page, which always fits.
    if (commands.size() + 1 >= most && i + 1 < count) continue;
    commands.push_back({std::string(advice.command), std::string(advice.why)});
  }
  return commands;
}

Section NextLines(const Screen& screen, size_t columns, size_t most) {
  Section lines;
  const std::vector<NextCommand> commands = NextCommands(screen, most);
  if (commands.empty()) return lines;
  lines.push_back({Style::kTitle, "Next", {"Next", "shows"}});
  const std::string files = FilesFor(screen, commands, columns);
  size_t widest = 0;
  for (const NextCommand& next : commands) widest = std::max(widest, next.command.size());
  widest += kBeforeCommand.size() + files.size();
  for (const NextCommand& next : commands) {
    const std::string command = std::string(kBeforeCommand) + next.command + files;
    const bool fits = widest + kBetween + next.why.size() <= columns;
    lines.push_back(CommandLine(fits ? PadRight(command, widest) : command, next.why, columns));
  }
  return lines;
}

Section NextOfOneLines(size_t columns) {
  return {{Style::kTitle, "Next", {"Next", "shows"}},
          CommandLine("  oplens FILE           ", "one of them", columns),
          CommandLine("  oplens diff BASE FILE ", "two of them compared", columns)};
}

}  // namespace oplens::screen
