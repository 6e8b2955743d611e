#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "prof/views/run_views.h"
#include "report/data/path_cutter.h"
#include "report/page.h"
#include "report/page_tables.h"
#include "report/timeline/collector.h"

namespace oplens::report {
namespace {

/// Gives kernels to the views and to the timeline, which share what is computed of a run.
class ReportSink : public prof::KernelSink {
 public:
  ReportSink(prof::ViewRunner* views, Collector* collector)
      : views_(*views), collector_(*collector) {}

  void BeginInput(const parse::KernelRecords* profile) override {
    views_.BeginInput(profile);
    collector_.Begin(views_.run());
  }
  void Add(const prof::PricedKernel& kernel) override {
    views_.Add(kernel);
    collector_.Add(kernel);
  }
  bool AddReplay(const prof::PricedKernel& replay) override {
    views_.AddReplay(replay);
    return true;  // On the timeline.
  }
  void EndInput() override {
    collector_.End(views_.run());
    views_.EndInput();
  }
  std::optional<int64_t> StepOf(const prof::PricedKernel& kernel,
                                std::optional<int64_t> told) const override {
    return views_.StepOf(kernel, told);
  }

 private:
  prof::ViewRunner& views_;
  Collector& collector_;
};

/// A name of an input for others: below the working folder, or the last part.
std::string ShownInput(const std::string& input, const std::string& folder) {
  if (folder.empty() || input == "-") return input == "-" ? "standard input" : input;
  const std::filesystem::path path = std::filesystem::path(input).lexically_normal();
  const std::filesystem::path below = path.is_absolute() ? path.lexically_relative(folder) : path;
  const std::string text = below.string();
  if (!text.empty() && text != "." && !text.starts_with("..")) return text;
  const std::filesystem::path whole = (std::filesystem::path(folder) / path).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string TitleOf(const std::vector<std::string>& inputs) {
  if (inputs.empty()) return "standard input";
  if (inputs.size() == 1) return inputs.front();
  return fmt::format("{} and {} more", inputs.front(), inputs.size() - 1);
}

/// Puts what views say beside them; answers the others' sentences.
void SortNotes(const std::vector<std::string>& notes, Diagnostics* diagnostics,
               PageContent* content) {
  std::vector<std::string_view> said;
  for (const std::string& note : notes) {
    if (std::find(said.begin(), said.end(), note) != said.end()) continue;
    said.push_back(note);
    diagnostics->Note(note);
    for (const prof::View& view : prof::Views()) {
      const std::string_view rest = std::string_view(note).substr(
          note.starts_with(view.name) ? view.name.size() : note.size());
      if (rest.starts_with(":")) content->view_notes[view.name].push_back(note);
    }
  }
}

}  // namespace

TraceNeeds NeedsOfReport() { return prof::NeedsOf(PlanTables().plans) | kTimelineNeeds; }

TraceNeeds JsonNeedsOfReport(bool host) { return host ? kJsonTimelineNeeds : TraceNeeds(); }

ReportResult WriteReport(prof::RecordSource* records, const ReportPlan& plan,
                         Diagnostics* diagnostics,
                         const std::function<std::vector<std::string>()>& said, Output* output) {
  const PageShell shell = SplitPage(EmbeddedPage());
  const PathCutter cutter = plan.folder.empty() ? PathCutter() : PathCutter(plan.folder);
  const TablePlans tables_asked = PlanTables();
  PageTables tables(tables_asked, plan.limit_bytes / 2, &cutter);
  prof::ViewRunner views(tables_asked.plans, plan.run, &tables);
  Collector collector({plan.host, plan.limit_bytes, plan.input_count});
  ReportSink sink(&views, &collector);

  ReportResult result;
  result.kernels = PriceAll(records, plan.pricing, &sink, diagnostics);
  views.Finish();

  PageContent content;
  content.program = plan.program;
  for (const std::string& input : plan.inputs) {
    content.inputs.push_back(ShownInput(input, plan.folder));
  }
  content.title = plan.title.empty() ? TitleOf(content.inputs) : plan.title;
  SortNotes(views.Notes(), diagnostics, &content);
  for (const std::string& sentence : said()) content.notes.push_back(cutter.Cut(sentence));
  content.plans = &tables_asked;
  content.tables = &tables;
  content.timeline = collector.Take();
  content.host = plan.host;
  content.limit_bytes = plan.limit_bytes;
  const Page page(content, shell, cutter);
  page.Write(output);
  result.page_bytes = page.size();
  result.left_out = page.left_out();
  return result;
}

}  // namespace oplens::report
