#ifndef OPLENS_REPORT_PAGE_H_
#define OPLENS_REPORT_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/output.h"
#include "base/path_cutter.h"
#include "report/page_shell.h"
#include "report/summary.h"

namespace oplens::report {

/// Chooses what of the content fits, and writes it. In this order: tables of views, the timeline
/// from afar, tables by step and by other keys, counters, events of GPUs, events of the host with
/// links (docs/report_format.md).
///
///     content -> parts, packed -> those that fit -> summary -> HTML
class Page {
 public:
  /// All must outlive this object. Throws UsageError when not even the page without any data fits.
  Page(const PageContent& content, const PageShell& shell, const PathCutter& cutter);

  size_t size() const { return size_; }
  /// Sentences: what did not fit.
  const std::vector<std::string>& left_out() const { return left_out_; }
  void Write(Output* output) const;

 private:
  /// A piece of the page, a data block of its own.
  struct Part {
    enum class Kind : uint8_t { kTable, kSignatures, kLevel, kCounter, kEvents, kLinks };

    Kind kind = Kind::kTable;
    size_t at = 0;      ///< Its table, lane, counter, or kind of links.
    size_t second = 0;  ///< Of a lane: its level or chunk.
    size_t count = 0;   ///< Of a table its rows, of links their number.
    std::string own;    ///< Packed, unless the content holds it.
  };

  void AddTable(size_t table, size_t most_bytes);
  void AddTables();
  void AddTimelineFromAfar();
  void AddFurtherTables();
  void FillWithTables();
  void AddCounters();
  void AddEvents(Lane::Kind kind, bool windows, size_t most_bytes);
  void AddLinks();
  size_t left() const { return used_ < limit_ ? limit_ - used_ : 0; }
  /// Takes the part if it fits into what is left, and into `most_bytes`.
  bool Take(Part part, size_t most_bytes);
  const std::string& PackedOf(const Part& part) const;
  size_t BytesOf(const Part& part) const;
  Placement Place() const;
  /// Writes the summary, and finds how large all is with it.
  void Measure();
  void DropLinks();
  void SayWhatIsLeftOut(const Placement& placement);
  void SayOfTimeline(const Placement& placement);
  void SayOfHost(const Placement& placement, size_t events, size_t kept);

  const PageContent& content_;
  const PageShell& shell_;
  const PathCutter& cutter_;
  std::string title_;  // Escaped.
  std::vector<Part> parts_;
  size_t limit_;
  size_t used_ = 0;  // About what they and all around them take.
  std::string summary_;
  std::vector<std::string> left_out_;
  size_t size_ = 0;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PAGE_H_
