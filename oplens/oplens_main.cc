// The one binary: a run on one screen, or the command that its first word or a link to it names.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/near_words.h"
#include "base/output.h"
#include "base/program.h"
#include "base/program_text.h"
#include "base/run_files.h"
#include "base/shown_text.h"
#include "base/status_line.h"
#include "base/terminal.h"
#include "oplens/flops_command.h"
#include "oplens/make_screen.h"
#include "oplens/render.h"
#include "oplens/screen_json.h"
#include "oplens/summary_screen.h"
#include "parse/model/reason.h"
#include "prof/commands.h"
#include "prof/input/profile_records.h"
#include "prof/input_options.h"
#include "prof/many_inputs.h"
#include "prof/run/run.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::screen {
namespace {

/// A command: a word after `oplens`, or the name of a link to it.
struct Command {
  std::string_view word;
  std::string_view arguments;
  std::string_view help;  ///< One line.
  /// Takes main()'s arguments and returns the exit code.
  std::function<int(int argc, char** argv)> run;
  bool has_link = false;  ///< There is a link with this name, after the prefix of installed names.
};

std::vector<Command> MakeCommands() {
  std::vector<Command> commands = {
      {"record", "[-o FILE] -- PROGRAM", "run a program and record what its GPUs do",
       record::RunRecord, true},
      {"parse", "FILE", "a record per kernel: which op launched it", parse::RunParse, true},
      {"prof", "FILE...", "all tables, chosen by options", prof::RunProf, true},
      {"report", "FILE...", "all tables and a timeline, as a page for the browser",
       report::RunReport, true},
  };
  for (const prof::Command& task : prof::Commands()) {
    commands.push_back(
        {task.word, task.arguments, task.help,
         [word = task.word](int argc, char** argv) { return prof::RunCommand(word, argc, argv); }});
  }
  commands.push_back(
      {"mcp", "--root FOLDER", "answer agents about profiles below a folder (MCP)", mcp::RunMcp});
  commands.push_back({"flops", "--model CONFIG --seq N",
                      "FLOPs and MFU of a model by convention, without a profile",
                      flops::RunFlops});
  return commands;
}

/// All commands, in display order.
std::span<const Command> Commands() {
  static const std::vector<Command> commands = MakeCommands();
  return commands;
}

/// Null if `word` is no command.
const Command* FindCommand(std::string_view word) {
  const auto found = std::ranges::find(Commands(), word, &Command::word);
  return found == Commands().end() ? nullptr : &*found;
}

/// The program whose link `path` (argv[0]) names; null for `oplens` and other names.
const Command* FindProgram(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with(OPLENS_PREFIX)) name.remove_prefix(std::string_view(OPLENS_PREFIX).size());
  const Command* const command = FindCommand(name);
  return command != nullptr && command->has_link ? command : nullptr;
}

/// The command that `word` is a misspelling of; "" if none is similar.
std::string_view NearCommand(std::string_view word) {
  std::vector<std::string_view> words = {"help"};
  for (const Command& command : Commands()) words.push_back(command.word);
  const std::vector<std::string_view> near = NearNames(word, words);
  return near.empty() ? std::string_view() : near.front();
}

/// The output of `oplens` without arguments: one line per command.
std::string ListOfCommands() {
  constexpr size_t kWords = 37;
  std::string text = "oplens says which op launched each GPU kernel, and how much work it was.\n\n";
  const auto add = [&](std::string_view command, std::string_view help) {
    AppendFormat(&text, "  {:<{}}{}\n", fmt::format("oplens {}", command), kWords, help);
  };
  add("FILE...", "a run on one screen, from nvprof, Nsight Systems or PyTorch");
  for (const Command& command : Commands()) {
    add(fmt::format("{} {}", command.word, command.arguments), command.help);
  }
  add("help COMMAND", "the options of a command; oplens -h: those of the screen");
  return text;
}

constexpr std::string_view kTool = "oplens";
constexpr char kPageOptions[] = "Page";

/// The parsed command line of the screen.
struct Options : prof::InputOptions {
  std::string message;   ///< For -h and --version: print this and exit.
  prof::RunOptions run;  ///< Which part of each run to analyse.
  bool markdown = false;
  bool json = false;
  bool open = false;   ///< Show the page instead.
  std::string output;  ///< Of the page; "": in a folder of its own.
};

std::vector<WordText> Words() {
  std::vector<WordText> words;
  for (const Command& command : Commands()) {
    words.push_back({std::string(command.word), std::string(command.help)});
  }
  words.push_back({"help", "the options of a command"});
  return words;
}

