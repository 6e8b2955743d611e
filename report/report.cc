#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/path_cutter.h"
#include "parse/records/kernel_records.h"
#include "prof/views/run_views.h"
#include "report/page.h"
#include "report/page_tables.h"
#include "report/timeline/collector.h"

namespace oplens::report {
namespace {

// Bytes of the limit per lane and per step: about five times what each needs.
constexpr size_t kBytesOfLane = 2000;
constexpr size_t kBytesOfStep = 500;

/// The tables of the views, created with the first input.
class ViewTables {
 public:
  /// All must outlive this object. `found`: null for tables of all views.
  ViewTables(const ReportPlan* plan, const PathCutter* cutter, const FoundViews* found = nullptr)
      : plan_(*plan), cutter_(*cutter), found_(found) {}

  /// Call before anything else.
  void Open() {
    if (views_) return;
    plans_ = PlanTables(plan_.limit_bytes, plan_.model, plan_.input_count > 1);
    if (found_ != nullptr) KeepHeld();
    tables_.emplace(plans_, plan_.limit_bytes, &cutter_);
    views_.emplace(plans_.plans, plan_.run, &*tables_);
  }

  const TablePlans& plans() const { return plans_; }
  PageTables& tables() { return *tables_; }
  prof::ViewRunner& views() { return *views_; }
  const prof::ViewRunner& views() const { return *views_; }

 private:
  void KeepHeld() {
    TablePlans all = std::exchange(plans_, {});
    for (size_t i = 0; i < all.plans.size(); ++i) {
      if (!found_->holds(all.plans[i])) continue;
      plans_.plans.push_back(std::move(all.plans[i]));
      plans_.tables.push_back(all.tables[i]);
    }
  }

  const ReportPlan& plan_;
  const PathCutter& cutter_;
  const FoundViews* found_;
  TablePlans plans_;
  std::optional<PageTables> tables_;
  std::optional<prof::ViewRunner> views_;
};

/// Passes kernels to the views and the timeline, which share the analysis of a run.
class ReportSink : public prof::KernelSink {
 public:
  ReportSink(ViewTables* tables, Collector* collector) : tables_(*tables), collector_(*collector) {}

  void BeginInput(const parse::KernelRecords* profile) override {
    tables_.Open();
    tables_.views().BeginInput(profile);
    collector_.Begin(tables_.views().run());
  }
  void Add(const prof::PricedKernel& kernel) override {
    tables_.views().Add(kernel);
    collector_.Add(kernel);
  }
  bool AddReplay(const prof::PricedKernel& replay) override {
    tables_.views().AddReplay(replay);
    return true;  // The timeline shows it.
  }
  void EndInput() override {
    collector_.End(tables_.views().run());
    tables_.views().EndInput();
  }
  void EndLastInput() override {
    collector_.End(tables_.views().run());
    tables_.views().EndLastInput();
  }
  std::optional<int64_t> StepOf(const prof::PricedKernel& kernel,
                                std::optional<int64_t> told) const override {
    return tables_.views().StepOf(kernel, told);
  }
  bool HoldsRows() override { return tables_.views().HoldsRows(); }
  void Flush() override { tables_.views().Flush(); }
  void Settle() override { tables_.views().Settle(); }

 private:
  ViewTables& tables_;
  Collector& collector_;
};

/// A shareable name of an input: relative to the working folder, or its last component.
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

/// Moves the notes of views to their views; returns the other sentences.
void SortNotes(const std::vector<std::string>& notes, Messages* messages, PageContent* content) {
  std::vector<std::string_view> said;
  for (const std::string& note : notes) {
    if (std::find(said.begin(), said.end(), note) != said.end()) continue;
    said.push_back(note);
    if (messages != nullptr) messages->Need(note);
    for (const prof::View& view : prof::Views()) {
      const std::string_view rest = std::string_view(note).substr(
          note.starts_with(view.name) ? view.name.size() : note.size());
      if (rest.starts_with(":")) content->view_notes[view.name].push_back(note);
    }
  }
}

/// Writes what the views and the timeline found. Sets all of `result` but the kernels.
void WritePage(const ReportPlan& plan, const PathCutter& cutter, Timeline timeline,
               const std::function<std::vector<std::string>()>& said, ViewTables* tables,
               Output* output, ReportResult* result) {
  PageContent content;
  content.program = plan.program;
  for (const std::string& input : plan.inputs) {
    content.inputs.push_back(ShownInput(input, plan.folder));
  }
  content.title = plan.title.empty() ? TitleOf(content.inputs) : plan.title;
  SortNotes(tables->views().Notes(), plan.pricing.messages, &content);
  for (const std::string& sentence : said()) content.notes.push_back(cutter.Cut(sentence));
  content.plans = &tables->plans();
  content.tables = &tables->tables();
  content.timeline = std::move(timeline);
  KeepAtMost(plan.limit_bytes / kBytesOfLane, plan.limit_bytes / kBytesOfStep, &content.timeline);
  content.host = plan.host;
  content.limit_bytes = plan.limit_bytes;
  const PageShell shell = SplitPage(EmbeddedPage());
  const Page page(content, shell, cutter);
  page.Write(output);
  result->page_bytes = page.size();
  result->left_out = page.left_out();
}

PathCutter CutterOf(const ReportPlan& plan) {
  return plan.folder.empty() ? PathCutter() : PathCutter(plan.folder);
}

}  // namespace

TraceNeeds NeedsOfReport() { return prof::NeedsOf(PlanTables().plans) | kTimelineNeeds; }

TraceNeeds JsonNeedsOfReport(bool host) { return host ? kJsonTimelineNeeds : TraceNeeds(); }

ReportResult WriteReport(prof::RecordSource* records, const ReportPlan& plan,
                         Diagnostics* diagnostics,
                         const std::function<std::vector<std::string>()>& said, Output* output) {
  const PathCutter cutter = CutterOf(plan);
  ViewTables tables(&plan, &cutter);
  Collector collector({plan.host, plan.limit_bytes, plan.input_count});
  ReportSink sink(&tables, &collector);

  ReportResult result;
  result.kernels = PriceAll(records, plan.pricing, &sink, diagnostics);
  tables.Open();  // If there was no input.
  tables.views().Finish();
  WritePage(plan, cutter, collector.Take(), said, &tables, output, &result);
  return result;
}

ReportResult WriteReport(const FoundViews& found, const ReportPlan& plan,
                         const std::function<std::vector<std::string>()>& said, Output* output) {
  const PathCutter cutter = CutterOf(plan);
  ViewTables tables(&plan, &cutter, &found);
  tables.Open();
  found.give(tables.plans().plans, &tables.views());
  ReportResult result;
  tables.views().Finish();
  Timeline none = Collector({plan.host, plan.limit_bytes, plan.input_count}).Take();
  WritePage(plan, cutter, std::move(none), said, &tables, output, &result);
  return result;
}

}  // namespace oplens::report
