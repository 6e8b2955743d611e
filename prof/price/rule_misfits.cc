#include "prof/price/rule_misfits.h"

#include <fmt/format.h>

#include "base/shown_text.h"

namespace oplens::prof {

void RuleMisfits::Add(const ops::RuleMisfit& misfit) {
  Found& found = found_[misfit.rule];
  if (found.last_kernel == kernel_) return;
  found.last_kernel = kernel_;
  if (found.kernels++ == 0) found.why = misfit.why;
  found.has_others = found.has_others || found.why != misfit.why;
}

void RuleMisfits::Merge(const RuleMisfits& other) {
  for (const auto& [rule, its] : other.found_) {
    Found& found = found_[rule];
    if (found.kernels == 0) found.why = its.why;
    found.has_others = found.has_others || its.has_others || found.why != its.why;
    found.kernels += its.kernels;
  }
}

std::vector<std::string> RuleMisfits::Sentences(const ops::Rules& rules) const {
  std::vector<std::string> sentences;
  for (const auto& [rule, found] : found_) {
    if (rule >= rules.ops().size()) continue;
    const ops::OpRule& op = rules.ops()[rule];
    sentences.push_back(
        fmt::format("--rules: {}: the rule of '{}' does not fit the calls of {} kernel{}{}: {}",
                    op.place, ShownText(op.name), found.kernels, found.kernels == 1 ? "" : "s",
                    found.has_others ? ", for several reasons, such as" : "", found.why));
  }
  return sentences;
}

}  // namespace oplens::prof
