#include "python/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/output.h"
#include "base/run_files.h"
#include "engine/query_options.h"
#include "oplens/make_screen.h"
#include "oplens/render.h"
#include "prof/compare_runs.h"
#include "prof/diff/print_diff.h"
#include "prof/options.h"
#include "prof/price_all.h"
#include "prof/view_task.h"
#include "prof/views/kernels/priced_timeline.h"
#include "report/options.h"
#include "report/report.h"

namespace oplens::python {
namespace {

constexpr std::string_view kTool = "oplens";

void RefuseOverwriting(const prof::InputOptions& options, const std::string& path) {
  if (path.empty() || path == "-") throw UsageError("name the file to write");
  RunFiles files = options.FilesRead();
  files.Write(path, "the output");
  files.RefuseOverwriting();
}

/// Lines without the program's name.
std::vector<std::string> LinesOf(std::string_view text) {
  const std::string prefix = fmt::format("{}: ", kTool);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> DamageOf(const Diagnostics& losses) {
  Diagnostics damage;
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (SeverityOf(reason) < Severity::kDamage || losses.CountOf(reason) == 0) continue;
    damage.CountMany(reason, losses.CountOf(reason));
  }
  for (const std::string& file : losses.lost_files()) damage.NoteLost(file);
  return LinesOf(damage.Render(kTool));
}

prof::Options OptionsOfRun(const engine::Run& run) {
  return engine::OptionsOf(run.paths(), run.opened(), {.view = "overview"});
}

/// Options of `report` are those of a run, but for some that it does not take.
report::Options PageOptions(const engine::Run& run, const std::string& path,
                            const engine::Words& words) {
  std::vector<std::string> line = {std::string(kTool)};
  const auto add = [&](const auto& word) {
    if (word.second.find('\0') != word.second.npos) throw UsageError("a word holds a NUL byte");
    line.push_back(word.second.empty() ? fmt::format("--{}", word.first)
                                       : fmt::format("--{}={}", word.first, word.second));
  };
  for (const auto& word : run.opened()) {
    if (word.first != "op" && word.first != "jobs") add(word);
  }
  for (const auto& word : words) {
    if (word.first == "open" || word.first == "output" || word.first == "diff") {
      throw UsageError(fmt::format("a page has no option '{}' here", word.first));
    }
    add(word);
  }
  line.insert(line.end(), {"-o", path, "--"});
  line.insert(line.end(), run.paths().begin(), run.paths().end());
  std::vector<const char*> argv;
  for (const std::string& word : line) argv.push_back(word.c_str());
  report::Options options = report::ParseOptions(static_cast<int>(argv.size()), argv.data());
  if (!options.message.empty()) throw UsageError("a page has no option 'help' here");
  return options;
}

}  // namespace

Told ToldOf(Messages* messages, const std::vector<std::string>& left_out) {
  Told told;
  told.notes = messages->Sentences();
  told.lost = DamageOf(*messages->losses());
  for (const std::string& problem : left_out) {
    told.lost.push_back(fmt::format("{}; left out", problem));
    told.notes.push_back(told.lost.back());
  }
  return told;
}

std::string ScreenOf(engine::Run* run, bool markdown, Told* told, WorkMeter* meter) {
  const prof::Options options = OptionsOfRun(*run);
  Messages messages(kTool);
  screen::Screen found;
  const auto read = [&](prof::RecordSource* records, const std::vector<std::string>& files) {
    screen::ScreenPlan plan;
    plan.inputs = run->paths();
    plan.several = files.size() > 1;
    plan.one_file = std::ranges::count(files, files.front()) == std::ssize(files);
    plan.pricing = options.Pricing();
    plan.run = options.run;
    found = screen::MakeScreen(records, plan, messages.losses());
  };
  run->Read(screen::NeedsOfScreen(), {}, read, &messages, meter);
  *told = ToldOf(&messages, run->left_out());
  screen::Look look;
  look.markdown = markdown;
  return screen::Render(found, look);
}

void WritePage(engine::Run* run, const std::string& path, const engine::Words& words, Told* told,
               WorkMeter* meter) {
  const report::Options options = PageOptions(*run, path, words);
  RefuseOverwriting(options, path);
  Output output(path, PackingOf(path));
  Messages messages(kTool);
  const auto read = [&](prof::RecordSource* records, const std::vector<std::string>& files) {
    report::ReportPlan plan;
    plan.program = fmt::format("oplens {}", OPLENS_VERSION);
    plan.title = options.title;
    plan.inputs = run->paths();
    plan.input_count = files.size();
    if (!options.keep_paths) {
      std::error_code unknown;
      plan.folder = std::filesystem::current_path(unknown).string();
      if (plan.folder.empty()) plan.folder = "/";
    }
    plan.limit_bytes = options.limit_bytes;
    plan.host = options.host;
    plan.run = options.run;
    plan.model = options.model;
    plan.pricing = options.Pricing();
    plan.pricing.messages = &messages;
    const report::ReportResult result = report::WriteReport(
        records, plan, messages.losses(), [&] { return messages.Sentences(); }, &output);
    for (const std::string& sentence : result.left_out) {
      messages.Need("not on the page: " + sentence);
    }
  };
  run->Read(report::NeedsOfReport(), report::JsonNeedsOfReport(options.host), read, &messages,
            meter);
  output.Commit();
  *told = ToldOf(&messages, run->left_out());
}

void WriteTimeline(engine::Run* run, const std::string& path, const std::string& columns,
                   Told* told, WorkMeter* meter) {
  engine::Words words = {{"chrome", ""}};
  if (!columns.empty()) words.emplace_back("c", columns);
  const prof::Options options = engine::OptionsOfTask(run->paths(), run->opened(), words);
  RefuseOverwriting(options, path);
  Output output(path, PackingOf(path));
  Messages messages(kTool);
  prof::PricedTimeline timeline(options.kernel_columns(), &output);
  const auto read = [&](prof::RecordSource* records, const std::vector<std::string>&) {
    prof::PriceAll(records, prof::PriceOptionsOf(options, &messages), &timeline, messages.losses());
  };
  run->Read(prof::NeedsOfTimeline(), {}, read, &messages, meter);
  timeline.Finish();
  output.Commit();
  *told = ToldOf(&messages, run->left_out());
}

void MakeDiff(const engine::Run& base, const engine::Run& now, const engine::Words& words,
              prof::ArrowTables* tables, std::string* text, Told* told, WorkMeter* meter) {
  engine::Words all = {{"diff", base.paths().front()}};
  all.insert(all.end(), words.begin(), words.end());
  prof::Options options = engine::OptionsOfTask(now.paths(), now.opened(), all);
  if (options.compat_diff.rules != nullptr) {
    throw UsageError("compat: comparisons by the rules of other tools are oplens diff --compat");
  }
  options.diff_base = base.paths();
  Messages base_messages(kTool);
  Messages messages(kTool);
  std::vector<std::string> left_out;
  prof::RunComparison comparison(options, options.diff_base, options.diff, options.run, kTool);
  comparison.Quietly([&](const std::string& problem) { left_out.push_back(problem); }, meter);
  comparison.Read(nullptr, &base_messages, &messages);
  const prof::Diff diff = comparison.Make();
  for (const std::string& note : diff.notes) messages.Need(note);
  prof::PrintDiff(diff, options.diff_print, tables);
  *text = prof::DiffText(diff);
  *told = ToldOf(&messages, left_out);
  Told of_base = ToldOf(&base_messages, {});
  for (std::string& note : of_base.notes) told->notes.push_back("base: " + note);
  for (std::string& line : of_base.lost) told->lost.push_back("base: " + line);
}

}  // namespace oplens::python
