#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_NVTX_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_NVTX_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// Reads the NVTX events: ranges, marks, and the names of threads, domains and categories.
class NsysNvtx {
 public:
  explicit NsysNvtx(NsysContext* context) : context_(*context), trace_(context->trace) {}

  void Read();

 private:
  /// A domain or category of a process; domain 0 is the default one.
  struct Scope {
    uint32_t process = 0;
    int64_t domain = 0;
    int64_t category = 0;
    friend bool operator<(const Scope& a, const Scope& b) {
      return std::tie(a.process, a.domain, a.category) < std::tie(b.process, b.domain, b.category);
    }
  };

  void ReadSessions();
  /// When the recording ended, for events of this thread; the largest number when unknown.
  int64_t SessionEnd(int64_t global_tid);
  void TakeEvent(int64_t row_id, const Cell* row);
  void TakeRange(int64_t row_id, const Cell* row, bool start_end);
  void TakeMark(int64_t row_id, const Cell* row);
  void TakeThreadName(const Cell* row);
  /// The text of an event; counts the row when it has none that can be read.
  StringId TextOf(int64_t row_id, const Cell* row);
  ItemIndex LabelOf(const Cell* row, bool start_end);
  StringId PayloadOf(const Cell* row);
  /// Names of domains and categories may stand after the ranges that use them.
  void NameLabels();
  void ClassifyRanges();

  NsysContext& context_;
  Trace& trace_;
  std::map<int64_t, int64_t> session_ends_;  // By nsys::MachineKey.
  int64_t last_machine_ = INT64_MIN;
  int64_t last_end_ = 0;
  std::map<Scope, StringId> domains_;  // category 0
  std::map<Scope, StringId> categories_;
  std::map<std::pair<Scope, bool>, ItemIndex> plain_labels_;  // Those without payload.
  std::vector<Scope> label_scopes_;                           // Of Trace::labels.
  std::map<ThreadIndex, StringId> thread_names_;
  int64_t reversed_ = 0;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_NVTX_H_
