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

/// Selects the content that fits, in this order, and writes it: tables of views, the timeline
/// overview, tables by step and by other keys, counters, GPU events, host events with links
/// (docs/report_format.md).
///
///     content -> parts, packed -> those that fit -> summary -> HTML
class Page {
 public:
  /// All arguments must outlive this object. Throws UsageError if not even the page without data
  /// fits.
  Page(const PageContent& content, const PageShell& shell, const PathCutter& cutter);

  size_t size() const { return size_; }
  /// Sentences about what did not fit.
  const std::vector<std::string>& left_out() const { return left_out_; }
  void Write(Output* output) const;
  /// Without the text around them, for a page that holds other data too.
  void WriteBlocks(Output* output) const;
  size_t blocks_size() const { return size_ - shell_.size() - title_.size(); }

 private:
  /// A part of the page, one data block.
  struct Part {
    enum class Kind : uint8_t { kTable, kSignatures, kLevel, kStrips, kCounter, kEvents, kLinks };

    Kind kind = Kind::kTable;
    size_t at = 0;      ///< Index of its table, lane or counter, or the kind of links.
    size_t second = 0;  ///< For a lane: index of the level or chunk.
    size_t count = 0;   ///< Rows of a table, or number of links.
    std::string own;    ///< The packed bytes, unless the content holds them.
  };

  /// Whether a table has rows, and all of them if it is shown whole or not at all.
  bool MayShow(size_t table) const;
  /// Packs the first `rows` rows of a table.
  std::string PackRows(size_t table, size_t rows) const;
  /// Adds a table, or only its first rows if it exceeds `most_bytes`. `packed`: all of its rows, if
  /// they are packed already.
  void AddTable(size_t table, size_t most_bytes, std::string packed = {});
  /// Whether a table by step and rank repeats the plain one: the run has one of each.
  bool IsRepeated(size_t table) const;
  void AddTables();
  void AddTimelineFromAfar();
  void AddFurtherTables();
  void FillWithTables();
  void AddStrips();
  void AddCounters();
  void AddEvents(Lane::Kind kind, bool windows, size_t most_bytes);
  void AddLinks();
  size_t left() const { return used_ < limit_ ? limit_ - used_ : 0; }
  /// Adds the part if it fits into `most_bytes` and into what is left.
  bool Take(Part part, size_t most_bytes);
  const std::string& PackedOf(const Part& part) const;
  size_t BytesOf(const Part& part) const;
  Placement Place() const;
  /// Writes the summary and updates the total size.
  void Measure();
  void DropLinks();
  void SayWhatIsLeftOut(const Placement& placement);
  void SayOfTimeline(const Placement& placement);
  void SayOfHost(const Placement& placement, size_t events, size_t kept);

  const PageContent& content_;
  const PageShell& shell_;
  const PathCutter& cutter_;
  std::string title_;   // Escaped.
  std::string fields_;  // Packed: WriteFields.
  std::vector<Part> parts_;
  size_t limit_;
  size_t used_ = 0;  // Estimate for the parts and everything around them.
  std::string summary_;
  std::vector<std::string> left_out_;
  size_t size_ = 0;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_PAGE_H_
