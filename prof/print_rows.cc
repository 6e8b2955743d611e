#include "prof/print_rows.h"

namespace oplens::prof {
namespace {

class Writing : public KernelSink {
 public:
  Writing(RowWriter* writer, Output* output) : writer_(writer), output_(output) {}
  void Add(const PricedKernel& kernel) override {
    Begin();
    writer_->AppendRow(kernel, output_->buffer());
    output_->FlushIfLarge();
  }
  bool AddReplay(const PricedKernel& replay) override { return writer_->AddReplay(replay); }
  void Begin() {
    if (!begun_) writer_->AppendHeader(output_->buffer());
    begun_ = true;
  }

 private:
  RowWriter* writer_;
  Output* output_;
  bool begun_ = false;
};

}  // namespace

int64_t PrintRows(RecordSource* records, const RowOptions& options, RowWriter* writer,
                  Output* output, Diagnostics* diagnostics) {
  Writing sink(writer, output);
  const int64_t rows = PriceAll(records, options, &sink, diagnostics);
  sink.Begin();
  return rows;
}

}  // namespace oplens::prof
