#include "prof/table/most_rows.h"

#include <fmt/format.h>

#include <utility>

namespace oplens::prof {

class MostRows::Table : public Sink {
 public:
  Table(std::unique_ptr<Sink> sink, size_t most, std::shared_ptr<Cut> cut)
      : sink_(std::move(sink)), most_(most), cut_(std::move(cut)) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    cut_->table = table;
    sink_->Begin(table, std::move(fields));
  }
  void Row(std::span<const Cell> cells) override {
    if (static_cast<size_t>(++cut_->rows) <= most_) sink_->Row(cells);
  }
  void End() override { sink_->End(); }
  void Words(std::string_view text) override { sink_->Words(text); }
  // A document has no rows to count.

 private:
  std::unique_ptr<Sink> sink_;
  size_t most_;
  std::shared_ptr<Cut> cut_;
};

std::unique_ptr<Sink> MostRows::NewTable() {
  tables_.push_back(std::make_shared<Cut>());
  return std::make_unique<Table>(destination_->NewTable(), most_, tables_.back());
}

std::vector<std::string> MostRows::Notes() const {
  std::vector<std::string> notes;
  for (const std::shared_ptr<Cut>& cut : tables_) {
    const auto most = static_cast<int64_t>(most_);
    if (cut->rows <= most) continue;
    notes.push_back(fmt::format("{}: {} more rows, of {}: --max-rows {}", cut->table,
                                cut->rows - most, cut->rows, most_));
  }
  for (std::string& note : destination_->Notes()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace oplens::prof
