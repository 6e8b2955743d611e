#ifndef OPLENS_PROF_COMPARE_RUNS_H_
#define OPLENS_PROF_COMPARE_RUNS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_line.h"
#include "parse/model/messages.h"
#include "parse/model/trace_needs.h"
#include "prof/diff/compare.h"
#include "prof/input_options.h"
#include "prof/price_all.h"
#include "prof/table/kept_rows.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

struct RunOptions;
class ViewRunner;

/// For clients that make more of two runs than tables.
struct ComparisonFeed {
  TraceNeeds needs;       ///< Of all profiles, besides those of the views.
  TraceNeeds json_needs;  ///< Of PyTorch's traces, likewise.
  /// Makes what the kernels of a side are passed to, which passes them on to `views`. Not called
  /// for summaries and what is compared with one. `inputs`: files of the side.
  std::function<std::unique_ptr<KernelSink>(bool is_new, size_t inputs, ViewRunner* views)> sink;
};

/// Reads and compares two runs; each is profiles, folders of them, or one summary
/// (docs/summary_format.md).
class RunComparison {
 public:
  /// `options.inputs` are of the new run; an empty `base` means there is only this one. `run`
  /// selects what to look at in both. All must outlive this object.
  RunComparison(const InputOptions& options, const std::vector<std::string>& base,
                const DiffPlan& plan, const RunOptions& run, std::string_view tool)
      : options_(options), base_(base), plan_(plan), run_(run), tool_(tool) {}

  /// For clients that must not print, before Read(): as Inputs::Quietly().
  void Quietly(std::function<void(const std::string& problem)> tell, WorkMeter* meter) {
    tell_ = std::move(tell);
    meter_ = meter;
  }

  /// Before Read().
  void PassThrough(ComparisonFeed feed) { feed_ = std::move(feed); }

  /// Reads both runs. Throws Error. `status` shows the progress; may be null.
  void Read(StatusLine* status, Messages* base_messages, Messages* messages);
  /// After Read(): the tables of each side, valid as long as this object,
  DiffInput base() const;
  DiffInput now() const;
  /// and their comparison, likewise.
  Diff Make() const;
  /// After Read(): whether a file of a folder was left out, now or when a summary was made.
  size_t left_out() const { return base_left_out_ + left_out_; }

 private:
  void ReadSide(const std::vector<std::string>& paths, bool as_saved, bool is_new,
                StatusLine* status, Messages* messages, KeptTables* tables);

  const InputOptions& options_;
  const std::vector<std::string>& base_;
  const DiffPlan& plan_;
  const RunOptions& run_;
  std::string_view tool_;
  std::function<void(const std::string& problem)> tell_;
  WorkMeter* meter_ = nullptr;
  ComparisonFeed feed_;
  size_t base_left_out_ = 0;
  size_t left_out_ = 0;
  std::string base_lost_;  // LostText().
  std::string lost_;
  KeptTables base_tables_;
  KeptTables now_tables_;
};

/// Whether `paths` is a single summary. Throws Error if it has a summary and other inputs.
bool IsOneSummary(const std::vector<std::string>& paths);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPARE_RUNS_H_
