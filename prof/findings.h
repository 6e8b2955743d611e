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

/// What was found in one input of a run, to be merged with that of the others.
struct Findings {
  SummaryFile summary;             ///< Results of each view; ranks are marked.
  std::vector<std::string> notes;  ///< ViewRunner::Notes().
  Diagnostics losses;
  PricingReport told;
};

/// For sending findings to another process of the same build. Throws Error on damaged bytes; `what`
/// names them: "rank0.json".
std::string BytesOf(const Findings& findings);
std::unique_ptr<Findings> FindingsOf(std::string_view bytes, const std::string& what);

struct FindOptions {
  const std::vector<ViewPlan>* plans = nullptr;  ///< Views that save, by our rules.
  RunOptions run;
  PriceOptions pricing;  ///< Without filter, steps and where, which need the whole run.
  SummaryTexts texts = SummaryTexts::kWhole;
  std::string writer = {};  ///< SummaryFile::writer.
  std::string salt = {};    ///< --salt; "": SaltOf.
};

/// Whether inputs can be read separately: no plan or pricing option needs the whole run.
bool CanFindApart(const FindOptions& options);

/// Reads the waiting input at `place` only. Throws Error if it cannot be read.
std::unique_ptr<Findings> FindIn(Inputs* inputs, size_t place, const FindOptions& options);

class FindingsMerger {
 public:
  /// `runner`: of the same plans, receives the views' results; null if only AddReport() is called.
  /// `input_count`: of the run.
  FindingsMerger(const std::vector<ViewPlan>& plans, size_t input_count, ViewRunner* runner)
      : plans_(plans), namer_(input_count), runner_(runner) {}

  /// Adds the next input. `name`: ProfileInput::name.
  void Add(const Findings& findings, const std::string& name);
  /// As Add(), without the views' results.
  void AddReport(const Findings& findings);
  /// After the last input: reports everything except the views' notes. Returns the number of
  /// kernels and replays.
  int64_t Tell(const PriceOptions& pricing, Messages* messages);

 private:
  const std::vector<ViewPlan>& plans_;
  RankNamer namer_;
  ViewRunner* runner_;
  PricingReport told_;
  Diagnostics losses_;
  std::set<std::string> notes_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_FINDINGS_H_
