#ifndef OPLENS_PROF_TABLE_MOST_ROWS_H_
#define OPLENS_PROF_TABLE_MOST_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prof/table/sink.h"

namespace oplens::prof {

/// Passes the first rows of each table to another destination, and says how many are missing.
class MostRows : public Destination {
 public:
  /// `most`: rows of each table, at least 1.
  MostRows(std::unique_ptr<Destination> destination, size_t most)
      : destination_(std::move(destination)), most_(most) {}

  std::unique_ptr<Sink> NewTable() override;
  void Commit() override { destination_->Commit(); }
  /// Also "idle: 12 more rows, of 52: --max-rows 40" for each table that was cut.
  std::vector<std::string> Notes() const override;

 private:
  class Table;
  struct Cut {
    std::string table;
    int64_t rows = 0;
  };

  std::unique_ptr<Destination> destination_;
  size_t most_;
  std::vector<std::shared_ptr<Cut>> tables_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_MOST_ROWS_H_
