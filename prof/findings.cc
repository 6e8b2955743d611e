#include "prof/findings.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/summary_file/hashed_host.h"
#include "prof/summary_file/kept_losses.h"
#include "prof/summary_file/section.h"

namespace oplens::prof {
namespace {

void SaveLosses(const Diagnostics& losses, ByteWriter* bytes) {
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    const int64_t count = losses.CountOf(reason);
    bytes->Counts(&count);
    bytes->Values(&losses.ExamplesOf(reason));
  }
  bytes->Values(&losses.notes(), &losses.lost_files());
}

void LoadLosses(ByteReader* bytes, Diagnostics* losses) {
  for (int i = 0; i < kReasonCount; ++i) {
    int64_t count = 0;
    std::vector<std::string> examples;
    bytes->Counts(&count);
    bytes->Values(&examples);
    for (std::string& example : examples) losses->Count(static_cast<Reason>(i), std::move(example));
    losses->CountMany(static_cast<Reason>(i), count - static_cast<int64_t>(examples.size()));
  }
  std::vector<std::string> notes;
  std::vector<std::string> lost_files;
  bytes->Values(&notes, &lost_files);
  for (std::string& note : notes) losses->Note(std::move(note));
  for (std::string& file : lost_files) losses->NoteLost(std::move(file));
}

/// Whether a word of --by transforms the name of a rank, which is not known yet.
bool ChangesRank(const std::string& word) { return word.starts_with("rank") && word != "rank"; }

}  // namespace

std::string BytesOf(const Findings& findings) {
  ByteWriter bytes;
  SaveSummary(findings.summary, &bytes);
  bytes.Values(&findings.notes, &findings.told);
  SaveLosses(findings.losses, &bytes);
  return bytes.Take();
}

std::unique_ptr<Findings> FindingsOf(std::string_view bytes, const std::string& what) {
  auto findings = std::make_unique<Findings>();
  ByteReader reader(bytes, what);
  reader.TrustTexts();
  findings->summary = LoadSummary(&reader);
  for (Section& section : findings->summary.sections) section.is_own = true;
  reader.Values(&findings->notes, &findings->told);
  LoadLosses(&reader, &findings->losses);
  reader.End();
  return findings;
}

bool CanFindApart(const FindOptions& options) {
  const PriceOptions& pricing = options.pricing;
  if (pricing.filter != nullptr || pricing.steps != nullptr || pricing.where != nullptr) {
    return false;
  }
  return std::all_of(options.plans->begin(), options.plans->end(), [](const ViewPlan& plan) {
    const ViewOptions& view = plan.options;
    return plan.view->saved_form > 0 && view.what_if.empty() &&
           std::none_of(view.by.begin(), view.by.end(), ChangesRank);
  });
}

std::unique_ptr<Findings> FindIn(Inputs* inputs, size_t place, const FindOptions& options) {
  const std::string salt = SaltOr(options.salt, inputs->waiting(place).path);
  inputs->TakeOnly(place, RankMark);
  SummarySink sink(*options.plans, options.run, std::filesystem::current_path().string(),
                   options.texts, salt);
  auto findings = std::make_unique<Findings>();
  PriceOptions pricing = options.pricing;
  pricing.messages = nullptr;
  PriceSome(inputs, pricing, &sink, &findings->losses, &findings->told);
  findings->notes = sink.Notes();
  findings->summary = sink.Take(options.writer);
  findings->summary.ranks = inputs->marked_ranks();
  KeepLosses(findings->losses, 0, &findings->summary);
  return findings;
}

void FindingsMerger::Add(const Findings& findings, const std::string& name) {
  AddSummary(findings.summary, plans_, namer_.NamesOf(findings.summary.ranks, name), name, runner_);
  AddReport(findings);
}

void FindingsMerger::AddReport(const Findings& findings) {
  told_.Merge(findings.told);
  losses_.Merge(findings.losses);
  notes_.insert(findings.notes.begin(), findings.notes.end());
}

int64_t FindingsMerger::Tell(const PriceOptions& pricing, Messages* messages) {
  messages->losses()->Merge(losses_);
  ReportPrices(told_, pricing, messages->losses());
  for (const std::string& note : notes_) messages->Need(note);
  return told_.kernels + told_.replays;
}

}  // namespace oplens::prof
