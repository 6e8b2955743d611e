#include "prof/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/help_text.h"
#include "base/near_words.h"
#include "base/shown_text.h"
#include "base/terminal.h"
#include "base/words.h"
#include "prof/compat/compat.h"
#include "prof/format_options.h"
#include "prof/program_text.h"
#include "prof/schemas.h"
#include "prof/summary_file/summary_sink.h"
#include "prof/table/text_sinks.h"
#include "prof/tasks.h"
#include "prof/views/kernels/priced_timeline.h"

namespace oplens::prof {
namespace {

void AddTables(cxxopts::OptionAdder add) {
  add("c", "Columns, separated by commas, or 'all'",
      cxxopts::value<std::string>()->default_value(std::string(kDefaultColumns)), "COLS");
  add("by",
      "One row per group of kernels (with --copies: of copies) that agree in these keys, separated "
      "by commas: KEY, KEY:N (first N parts, the last ones with -N), KEY:label (without numbers), "
      "KEY~PATTERN",
      cxxopts::value<std::string>(), "KEYS");
  add("where",
      "Only rows that meet this condition, such as 'dir=bprop and kernel~gemm and sil>10us' "
      "(docs/where.md)",
      cxxopts::value<std::string>(), "CONDITION");
  add("sort",
      "Column to sort by: figures largest first, keys in ascending order; -COL reverses it, "
      "COL:asc and COL:desc set it",
      cxxopts::value<std::string>(), "COL");
  add("top", "Only the first N rows; with --by or --view the others are summed in one row",
      cxxopts::value<int>(), "N");
  add("copies",
      "List memory copies and memsets instead of kernels; needs profiles, not records. With "
      "--view: group them too");
  add("view",
      "Print these views instead of kernels, separated by commas: 'list' names them, 'all' takes "
      "all (docs/views.md); several need --json or --sqlite",
      cxxopts::value<std::string>(), "VIEWS");
  add("check",
      "Say how many kernels have each column, and why the others do not (all columns unless -c is "
      "given)");
}

void AddViewOptions(cxxopts::OptionAdder add) {
  add("compat",
      "With --view: the figures of the TensorBoard plugin (tb), HTA (hta) or PyTorch's tables, by "
      "their own rules; with --diff: the comparison of tb or hta",
      cxxopts::value<std::string>(), "tb|hta|torch|torch-1.13|torch-2.13|torch-legacy");
  add("what-if",
      "With --view critical-path: length of the path after a change, scale(CLASS or NAME, FACTOR)",
      cxxopts::value<std::vector<std::string>>(), "CHANGE");
  add("save-baseline",
      "Save what the views of --view found (default: all that can be saved) in FILE instead of "
      "printing tables; prof --view shows it again without the trace",
      cxxopts::value<std::string>(), "FILE");
  add("step-range", "With --view: only steps with these numbers", cxxopts::value<std::string>(),
      "A-B");
  add("time-range",
      "With --view: only what begins in this range of milliseconds, from the first event of the "
      "file",
      cxxopts::value<std::string>(), "MS-MS");
  add("device", "With --view: only this GPU", cxxopts::value<int64_t>(), "N");
}

void AddGateOptions(cxxopts::OptionAdder add) {
  add("fail-if",
      "Exit with 5 if EXPR holds, such as 'total>+5%' or 'op(mm).tc_self_pct<90', with 4 if data "
      "for it is lost or missing (docs/diff.md); may be given several times",
      cxxopts::value<std::vector<std::string>>(), "EXPR");
  add("require-comparable",
      "With --diff: exit with 4 if the runs differ in what determines their times, such as the "
      "GPU");
  add("junit", "With --fail-if: write a JUnit report of the expressions, whole or not at all",
      cxxopts::value<std::string>(), "FILE");
}

/// Throws UsageError, for a wrong expression with its position. `has_base`: two runs are compared.
GateOptions ReadGateOptions(const cxxopts::ParseResult& given, bool has_base) {
  std::vector<std::string> expressions;
  if (given.count("fail-if") > 0) {
    expressions = given["fail-if"].as<std::vector<std::string>>();
  }
  const bool comparable = given.count("require-comparable") > 0;
  if (comparable && !has_base) throw UsageError("--require-comparable needs --diff BASE");
  GateOptions options{Gate::Parse(expressions, comparable), {}};
  for (const GateExpression& expression : options.gate.expressions()) {
    if (expression.change && !has_base) {
      throw UsageError("--fail-if: '" + ShownText(expression.text) +
                       "' is about a change, which needs --diff BASE; for one run, give a "
                       "threshold without a sign");
    }
  }
  if (given.count("junit") == 0) return options;
  options.junit = given["junit"].as<std::string>();
  if (options.junit.empty()) throw UsageError("--junit: the name of the file is empty");
  if (options.gate.empty()) throw UsageError("--junit needs --fail-if or --require-comparable");
  return options;
}

void AddDiff(cxxopts::OptionAdder add) {
  add("diff",
      "Compare with BASE, a profile or a folder of ranks: what changed in the views of --view "
      "(default: operators), why, and whether it is more than noise (docs/diff.md)",
      cxxopts::value<std::string>(), "BASE");
  add("all", "With --diff: also rows that did not change");
  AddGateOptions(add);
}

void AddSelection(cxxopts::OptionAdder add) {
  add("op",
      "Which of several nested annotations is the op: the innermost with a known cost, or the "
      "outermost",
      cxxopts::value<std::string>()->default_value("inner"), "inner|outer");
  add("range",
      "Only kernels inside a step, layer or range whose text contains a match of PATTERN (RE2 "
      "syntax), with their backward pass",
      cxxopts::value<std::string>(), "PATTERN");
}

void AddOutput(cxxopts::OptionAdder add) {
  AddFormats(&add);
  add("header", "With --csv: what its first line holds, titles or keys of the columns",
      cxxopts::value<std::string>()->default_value("titles"), "titles|keys");
  add("cells",
      "With --csv: texts made harmless, so that no spreadsheet computes and no terminal obeys "
      "them, or exact",
      cxxopts::value<std::string>()->default_value("harmless"), "harmless|exact");
  add("raw",
      "With --sqlite: besides kernels also what the profiles hold of processes, threads, ranges, "
      "API "
      "calls, copies, memory and collectives, as tables that refer to each other (docs/sql.md)");
  AddRowOptions(&add);
  add("chrome",
      "Write a timeline for Perfetto and chrome://tracing, like that of parse, with columns among "
      "the arguments of kernels (default: their costs); needs profiles, not records");
  add("o,output", "Write to FILE, whole or not at all", cxxopts::value<std::string>(), "FILE");
}

cxxopts::Options Declare() {
  cxxopts::Options options("prof");
  AddTables(options.add_options(kTableOptions));
  AddViewOptions(options.add_options(kViewOptions));
  AddRankOptions(options.add_options(kRankOptions));
  AddDiff(options.add_options(kDiffOptions));
  AddSelection(options.add_options(kSelectionOptions));
  AddPricingOptions(&options);
  AddOutput(options.add_options(kOutputOptions));
  AddSpeedOptions(&options);
  AddMessageOptions(&options);
  AddHelpOptions(&options);
  AddFiles(&options);
  return options;
}

std::string HelpOfViews(std::string_view list) {
  std::string text;
  for (const ViewPlan& plan : PlanViews({.list = list})) {
    if (!text.empty()) text += "\n";
    AppendWordList({fmt::format("{}: {}", plan.view->name, plan.view->help),
                    {},
                    false,
                    WordsOf(plan.view->fields())},
                   HelpColumns(), &text);
    if (!plan.view->by.empty()) {
      AppendWrapped(fmt::format("Keys of --by: {}", fmt::join(plan.view->by, ", ")), 2,
                    HelpColumns(), &text);
    }
  }
  return text;
}

/// The index in `words` of an option's value. Throws UsageError.
size_t ReadWord(std::string_view option, std::string_view word,
                std::span<const std::string_view> words) {
  const auto place = std::find(words.begin(), words.end(), word);
  if (place != words.end()) return static_cast<size_t>(place - words.begin());
  throw UsageError(
      fmt::format("--{}: {}", option, NoSuchName("choice", word, words, "the choices are")));
}

size_t ReadTop(const cxxopts::ParseResult& given) {
  if (given.count("top") == 0) return 0;
  const int top = given["top"].as<int>();
  if (top < 1) throw UsageError("--top: the least number is 1");
  return static_cast<size_t>(top);
}

bool ReadHeader(const std::string& word) {
  constexpr std::string_view kWords[] = {"titles", "keys"};
  return ReadWord("header", word, kWords) == 1;
}

bool ReadCells(const std::string& word) {
  constexpr std::string_view kWords[] = {"harmless", "exact"};
  return ReadWord("cells", word, kWords) == 1;
}

/// "": our rules.
std::string_view ReadCompat(const cxxopts::ParseResult& given) {
  const std::string_view word = GivenText(given, "compat");
  return word.empty() ? std::string_view() : CompatWords()[ReadWord("compat", word, CompatWords())];
}

/// Throws UsageError for options that only some of the views would apply.
void RefuseWithViews(const cxxopts::ParseResult& given, const Options& options) {
  for (const ViewPlan& plan : options.views) {
    const bool of_kernels = plan.view->name == "kernels" || plan.view->name == "groups";
    if (given.count("range") > 0 && !of_kernels) {
      throw UsageError(fmt::format(
          "--range chooses kernels: it goes with the views kernels and groups, not with {}",
          plan.view->name));
    }
  }
  for (const char* option : {"step-range", "time-range", "device"}) {
    if (given.count("compat") == 0 || given.count(option) == 0) continue;
    throw UsageError(fmt::format("--{}: --compat takes whole runs: give one of the two", option));
  }
}

/// The request for tables; it points into `given`.
ViewRequest ReadRequest(const cxxopts::ParseResult& given, const Options& options) {
  ViewRequest request;
  request.list = GivenText(given, "view");
  request.instead = CompatViews(ReadCompat(given));
  request.by = GivenText(given, "by");
  request.sort = GivenText(given, "sort");
  request.columns = GivenText(given, "c");
  request.top = ReadTop(given);
  request.in_lines = !options.format->many;
  // A page has no more room than a terminal.
  request.narrow = given.count("w") > 0 || given.count("markdown") > 0;
  request.copies = given.count("copies") > 0;
  if (given.count("what-if") > 0) request.what_if = given["what-if"].as<std::vector<std::string>>();
  request.model = options.model;
  request.where = GivenText(given, "where");
  return request;
}

/// Plans kernels or copies without --view. `columns`: used if -c is not given; "": the table's
/// default.
void ReadRows(const cxxopts::ParseResult& given, std::string_view columns, Options* options) {
  ViewRequest request = ReadRequest(given, *options);
  request.list = given.count("by") > 0 ? "summary" : request.copies ? "copies" : "kernels";
  request.in_lines = !options->format->all_columns;
  // Empty arguments are refused.
  constexpr std::string_view kEmpty = " ";
  if (given.count("c") == 0) request.columns = columns;
  if (given.count("c") > 0 && request.columns.empty()) request.columns = kEmpty;
  if (given.count("sort") > 0 && request.sort.empty()) request.sort = kEmpty;
  options->raw = ReadRaw(given, *options->format);
  options->views = PlanRows(request, &options->where);
  // Programs that read what PyProf printed read this.
  if (options->task == Task::kRows && options->format == &Formats().front() &&
      request.list == "kernels" &&
      std::ranges::all_of(options->views.front().places,
                          [](size_t place) { return place < kPyProfColumns; })) {
    options->format = &BlankFormat();
  }
}

void TakeSelection(const cxxopts::ParseResult& given, Options* options) {
  options->run = options->RunOf(ReadSelection(given));
}

void ReadViews(const cxxopts::ParseResult& given, Options* options) {
  if (GivenText(given, "view") == "list") {
    options->task = Task::kMessage;
    options->message = ListOfViews();
    return;
  }
  options->views = PlanViews(ReadRequest(given, *options), &options->where);
  RefuseWithViews(given, *options);
  TakeSelection(given, options);
  if (options->keeps_summaries) options->rank_summary = ReadRankSummary(given);
  if (options->format->option == "svg" &&
      (options->views.size() != 1 || options->views.front().view->name != "stacks" ||
       given.count("compat") > 0)) {
    throw UsageError("--svg draws call stacks: it goes with --view stacks alone, by oplens' rules");
  }
  if (options->views.size() > 1 && !options->format->many) {
    throw UsageError("several views need --json or --sqlite: give one of them, or one view");
  }
}

/// Compares two runs, or judges one.
void ReadDiff(const cxxopts::ParseResult& given, Options* options) {
  const bool has_base = given.count("diff") > 0;
  if (given.count("fail-if") > 0 && given.count("compat") > 0) {
    throw UsageError("--fail-if does not go with --compat: it uses oplens' own rules");
  }
  if (given.count("all") > 0 && !has_base) throw UsageError("--all needs --diff");
  const ViewRequest request = ReadRequest(given, *options);
  std::string views(request.list);
  if (views.empty()) views = "operators";
  if (has_base) {
    options->diff_base = {std::string(GivenText(given, "diff"))};
    if (options->diff_base.front().empty()) {
      throw UsageError("--diff: the name of the base is empty");
    }
  }
  const std::string_view compat = ReadCompat(given);
  if (!compat.empty()) {
    options->compat_diff = PlanCompatDiff(compat, request.list, request.by,
                                          options->format->option == "csv", &options->diff.plans);
    options->compat_diff.top = request.top;
    RefuseWithViews(given, *options);
    return;
  }
  options->gate = ReadGateOptions(given, has_base);
  const size_t tables = PlanDiff(views, request.by).views.size();
  options->diff_print = {given.count("all") > 0, options->format->many, request.top, tables};
  // CSV is for programs, which know the rows by figure.
  TakeByWords(request.by, options->format->option != "csv", &options->diff_print);
  if (tables > 1 && options->format->option == "csv") {
    throw UsageError("several views need --json or --sqlite: give one of them, or one view");
  }
  // After those that are printed.
  for (const std::string& view : options->gate.gate.views()) views += "," + view;
  options->diff = PlanDiff(views, request.by);
  TakeSelection(given, options);
}

void ReadBaseline(const cxxopts::ParseResult& given, Options* options) {
  options->baseline = GivenFile(given, "save-baseline");
  std::string views(GivenText(given, "view"));
  // Comparisons need these.
  if (!views.empty() && views != "all") views += ",overview,places,setup";
  options->views = PlanSummaryViews(views, GivenText(given, "by"), given.count("copies") > 0);
  TakeSelection(given, options);
}

void ReadRankSummaries(const cxxopts::ParseResult& given, Options* options) {
  if (given.count("summary-dir") > 0 && given.count("output") > 0) {
    throw UsageError("--summary-dir names files itself: drop -o");
  }
  options->rank_summary = ReadRankSummary(given);
  options->views = PlanRankSummary(GivenText(given, "summary-views"), GivenText(given, "view"),
                                   GivenText(given, "by"));
  TakeSelection(given, options);
}

/// Sets what is printed, and how.
void ReadTables(const cxxopts::ParseResult& given, const TaskEntry* command, Options* options) {
  // Launchers of many processes give them terminals that nobody looks at.
  const bool to_standard_output = options->output.empty() || options->output == "-";
  options->to_terminal =
      !options->keeps_summaries && to_standard_output && TerminalAt(STDOUT_FILENO).is_terminal;
  options->format = ReadFormat(given, options->to_terminal && given.count("output") == 0);
  options->header_keys = ReadHeader(given["header"].as<std::string>());
  options->exact_cells = ReadCells(given["cells"].as<std::string>());
  if (options->format == &ScreenFormat()) options->screen = ReadScreen(given);
  if (given.count("top") > 0) options->markdown_rows = 0;
  options->max_rows = ReadMaxRows(given);
  const TaskEntry& task = command == nullptr ? TaskOf(given) : *command;
  if (command == nullptr) RefuseOthers(given, task, false, options->keeps_summaries);
  options->task = task.task;
  if (given.count("where") > 0 && Trim(GivenText(given, "where")).empty()) {
    throw UsageError("--where: the condition is empty");
  }
  if (given.count("range") > 0) {
    options->filter = std::make_unique<RangeFilter>(given["range"].as<std::string>());
  }
  options->steps = ReadStepPattern(given);
  switch (options->task) {
    case Task::kRows:
      ReadRows(given, "", options);
      break;
    case Task::kCheck:
      ReadRows(given, "all", options);
      break;
    case Task::kTimeline:
      ReadRows(given, PricedTimeline::kColumns, options);
      break;
    case Task::kViews:
      ReadViews(given, options);
      break;
    case Task::kDiff:
      ReadDiff(given, options);
      break;
    case Task::kBaseline:
      ReadBaseline(given, options);
      break;
    case Task::kRankSummaries:
      ReadRankSummaries(given, options);
      break;
    case Task::kMessage:
      break;
  }
  options->format_value = ReadFormatValue(given, *options->format);
  if (options->format->value == Format::Value::kWidth) {
    RefuseWidth(given["w"].as<int>());
  }
}

OpChoice ReadOpChoice(const std::string& word) {
  constexpr std::string_view kWords[] = {"inner", "outer"};
  return ReadWord("op", word, kWords) == 0 ? OpChoice::kInner : OpChoice::kOuter;
}

Options Read(const cxxopts::Options& declared, const cxxopts::ParseResult& given,
             const TaskEntry* command, bool keeps_summaries) {
  Options options;
  options.keeps_summaries = keeps_summaries;
  const std::string_view views = GivenText(given, "view");
  const bool of_views = given.count("help") > 0 && !views.empty() && views != "list";
  std::optional<std::string> message =
      of_views ? HelpOfViews(views)
               : HelpMessage(command == nullptr ? TextOfProf() : TextOfCommand(*command), declared,
                             given);
  if (message) {
    options.task = Task::kMessage;
    options.message = *std::move(message);
    return options;
  }
  if (given.count("schema") > 0) {
    options.task = Task::kMessage;
    options.message = SchemaText(GivenText(given, "schema"));
    return options;
  }
  if (command != nullptr) {
    RefuseOtherArguments(given, *command);
    RefuseOthers(given, *command, true, keeps_summaries);
  }
  ReadInputs(given, &options);
  options.output = GivenFile(given, "output");
  ReadPricing(given, &options);
  ReadTables(given, command, &options);
  options.op_choice = ReadOpChoice(given["op"].as<std::string>());
  options.many = ReadManyOptions(given);
  return options;
}

/// `command`: null for the command line of `prof`.
Options Parse(int argc, const char* const* argv, const TaskEntry* command, bool keeps_summaries) {
  cxxopts::Options declared = Declare();
  std::vector<const char*> words(argv, argv + argc);
  std::string flag;
  if (command != nullptr && command->form == CommandForm::kFirst) {
    declared.parse_positional({command->option, "file"});
  } else if (command != nullptr && command->form == CommandForm::kFlag &&
             *command->option != '\0') {
    flag = fmt::format("--{}", command->option);
    words.insert(words.begin() + 1, flag.c_str());
  }
  Options options;
  const std::string hint =
      command == nullptr ? "prof -h" : fmt::format("oplens help {}", command->command);
  ReadCommandLine(
      &declared, static_cast<int>(words.size()), words.data(), hint + " lists the options",
      [&](const auto& given) { options = Read(declared, given, command, keeps_summaries); });
  return options;
}

}  // namespace

Options ParseOptions(int argc, const char* const* argv) {
  return Parse(argc, argv, nullptr, false);
}

Options ParseKeepingOptions(int argc, const char* const* argv) {
  return Parse(argc, argv, nullptr, true);
}

Options ParseCommand(std::string_view word, int argc, const char* const* argv) {
  const TaskEntry* const command = FindCommand(word);
  if (command == nullptr) throw UsageError(fmt::format("no command {}", word));
  return Parse(argc, argv, command, false);
}

}  // namespace oplens::prof
