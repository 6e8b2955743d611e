#include "prof/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "prof/commands.h"
#include "prof/program_text.h"

namespace oplens::prof {
namespace {

constexpr char kOfDiff[] = "--diff and --fail-if take whole views: they do not go with --{}";
// Of several that are given, the first decides.
constexpr TaskEntry kTaskEntries[] = {
    {"summary", Task::kRankSummaries,
     "--summary keeps what whole views found: it does not go with --{}", CommandForm::kFlag,
     "summary", "FILE...", "what views found per rank, in small files", "traces"},
    {"diff", Task::kDiff, kOfDiff, CommandForm::kFirst, "diff", "BASE NEW...",
     "what changed between two runs, and why", "old.json new.json"},
    {"fail-if", Task::kDiff, kOfDiff, CommandForm::kGiven, "gate", "--fail-if EXPR FILE...",
     "fail a build by the figures of a run, or by what changed",
     "--fail-if 'op(mm).tc_self_pct<90' net.sqlite"},
    {"save-baseline", Task::kBaseline,
     "--save-baseline keeps what whole views found: it does not go with --{}", CommandForm::kFirst,
     "baseline", "OUT FILE...", "what views found in a run, in a file to compare with",
     "base.oplens net.sqlite"},
    {"check", Task::kCheck, "--check is about rows of kernels: it does not go with --{}",
     CommandForm::kFlag, "check", "FILE...",
     "how many kernels have each column, and why the others do not", "net.sqlite"},
    {"chrome", Task::kTimeline, "--chrome takes whole profiles: it does not go with --{}",
     CommandForm::kFlag, "timeline", "FILE...",
     "a timeline for Perfetto, with the costs of kernels", "-o run.json net.sqlite"},
    {"view", Task::kViews, "", CommandForm::kFirst, "view", "VIEW FILE...",
     "one of the views that 'oplens view list' names", "overview net.sqlite"},
    {"by", Task::kRows, "", CommandForm::kFirst, "groups", "KEYS FILE...",
     "a row per group of kernels, such as op,dir", "op,dir --top 10 net.sqlite"},
    {"copies", Task::kRows, "", CommandForm::kFlag, "copies", "FILE...",
     "a row per memory copy or memset", "net.sqlite"},
    {"", Task::kRows, "", CommandForm::kFlag, "kernels", "FILE...", "a row per kernel",
     "-c kernel,sil,tc net.sqlite"},
};

using TaskSet = uint32_t;
constexpr TaskSet In(Task task) { return TaskSet{1} << static_cast<int>(task); }
constexpr TaskSet kOfRows = In(Task::kRows);
constexpr TaskSet kOfCheck = In(Task::kCheck);
constexpr TaskSet kOfTimeline = In(Task::kTimeline);
constexpr TaskSet kOfViews = In(Task::kViews);
constexpr TaskSet kOfRuns = In(Task::kDiff);
constexpr TaskSet kOfBaseline = In(Task::kBaseline);
constexpr TaskSet kOfSummaries = In(Task::kRankSummaries);
constexpr TaskSet kOfAllViews = kOfViews | kOfRuns | kOfBaseline | kOfSummaries;
constexpr TaskSet kOfTables = kOfRows | kOfViews | kOfRuns;

/// An option that not all tasks take.
struct OptionEntry {
  const char* option;
  TaskSet tasks;           ///< That take it.
  const char* needs = "";  ///< What it needs of rows, which have no options of views.
};

constexpr OptionEntry kOptionEntries[] = {
    {"summary", kOfSummaries},
    {"check", kOfCheck},
    {"chrome", kOfTimeline},
    {"save-baseline", kOfBaseline},
    {"diff", kOfRuns},
    {"fail-if", kOfRuns},
    {"view", kOfAllViews},
    {"copies", kOfRows | kOfViews | kOfBaseline},
    {"by", kOfRows | kOfAllViews},
    {"c", kOfRows | kOfCheck | kOfTimeline | kOfViews},
    {"where", kOfRows | kOfCheck | kOfTimeline | kOfViews},
    {"sort", kOfRows | kOfTimeline | kOfViews},
    {"top", kOfRows | kOfTimeline | kOfViews | kOfRuns},
    {"range", kOfRows | kOfCheck | kOfViews},
    {"w", kOfTables},
    {"blank", kOfTables},
    {"csv", kOfTables},
    {"json", kOfTables},
    {"markdown", kOfTables | kOfCheck},
    {"sqlite", kOfTables},
    {"schema", kOfRows},
    {"max-rows", kOfTables},
    {"raw", kOfRows, "kernels: it does not go with --view, --diff and the like"},
    {"arrow", kOfRows | kOfViews},
    {"svg", kOfViews, "--view stacks"},
    {"output", ~kOfBaseline},
    {"allow-missing", ~kOfRuns},
    {"compat", kOfViews | kOfRuns, "--view"},
    {"what-if", kOfViews, "--view"},
    {"model", kOfViews, "--view mfu"},
    {"step-range", kOfAllViews,
     "--view; for kernels and groups, use --where 'step>=3 and step<=7'"},
    {"all-steps", kOfAllViews, "--view"},
    {"time-range", kOfAllViews, "--view"},
    {"device", kOfAllViews, "--view"},
    {"all", kOfRuns, "--diff"},
    {"require-comparable", kOfRuns, "--diff"},
    {"junit", kOfRuns, "--fail-if"},
    {"summary-views", kOfSummaries, "--summary"},
    {"summary-dir", kOfSummaries, "--summary"},
    {"salt", kOfSummaries | kOfBaseline, "--summary or --save-baseline"},
};

}  // namespace

const TaskEntry& TaskOf(const cxxopts::ParseResult& given) {
  const auto* const last = std::end(kTaskEntries) - 1;
  return *std::find_if(std::begin(kTaskEntries), last,
                       [&](const TaskEntry& entry) { return given.count(entry.option) > 0; });
}

void RefuseOthers(const cxxopts::ParseResult& given, const TaskEntry& task, bool is_command,
                  bool keeps_summaries) {
  const TaskSet own = In(task.task) | (keeps_summaries ? kOfSummaries : 0);
  for (const OptionEntry& entry : kOptionEntries) {
    if ((entry.tasks & own) != 0 || given.count(entry.option) == 0) continue;
    if (is_command) {
      throw UsageError(fmt::format("oplens {} has no option {}{}; oplens help {} lists its options",
                                   task.command, entry.option[1] == '\0' ? "-" : "--", entry.option,
                                   task.command));
    }
    const bool of_rows = (In(task.task) & kOfAllViews) == 0;
    if (*entry.needs != '\0' && (of_rows || *task.why == '\0')) {
      throw UsageError(fmt::format("--{} needs {}", entry.option, entry.needs));
    }
    if (*task.why == '\0') {
      throw UsageError(fmt::format("--{} does not go with --{}", entry.option, task.option));
    }
    throw UsageError(fmt::format(fmt::runtime(task.why), entry.option));
  }
  if (task.task != Task::kRows || given.count("copies") == 0) return;
  for (const char* option : {"range", "step"}) {
    if (given.count(option) == 0) continue;
    throw UsageError(fmt::format("--{} is about kernels: it does not go with --copies", option));
  }
}

ProgramText TextOfCommand(const TaskEntry& command) {
  ProgramText text = TextOfProf();
  text.name = fmt::format("oplens {}", command.command);
  text.summary = command.help;
  text.synopsis = {fmt::format("[OPTIONS] {}", command.arguments)};
  text.examples = {{fmt::format("{} {}", text.name, command.example), command.help}};
  if (command.form != CommandForm::kGiven) text.implied = command.option;
  for (const OptionEntry& entry : kOptionEntries) {
    const bool is_own = entry.option == std::string_view(command.option);
    if (is_own ? command.form != CommandForm::kGiven : (entry.tasks & In(command.task)) == 0) {
      text.left_out.emplace_back(entry.option);
    }
  }
  std::erase_if(text.lists, [&](const WordList& list) {
    return std::ranges::all_of(list.options, [&](const std::string& option) {
      return option != command.option && std::ranges::count(text.left_out, option) > 0;
    });
  });
  return text;
}

void RefuseOtherArguments(const cxxopts::ParseResult& given, const TaskEntry& command) {
  const size_t values = given.count(command.option);
  const bool misses_file = command.task == Task::kDiff && given.count("file") == 0;
  const bool first = command.form == CommandForm::kFirst;
  if (!misses_file && (command.form == CommandForm::kFlag || (first ? values == 1 : values > 0))) {
    return;
  }
  throw UsageError(fmt::format("oplens {} takes: {}", command.command, command.arguments));
}

const TaskEntry* FindCommand(std::string_view word) {
  const auto* const command = std::ranges::find(
      kTaskEntries, word, [](const TaskEntry& entry) { return std::string_view(entry.command); });
  return command == std::end(kTaskEntries) ? nullptr : command;
}

std::vector<Command> Commands() {
  std::vector<Command> commands;
  // The most general one comes last in the table.
  for (const TaskEntry& entry : kTaskEntries) {
    commands.push_back({entry.command, entry.arguments, entry.help});
  }
  std::ranges::reverse(commands);
  return commands;
}

}  // namespace oplens::prof
