#ifndef OPLENS_ENGINE_RUN_H_
#define OPLENS_ENGINE_RUN_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/work_meter.h"
#include "engine/query.h"
#include "parse/model/messages.h"
#include "prof/table/sink.h"

namespace oplens {
class TraceNeeds;
namespace prof {
class RecordSource;
}  // namespace prof
}  // namespace oplens

namespace oplens::engine {

/// A run: the profiles of its ranks, read once and asked again and again. Prints nothing, forks
/// nothing; ranks are read, and views found of them, by threads. Between questions profiles stay in
/// memory, joined: some 300 bytes per kernel and as much per range. They are read again only for a
/// view that needs a part of them which no earlier one needed. Files of records, and summaries, are
/// read for each question.
///
/// Two runs share nothing, so each may have a thread of its own. Questions about one run may come
/// from several threads, and are answered one after the other.
class Run {
 public:
  /// `paths`: files of any family, folders of them, records or summaries; not standard input and no
  /// pipes. `opened`: of execution-trace, evidence, reference, counters, jobs, gpu, rules, step and
  /// op. Opens each file and reads its beginning. Throws UsageError for wrong words, Error for
  /// files that cannot be read.
  explicit Run(std::vector<std::string> paths, Words opened = {});
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Answers with the tables of `prof --json` for the same words, figure by figure, and commits
  /// `destination`, which gets a table per view, in part from another thread than the caller's, but
  /// one at a time. Adds to `messages` what `prof` says on standard
  /// error. `meter`, which may be null, counts the work and may stop it. Returns the number of rows
  /// of the table with the fewest, apart from views that may be empty. Throws UsageError for wrong
  /// words, Error, and Interrupted; the run can be asked again after each of them.
  int64_t Ask(const Query& query, prof::Destination* destination, Messages* messages,
              WorkMeter* meter = nullptr);

  /// For the project's own pages and timelines: calls `read` once with the records of all ranks,
  /// which it must read to their end, and the files that they are from. `needs`, `json_needs`: as
  /// of prof::Inputs. The rest as Ask(). Throws Error for summaries.
  using Reader =
      std::function<void(prof::RecordSource* records, const std::vector<std::string>& files)>;
  void Read(TraceNeeds needs, TraceNeeds json_needs, const Reader& read, Messages* messages,
            WorkMeter* meter = nullptr);

  const std::vector<std::string>& paths() const;
  const Words& opened() const;
  /// What is wrong with each input that was left out, so far.
  std::vector<std::string> left_out() const;
  /// Forgets the profiles in memory; the next question reads them again.
  void Forget();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace oplens::engine

#endif  // OPLENS_ENGINE_RUN_H_
