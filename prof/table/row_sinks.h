#ifndef OPLENS_PROF_TABLE_ROW_SINKS_H_
#define OPLENS_PROF_TABLE_ROW_SINKS_H_

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/table/row_kind.h"
#include "prof/table/sink.h"
#include "prof/table/sink_chain.h"

namespace oplens::prof {

/// Says of each row what it is, in one more field behind the others (prof/table/row_kind.h).
class RowKindSink : public Sink {
 public:
  /// `sink` must outlive this object.
  explicit RowKindSink(Sink* sink) : sink_(sink) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    fields_ = fields;
    fields.push_back(kRowKindField);
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override {
    cells_.assign(cells.begin(), cells.end());
    const bool total = StandsForOthers(fields_, cells);
    cells_.push_back(Text(RowKindWord(total ? RowKind::kTotal : RowKind::kRow)));
    sink_->Row(cells_);
  }
  void End() override { sink_->End(); }

 private:
  std::vector<Field> fields_;
  std::vector<Cell> cells_;
  Sink* sink_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_ROW_SINKS_H_
