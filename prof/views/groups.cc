#include "prof/views/groups.h"

#include <fmt/ranges.h>

#include "prof/views/summary.h"

namespace oplens::prof {
namespace {

class Groups : public Partial {
 public:
  explicit Groups(const ViewOptions& options)
      : plan_(PlanSummary(options.by.empty() ? "kernel"
                                             : fmt::format("{}", fmt::join(options.by, ",")))),
        order_(ParseOrder(options.sort.empty() ? "total" : options.sort, plan_.fields)),
        top_(options.top),
        summary_(&plan_) {}

  void Add(const PricedKernel& kernel) override { summary_.Add(kernel); }
  void AddReplay(const PricedKernel& replay) override { summary_.AddReplay(replay); }
  void End(const Run*) override { summary_.FindSteps(); }
  void Merge(const Partial& other) override {
    summary_.Merge(static_cast<const Groups&>(other).summary_);
  }
  std::vector<Field> Fields() const override { return plan_.fields; }
  void Emit(Sink* sink) const override { summary_.Write(order_, top_, sink); }
  std::vector<std::string> Notes() const override { return summary_.Notes(); }

 private:
  SummaryPlan plan_;
  RowOrder order_;
  size_t top_;
  mutable Summary summary_;
};

}  // namespace

std::unique_ptr<Partial> MakeGroups(const ViewOptions& options) {
  return std::make_unique<Groups>(options);
}

std::vector<Field> GroupsFields() { return FigureFields(); }

}  // namespace oplens::prof