/// The texts about `oplens` besides its options.
ProgramText TextOfOplens() {
  ProgramText text = {
      .name = "oplens",
      .summary = "what a run did on its GPUs, on one screen",
      .synopsis = {"[OPTIONS] FILE...", "COMMAND [ARGUMENTS]", "help COMMAND"},
      .groups = {prof::kSelectionOptions, prof::kPricingOptions, prof::kSpeedOptions,
                 prof::kMessageOptions, kPageOptions, kHelpOptions},
      .description =
          {"FILE is a profile of nvprof, Nsight Systems or PyTorch, a folder of them (the ranks of "
           "one run), or records of parse; - is standard input. The screen shows what was "
           "recorded, where the time of a step goes, which layers, ops and kernels cost most and "
           "how close to the peak they are, what is missing in the recording, and what to type "
           "next.",
           "COMMAND does one thing, with options of its own: oplens help COMMAND lists them."},
      .examples = {{"oplens net.sqlite", "where the time went"},
                   {"oplens prof --by op,dir --top 10 net.sqlite", "the costliest ops"},
                   {"oplens report -o run.html net.sqlite", "all of it, as a page"}},
      .exit_codes = prof::ExitCodesOfPricing(),
      .see_also = {"parse", "prof", "record", "report"},
      .first_words = Words(),
  };
  text.lists.push_back({"Commands", {}, false, Words()});
  text.lists.push_back(prof::GpuWords());
  return text;
}

cxxopts::Options Declare() {
  cxxopts::Options options("oplens");
  cxxopts::OptionAdder add = options.add_options(prof::kSelectionOptions);
  add("step-range", "Only steps with these numbers", cxxopts::value<std::string>(), "A-B");
  add("time-range",
      "Only what begins in this range of milliseconds, from the first event of the file",
      cxxopts::value<std::string>(), "MS-MS");
  add("device", "Only this GPU", cxxopts::value<int64_t>(), "N");
  prof::AddPricingOptions(&options);
  prof::AddSpeedOptions(&options);
  cxxopts::OptionAdder said = options.add_options(prof::kMessageOptions);
  said("markdown", "The screen as GitHub's Markdown, such as for a pull request");
  said("json", "The facts of the screen as one JSON object (docs/oplens.md), for programs");
  said("schema", "Print the JSON Schema of --json, without a file");
  said("quiet", "Print no notes on standard error, such as of damaged rows");
  said("strict",
       "Exit with 3 if a row was damaged, kernels have no launch, a file was left out, or there is "
       "nothing to show");
  cxxopts::OptionAdder page = options.add_options(kPageOptions);
  page("open",
       "Show all of it as a page in the browser instead (the command report), written to a folder "
       "for temporary files");
  page("o,output", "With --open: write the page to FILE", cxxopts::value<std::string>(), "FILE");
  AddHelpOptions(&options);
  prof::AddFiles(&options);
  return options;
}

/// Reads what --open needs. Throws UsageError for what a page cannot do.
void ReadOpen(const cxxopts::ParseResult& given, Options* options) {
  options->open = given.count("open") > 0;
  if (given.count("output") > 0) options->output = GivenFile(given, "output");
  if (!options->open) {
    if (!options->output.empty()) throw UsageError("-o needs --open; tables: oplens prof -o");
    return;
  }
  for (const char* option : {"time-range", "device", "markdown", "json"}) {
    if (given.count(option) == 0) continue;
    throw UsageError(fmt::format("--{} does not go with --open: it is not about a page", option));
  }
}

Options Read(const cxxopts::Options& declared, const cxxopts::ParseResult& given) {
  Options options;
  if (std::optional<std::string> message = HelpMessage(TextOfOplens(), declared, given)) {
    options.message = *std::move(message);
    return options;
  }
  if (given.count("schema") > 0) {
    options.message = ScreenSchema().dump(2) + "\n";
    return options;
  }
  prof::ReadInputs(given, &options);
  if (options.inputs.empty()) {
    throw UsageError("name a file, or - for records from standard input");
  }
  options.steps = prof::ReadStepPattern(given);
  options.run = options.RunOf(prof::ReadSelection(given));
  prof::ReadPricing(given, &options);
  options.markdown = given.count("markdown") > 0;
  options.json = given.count("json") > 0;
  if (options.markdown && options.json) throw UsageError("--markdown and --json: give one of them");
  ReadOpen(given, &options);
  return options;
}

/// Throws UsageError with one line that says what to type instead.
Options ParseOptions(int argc, const char* const* argv) {
  cxxopts::Options declared = Declare();
  Options options;
  ReadCommandLine(&declared, argc, argv,
                  "oplens -h lists the options, oplens help prof those of tables",
                  [&](const auto& given) { options = Read(declared, given); });
  return options;
}

/// The command named by the link that was started or by the first word; null if there is none.
/// Sets `*arguments` to the command's, after a name.
const Command* GivenCommand(std::vector<char*>* arguments) {
  static char help[] = "-h";
  if (arguments->empty()) return nullptr;
  if (const Command* const program = FindProgram(arguments->front())) return program;
  if (arguments->size() < 2) return nullptr;
  const Command* command = FindCommand((*arguments)[1]);
  if (command != nullptr) {
    arguments->erase(arguments->begin());
  } else if ((*arguments)[1] == std::string_view("help") && arguments->size() > 2) {
    command = FindCommand((*arguments)[2]);
    if (command != nullptr) *arguments = {(*arguments)[2], help};
  }
  return command;
}

