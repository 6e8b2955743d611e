#ifndef OPLENS_PARSE_READERS_NSYS_NSYS_NVTX_H_
#define OPLENS_PARSE_READERS_NSYS_NSYS_NVTX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/id_numbers.h"
#include "base/id_pages.h"
#include "parse/model/reason.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"
#include "parse/readers/nsys/nsys_context.h"

namespace oplens::parse {

/// The NVTX events: ranges, marks, and the names of threads, domains and categories. Read in two
/// parts: what the rows say, which a thread may find out while others of the context's tables are
/// read, and their places in the trace.
class NsysNvtx {
 public:
  /// `context` must outlive this object. Looks up the tables.
  explicit NsysNvtx(NsysContext* context);

  /// Whether Scan() will run beside other readers: it may, and is worth a thread.
  bool scans_beside() const { return own_texts_.has_value(); }
  /// Reads the rows, once the strings were read. Beside others it changes nothing of the context.
  void Scan();
  /// Adds what Scan() found to the trace and its diagnostics.
  void Place();

 private:
  /// A domain or category of a process; domain 0 is the default one.
  struct Scope {
    int64_t process = 0;  ///< nsys::ProcessKey
    int64_t domain = 0;
    int64_t category = 0;
    friend bool operator<(const Scope& a, const Scope& b) {
      return std::tie(a.process, a.domain, a.category) < std::tie(b.process, b.domain, b.category);
    }
  };

  void ReadSessions();
  /// Returns when the recording of this thread ended; the largest number if unknown.
  int64_t SessionEnd(int64_t global_tid);
  void TakeEvent(int64_t row_id, const Cell* row);
  void TakeRange(int64_t row_id, const Cell* row, bool start_end);
  void TakeMark(int64_t row_id, const Cell* row);
  void TakeThreadName(const Cell* row);
  /// Returns the text of an event; counts the row if it has no readable one.
  StringId TextOf(int64_t row_id, const Cell* row);
  StringId TextOf(const Cell& cell);
  StringId Intern(std::string_view text);
  /// Returns the thread's index in threads_.
  ThreadIndex ThreadOf(int64_t global_tid);
  ItemIndex LabelOf(const Cell* row, bool start_end);
  StringId PayloadOf(const Cell* row);
  void CountBadRow(int64_t row_id);
  /// Takes the places of threads, processes and texts in the trace.
  void PlaceIds();
  /// Done last: names of domains and categories may follow the ranges that use them.
  void NameLabels();
  void ClassifyRanges();

  /// Marks an id of own_texts_, until PlaceIds().
  static constexpr StringId kOwn = StringId{1} << 31;

  NsysContext& context_;
  Trace& trace_;
  std::optional<StringPool> own_texts_;  // Of a scan beside others: texts without an id.
  IdPages::Last last_string_;
  Diagnostics diagnostics_;
  std::map<int64_t, int64_t> session_ends_;  // By nsys::MachineKey.
  int64_t last_machine_ = INT64_MIN;
  int64_t last_end_ = 0;
  IdNumbers threads_;          // Global thread ids.
  IdNumbers processes_;        // nsys::ProcessKey
  std::vector<Range> ranges_;  // Their threads are numbers of threads_, until PlaceIds().
  std::vector<RangeItem> range_items_;
  std::vector<Instant> instants_;
  std::vector<Label> labels_;
  std::vector<Scope> label_scopes_;                           // Per label.
  std::map<std::pair<Scope, bool>, ItemIndex> plain_labels_;  // Those without payload.
  std::map<Scope, StringId> domains_;                         // category 0
  std::map<Scope, StringId> categories_;
  std::map<ThreadIndex, StringId> thread_names_;
  int64_t reversed_ = 0;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NSYS_NSYS_NVTX_H_
