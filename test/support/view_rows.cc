#include "test/support/view_rows.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "prof/compat/compat.h"
#include "prof/input/profile_records.h"
#include "prof/price_all.h"
#include "prof/run/run.h"
#include "prof/views/collectives/collective_matches.h"

namespace oplens::test {
namespace {

using prof::Cell;

struct TextOf {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{:.17g}", value); }
  std::string operator()(std::string_view text) const { return std::string(text); }
  std::string operator()(const Dim3& extent) const {
    return fmt::format("{},{},{}", extent.x, extent.y, extent.z);
  }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "(list)";
  }
};

class Rows : public prof::Sink {
 public:
  explicit Rows(std::vector<prof::Field> fields) : fields_(std::move(fields)) {}
  void Begin(std::string_view, std::vector<prof::Field>) override {}
  void Row(std::span<const Cell> cells) override {
    ViewRow& row = rows.emplace_back();
    for (size_t i = 0; i < fields_.size(); ++i) {
      row[std::string(fields_[i].key)] = std::visit(TextOf(), cells[i].value);
    }
  }
  std::vector<ViewRow> rows;

 private:
  std::vector<prof::Field> fields_;
};

class OneView : public prof::KernelSink {
 public:
  OneView(const prof::View& view, const prof::ViewOptions& options)
      : view_(view), options_(options), found{view.make(options), {}} {}

  void BeginInput(const parse::KernelRecords* profile) override {
    partial_ = view_.make(options_);
    run_.reset();
    if (profile != nullptr) run_.emplace(*profile);
    partial_->Begin(run());
  }
  void Add(const prof::PricedKernel& kernel) override { partial_->Add(kernel); }
  bool AddReplay(const prof::PricedKernel& replay) override {
    partial_->AddReplay(replay);
    return false;
  }
  void EndInput() override {
    partial_->End(run());
    if (view_.calls && run_) found.calls.Add(*run_);
    found.partial->Merge(*partial_);
  }

 private:
  const prof::Run* run() const { return run_ ? &*run_ : nullptr; }

  const prof::View& view_;
  prof::ViewOptions options_;
  std::optional<prof::Run> run_;
  std::unique_ptr<prof::Partial> partial_;

 public:
  FoundInProfiles found;
};

const prof::View& ViewIn(std::span<const prof::View> views, std::string_view name) {
  for (const prof::View& view : views) {
    if (view.name == name) return view;
  }
  throw std::invalid_argument(std::string(name));
}

}  // namespace

const prof::View& ViewNamed(std::string_view name) { return ViewIn(prof::Views(), name); }

const prof::View& ViewBy(std::string_view rules, std::string_view name) {
  return ViewIn(prof::CompatViews(rules), name);
}

std::vector<ViewRow> RowsOf(const prof::Partial& partial) {
  Rows rows(partial.Fields());
  partial.Emit(&rows);
  return rows.rows;
}

FoundInProfiles FindIn(const prof::View& view, const std::vector<std::string>& paths,
                       const prof::ViewOptions& options) {
  Diagnostics diagnostics;
  prof::Inputs inputs(paths, {}, view.needs);
  OneView sink(view, options);
  prof::PriceAll(&inputs, {}, &sink, &diagnostics);
  return std::move(sink.found);
}

void GiveCalls(const prof::CollectiveSet& calls, prof::Partial* partial) {
  prof::GiveCalls(prof::CollectiveMatches(calls), std::span(&partial, 1));
}

std::unique_ptr<prof::Partial> PartialOf(const prof::View& view,
                                         const std::vector<std::string>& paths,
                                         const prof::ViewOptions& options) {
  FoundInProfiles found = FindIn(view, paths, options);
  GiveCalls(found.calls, found.partial.get());
  return std::move(found.partial);
}

}  // namespace oplens::test
