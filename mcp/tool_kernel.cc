#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/shown_text.h"
#include "mcp/tool_parts.h"
#include "mcp/tools.h"

namespace oplens::mcp {
namespace {

/// Neighbours on each side.
constexpr int64_t kBeside = 2;

/// Rows of `kernels` with an idx from `first` to `last`.
AnswerRows Kernels(OpenedRun* run, const KernelKeys& keys, int64_t first, int64_t last,
                   const std::string& columns, WorkMeter* meter, Messages* messages) {
  AnswerRows rows;
  ViewTable table(&rows, &keys, "");
  engine::Query query;
  query.where = fmt::format("idx>={} and idx<={}", first, last);
  query.columns = columns;
  run->run().Ask(query, &table, messages, meter);
  return rows;
}

std::string NeighbourText(const AnswerRows& rows, const std::vector<OrderedJson>& row) {
  const auto cell = [&](std::string_view column) {
    const OrderedJson& value = row[*rows.ColumnOf(column)];
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
  };
  return fmt::format("{} {}, op {}, {} ns, stream {}", cell("key"), cell("kernel"), cell("op"),
                     cell("sil"), cell("stream"));
}

}  // namespace

Found KernelTool(const Arguments& asked, OpenedRuns* runs, CallContext* context) {
  const std::shared_ptr<OpenedRun> run = runs->Open(asked.path, context->meter());
  const screen::Screen& facts = run->Facts(context->meter());
  const KernelKeys& keys = run->Keys(context->meter());
  const std::optional<int64_t> idx = keys.Find(asked.key);
  if (!idx) {
    throw UsageError(fmt::format("there is no kernel '{}': keys stand in the column key of kernels",
                                 prof::ShownText(asked.key)));
  }
  Messages messages("oplens");
  const AnswerRows own = Kernels(run.get(), keys, *idx, *idx, "all", context->meter(), &messages);
  const AnswerRows beside = Kernels(run.get(), keys, *idx - kBeside, *idx + kBeside,
                                    "idx,kernel,op,sil,stream", context->meter(), &messages);
  Found found{{}, AnswerRows(static_cast<size_t>(asked.skip))};
  found.rows.BeginPlain({"fact", "value"});
  std::vector<std::string_view> unknown;
  if (own.rows().empty()) throw UsageError("the kernel is gone: the file was written since");
  for (size_t i = 0; i < own.columns().size(); ++i) {
    const OrderedJson& cell = own.rows().front()[i];
    if (cell.is_null()) {
      unknown.push_back(own.columns()[i]);
    } else {
      found.rows.Add({own.columns()[i], cell});
    }
  }
  for (const auto& row : beside.rows()) {
    const int64_t place = row[*beside.ColumnOf("idx")].get<int64_t>() - *idx;
    if (place == 0) continue;
    found.rows.Add({fmt::format("neighbour {:+}", place), NeighbourText(beside, row)});
  }
  Answer& answer = found.answer;
  answer.title = fmt::format("kernel {}", keys.KeyOf(*idx));
  if (!unknown.empty()) {
    answer.notes.push_back(fmt::format("unknown: {}", fmt::join(unknown, " ")));
  }
  answer.evidence = {CommandOf({"kernels", "-c", "all", "--where", fmt::format("idx={}", *idx)},
                               run->place().named),
                     run->place().named, run->hash(), "recorded+computed", ShareOf(facts)};
  const std::optional<size_t> op = own.ColumnOf("op");
  const bool has_op = op && own.rows().front()[*op].is_string();
  answer.next = {"view", {{"path", run->place().named}, {"name", "groups"}}, ""};
  answer.next.arguments["by"] = has_op ? "kernel,shape" : "kernel,grid";
  if (has_op) {
    const auto name = own.rows().front()[*op].get<std::string>();
    const bool plain = std::ranges::all_of(
        name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (plain) answer.next.arguments["where"] = "op=" + name;
  }
  answer.next.why = has_op ? "the other kernels of this op" : "all kernels by launch";
  return found;
}

}  // namespace oplens::mcp
