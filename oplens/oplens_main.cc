// oplens: a run on one screen; with a command, the program of oplens that answers it.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "base/run_files.h"
#include "base/shown_text.h"
#include "base/status_line.h"
#include "base/terminal.h"
#include "oplens/commands.h"
#include "oplens/make_screen.h"
#include "oplens/options.h"
#include "oplens/render.h"
#include "parse/model/reason.h"
#include "prof/input/profile_records.h"

namespace oplens::screen {
namespace {

constexpr std::string_view kTool = "oplens";

/// Replaces this program where a command is given. Returns what went wrong, or nothing where the
/// command line has none.
std::string RunGivenCommand(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {};
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const Command* command = FindCommand(arguments.front());
  if (command == nullptr && arguments.front() == "help" && !rest.empty()) {
    command = FindCommand(rest.front());
    rest = {"-h"};
  }
  return command == nullptr ? std::string() : RunCommand(*command, rest);
}

/// Throws UsageError for a word that was meant as a command.
void RefuseUnknownCommand(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return;
  const bool helps = arguments.front() == "help" && arguments.size() > 1;
  const std::string& word = helps ? arguments[1] : arguments.front();
  std::error_code ignored;
  if (!helps && (word.starts_with('-') || word.find_first_of("/.") != std::string::npos ||
                 std::filesystem::exists(word, ignored))) {
    return;
  }
  const std::string_view near = NearCommand(word);
  throw UsageError(fmt::format(
      "there is no {} '{}'{}", helps ? "command" : "command and no file", prof::ShownText(word),
      near.empty() ? "; oplens without arguments lists the commands"
                   : fmt::format(": oplens {}{}?", helps ? "help " : "", near)));
}

void Print(std::string_view text) {
  Output output("");
  output.Write(text);
  output.Commit();
}

void PrintSentences(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    PrintError(Complaint(kTool, sentence));
  }
}

/// Damage is told; what else is known and unknown is on the screen.
void PrintDamage(const Diagnostics& diagnostics) {
  Diagnostics damage;
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    Diagnostics one;
    one.CountMany(reason, diagnostics.CountOf(reason));
    if (one.Damaged()) damage.Merge(one);
  }
  for (const std::string& file : diagnostics.lost_files()) damage.NoteLost(file);
  PrintError(damage.Render(kTool));
}

int ShowScreen(const Options& options) {
  GiveBackWhatIsFreed();
  options.SayWhatIsAwaited(kTool);
  StatusLine status(kTool, !options.quiet);
  prof::Inputs inputs(options.inputs, options.execution_traces, NeedsOfScreen(), {}, kTool,
                      &status);
  RunFiles files = options.FilesRead();
  files.Write("", "");
  files.RefuseOverwriting();
  inputs.Explain(options.evidence, options.reference);
  inputs.LeaveOutUnreadable();
  Diagnostics diagnostics;
  ScreenPlan plan;
  plan.inputs = options.inputs;
  const std::vector<std::string>& paths = inputs.paths();
  plan.several = paths.size() > 1;
  plan.one_file = std::count(paths.begin(), paths.end(), paths.front()) == std::ssize(paths);
  plan.pricing = options.Pricing();
  plan.run = options.run;
  const Screen screen = MakeScreen(&inputs, plan, &diagnostics);
  const Terminal terminal = TerminalAt(STDOUT_FILENO);
  Look look;
  if (terminal.is_terminal) look.columns = static_cast<size_t>(terminal.columns);
  look.colours = terminal.takes_colours;
  Print(Render(screen, look));
  const std::vector<std::string> unused = inputs.UnusedExecutionTraces();
  PrintSentences(unused);
  if (!options.quiet) {
    PrintSentences(inputs.Notes());
    PrintSentences(screen.rule_misfits);
    PrintDamage(diagnostics);
  }
  const bool failure = (screen.kernels == 0 && screen.replays == 0) || diagnostics.Damaged() ||
                       inputs.left_out() > 0 || !unused.empty();
  return options.strict && failure ? kExitStrict : kExitOk;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty() || (arguments.front() == "help" && arguments.size() == 1)) {
    Print(ListOfCommands());
    return kExitOk;
  }
  RefuseUnknownCommand(arguments);
  const Options options = ParseOptions(argc, argv);
  if (!options.message.empty()) {
    Print(options.message);
    return kExitOk;
  }
  return ShowScreen(options);
}

}  // namespace
}  // namespace oplens::screen

int main(int argc, char** argv) {
  using oplens::screen::Main;
  // Before anything of this process is changed that the other program would inherit.
  const std::string failure =
      oplens::screen::RunGivenCommand({argv + std::min(argc, 1), argv + argc});
  return oplens::RunProgram("oplens", [&] {
    if (!failure.empty()) throw oplens::Error(failure);
    return Main(argc, argv);
  });
}
