#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "mcp/tool_parts.h"
#include "mcp/tools.h"
#include "prof/views/common/view.h"
#include "prof/views/view_plan.h"

namespace oplens::mcp {
namespace {

// Kernels without `columns`: what tells most of each.
constexpr char kKernelColumns[] = "kernel,op,dir,sil,tflops,tc";
constexpr char kCopyColumns[] = "kind,src,dst,bytes,dur,gbps,start";

/// The columns of a view for a narrow page: its keys, and what matters.
std::string ColumnsOf(const Arguments& asked) {
  if (!asked.columns.empty()) return asked.columns;
  if (asked.name == "kernels") return kKernelColumns;
  if (asked.name == "copies") return kCopyColumns;
  const prof::ViewPlan plan =
      prof::PlanViews({.list = asked.name, .by = asked.by, .in_lines = true, .narrow = true})
          .front();
  const std::vector<prof::Field> fields = prof::FieldsOf(*plan.view, plan.options);
  std::vector<std::string_view> keys;
  for (const size_t place : plan.places) keys.push_back(fields[place].key);
  // The command is the next call.
  if (asked.name == "advice" || asked.name == "verdict") keys.emplace_back("command");
  return fmt::format("{}", fmt::join(keys, ","));
}

bool Lists(std::string_view columns, std::string_view key) {
  return fmt::format(",{},", columns).find(fmt::format(",{},", key)) != std::string::npos;
}

/// The words of the equivalent command line.
std::vector<std::string> WordsOf(const Arguments& asked) {
  std::vector<std::string> words;
  if (asked.name == "kernels" || asked.name == "copies") {
    words = {asked.name};
  } else if (asked.name == "groups") {
    words = {"groups", asked.by};
  } else {
    words = {"view", asked.name};
    if (!asked.by.empty()) words.insert(words.end(), {"--by", asked.by});
  }
  if (!asked.where.empty()) words.insert(words.end(), {"--where", asked.where});
  if (!asked.columns.empty()) words.insert(words.end(), {"-c", asked.columns});
  if (!asked.sort.empty()) words.push_back("--sort=" + asked.sort);
  if (asked.top > 0) words.insert(words.end(), {"--top", std::to_string(asked.top)});
  return words;
}

/// Columns that are null in all rows are named instead of shown.
void DropUnknown(AnswerRows* rows, Answer* answer) {
  const std::vector<std::string> dropped = rows->DropUnknown();
  if (dropped.empty()) return;
  answer->notes.push_back(fmt::format("unknown in all rows: {}", fmt::join(dropped, ", ")));
}

}  // namespace

Found ViewTool(const Arguments& asked, OpenedRuns* runs, CallContext* context) {
  const bool kernels = asked.name == "kernels";
  if (asked.name.find(',') != std::string::npos || asked.name == "all" || asked.name == "list") {
    throw UsageError("name: one view at a time; open lists them");
  }
  if (asked.name == "groups" && asked.by.empty())
    throw UsageError("groups need by, such as op,dir");
  const std::shared_ptr<OpenedRun> run = runs->Open(asked.path, context->meter());
  const screen::Screen& facts = run->Facts(context->meter());
  std::string columns = ColumnsOf(asked);
  engine::Query query;
  std::string hidden;
  const KernelKeys* keys = nullptr;
  if (kernels && Lists(columns, "kernel")) {
    keys = &run->Keys(context->meter());
    if (!Lists(columns, "idx") && !Lists(columns, "all")) {
      hidden = "idx";
      columns += ",idx";
    }
  }
  if (asked.name == "copies") {
    query.more.emplace_back("copies", "");
  } else if (asked.name == "groups") {
    query.view = "groups";
  } else if (!kernels) {
    query.view = asked.name;
  }
  query.by = asked.by;
  query.where = asked.where;
  query.columns = columns;
  query.top = static_cast<size_t>(asked.top);
  if (!asked.sort.empty()) query.more.emplace_back("sort", asked.sort);

  Found found{{}, AnswerRows(static_cast<size_t>(asked.skip))};
  ViewTable table(&found.rows, keys, hidden);
  Messages messages("oplens");
  run->run().Ask(query, &table, &messages, context->meter());
  Answer& answer = found.answer;
  answer.title =
      SafeText(fmt::format("{}{}{}: {} rows", asked.name, asked.by.empty() ? "" : " by " + asked.by,
                           asked.where.empty() ? "" : " where " + asked.where, found.rows.all()),
               kSentenceColumns);
  answer.evidence = {CommandOf(WordsOf(asked), run->place().named), run->place().named, run->hash(),
                     BasisOf(facts, table.fields()), ShareOf(facts)};
  const std::optional<size_t> command = found.rows.ColumnOf("command");
  if (command && (asked.name == "advice" || asked.name == "verdict")) {
    for (const auto& row : found.rows.rows()) {
      if (!row[*command].is_string()) continue;
      answer.next = CallOfCommand(row[*command].get<std::string>(), run->place().named,
                                  "the first row's evidence");
      break;
    }
    if (asked.columns.empty()) found.rows.DropColumn(*command);
  }
  if (answer.next.tool.empty()) answer.next = NextOf(facts, run->place().named, asked.name);
  DropUnknown(&found.rows, &answer);
  constexpr size_t kMostNotes = 3;
  AddNotes(messages.Sentences(), kMostNotes, &answer);
  return found;
}

}  // namespace oplens::mcp
