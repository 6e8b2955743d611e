#ifndef OPLENS_PROF_FINDINGS_H_
#define OPLENS_PROF_FINDINGS_H_

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/messages.h"
#include "prof/input/profile_records.h"
#include "prof/input/rank_namer.h"
#include "prof/price_all.h"
#include "prof/summary_file/summary_sink.h"

namespace oplens::prof {

/// What was found in one input of a run, apart from the others: to be merged with theirs.
struct Findings {
  SummaryFile summary;             ///< What each view found; ranks are marked.
  std::vector<std::string> notes;  ///< ViewRunner::Notes().
  Diagnostics losses;
  PricingTold told;
};

/// To send them to another process of this program, and what was sent. The bytes are good for the
/// same build alone. Throws Error where they are damaged; `what` they are: "rank0.json".
std::string BytesOf(const Findings& findings);
std::unique_ptr<Findings> FindingsOf(std::string_view bytes, const std::string& what);

/// What is looked for in each input.
struct FindOptions {
  const std::vector<ViewPlan>* plans = nullptr;  ///< Of views that save, by our rules.
  RunOptions run;
  PriceOptions pricing;  ///< Without filter, steps and where, which are of a whole run.
  SummaryTexts texts = SummaryTexts::kWhole;
  std::string writer = {};  ///< SummaryFile::writer.
  std::string salt = {};    ///< Of --salt; "": SaltOf.
};

/// Whether inputs can be looked at apart: of plans or pricing nothing is of the whole run.
bool CanFindApart(const FindOptions& options);

/// Reads one of the inputs that wait, and no other. Throws Error where it cannot be read.
std::unique_ptr<Findings> FindIn(Inputs* inputs, size_t place, const FindOptions& options);

/// Puts together what was found in the inputs of a run, in their order.
class FindingsMerger {
 public:
  /// `runner`, of the same plans, takes what the views found (null: only AddTold() is
  /// called). `input_count`: of the run.
  FindingsMerger(const std::vector<ViewPlan>& plans, size_t input_count, ViewRunner* runner)
      : plans_(plans), namer_(input_count), runner_(runner) {}

  /// Of the next input. `name`: ProfileInput::name.
  void Add(const Findings& findings, const std::string& name);
  /// The same, but for what the views found.
  void AddTold(const Findings& findings);
  /// After the last one: what there is to say of all, but for what the views say. Answers the
  /// number of kernels and replays.
  int64_t Tell(const PriceOptions& pricing, Messages* messages);

 private:
  const std::vector<ViewPlan>& plans_;
  RankNamer namer_;
  ViewRunner* runner_;
  PricingTold told_;
  Diagnostics losses_;
  std::set<std::string> notes_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_FINDINGS_H_