/// Throws UsageError for a word that looks like a misspelt command.
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

void PrintSentences(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    PrintError(Complaint(kTool, sentence));
  }
}

/// Prints only damage to stderr; the rest is on the screen.
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

Look LookOf(const Options& options) {
  const Terminal terminal = TerminalAt(STDOUT_FILENO);
  Look look;
  if (terminal.is_terminal) look.columns = static_cast<size_t>(terminal.columns);
  look.colours = terminal.takes_colours;
  look.markdown = options.markdown;
  return look;
}

void PrintScreen(const Screen& screen, const Options& options) {
  if (options.json) {
    PrintText(JsonTextOf(screen) + "\n");
  } else {
    PrintText(Render(screen, LookOf(options)));
  }
}

int ShowSummaries(const std::vector<prof::SummaryInput>& summaries, const Options& options) {
  if (!options.run.selection.empty() || options.steps != nullptr || options.gpu || options.rules ||
      options.model != nullptr || !options.execution_traces.empty()) {
    throw UsageError("summaries hold what views found before: other options need the traces");
  }
  prof::LeftOut left_out(kTool);
  Diagnostics losses;
  size_t before = 0;
  PrintScreen(ScreenOfSummaries(summaries, options.inputs, &left_out, &before, &losses), options);
  if (!options.quiet) PrintDamage(losses);
  return options.ExitCode(losses.Damaged(), left_out.count() + before);
}

int ShowScreen(const Options& options) {
  GiveBackWhatIsFreed();
  std::vector<std::string> beside;
  const std::vector<prof::SummaryInput> summaries = prof::ListSummaries(options.inputs, &beside);
  if (!options.quiet) PrintSentences(beside);
  if (!summaries.empty()) return ShowSummaries(summaries, options);
  options.SayWhatIsAwaited(kTool);
  StatusLine status(kTool, !options.quiet);
  prof::Inputs inputs(options.inputs, options.execution_traces, NeedsOfScreen(), {}, kTool,
                      &status);
  RunFiles files = options.FilesRead();
  files.Write("", "");
  files.RefuseOverwriting();
  inputs.Explain(options.evidence, options.reference);
  inputs.Count(options.counters);
  Diagnostics diagnostics;
  ScreenPlan plan;
  plan.inputs = options.inputs;
  const std::vector<std::string>& paths = inputs.paths();
  plan.several = paths.size() > 1;
  plan.one_file = std::count(paths.begin(), paths.end(), paths.front()) == std::ssize(paths);
  plan.pricing = options.Pricing();
  plan.run = options.run;
  plan.model = options.model;
  const Screen screen = MakeScreen(&inputs, plan, &diagnostics);
  PrintScreen(screen, options);
  const std::vector<std::string> unused = inputs.UnusedFiles();
  PrintSentences(unused);
  if (!options.quiet) {
    PrintSentences(inputs.Notes());
    PrintSentences(screen.rule_misfits);
    PrintDamage(diagnostics);
  }
  const bool failure =
      (screen.kernels == 0 && screen.replays == 0) || diagnostics.Damaged() || !unused.empty();
  return options.ExitCode(failure, inputs.left_out());
}

/// A new file in a new folder that only this user can read. It stays: the browser reads it later.
std::string TemporaryPage(const std::string& input) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) folder = "/tmp";
  std::string pattern = (folder / "oplens-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(fmt::format("cannot make a folder in {}: {}; name the page: -o run.html",
                            folder.string(), std::strerror(errno)));
  }
  const std::string name = std::filesystem::path(input).lexically_normal().filename().string();
  const bool named = !name.empty() && name != "-" && name != "." && name != "..";
  return pattern + "/" + (named ? name : "run") + ".html";
}

/// Runs `report --open` with the same arguments.
int ShowPage(const Options& options, std::vector<std::string> arguments) {
  if (options.output.empty()) {
    arguments.insert(arguments.begin(), {"-o", TemporaryPage(options.inputs.front())});
  }
  arguments.insert(arguments.begin(), "report");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return report::RunReport(static_cast<int>(arguments.size()), pointers.data());
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty() ||
      (arguments.front() == "help" && (arguments.size() == 1 || arguments[1] == "help"))) {
    PrintText(ListOfCommands());
    return kExitOk;
  }
  RefuseUnknownCommand(arguments);
  const Options options = ParseOptions(argc, argv);
  if (!options.message.empty()) {
    PrintText(options.message);
    return kExitOk;
  }
  return options.open ? ShowPage(options, arguments) : ShowScreen(options);
}

}  // namespace
}  // namespace oplens::screen

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  // First of all: a recorded program inherits the state of this process.
  if (const auto* const command = oplens::screen::GivenCommand(&arguments)) {
    const int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    return command->run(count, arguments.data());
  }
  return oplens::RunProgram("oplens", [&] { return oplens::screen::Main(argc, argv); });
}
