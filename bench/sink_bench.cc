// How fast rows become text, one benchmark a sink, over all columns. Rows per second are the
// number to watch.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/kernel_record.h"
#include "prof/table/text_sinks.h"
#include "prof/views/kernels/kernel_columns.h"

namespace oplens::prof {
namespace {

/// A forward and a backward kernel of a linear layer with everything that a column can show.
class SampleRows {
 public:
  SampleRows() {
    for (const bool forward : {true, false}) {
      KernelRecord& record = records_[forward ? 0 : 1];
      record.short_name = "volta_sgemm_128x64_tn";
      record.duration_ns = 751162;
      record.seq_ids = {1234567};
      record.alt_seq_ids = {1234568};
      record.seq_markers = {"matmul, seq = 1234567", "mm, seq = 1234568"};
      record.direction = forward ? Direction::kForward : Direction::kBackward;
      record.thread_id = 3940300608;
      record.stream_id = 7;
      record.grid = {260, 11, 1};
      record.block = {128, 1, 1};
      record.range = {"train", "epoch 3", "step 1207"};
      PricedKernel& row = rows_[forward ? 0 : 1];
      row.index = 123456;
      row.record = &record;
      row.op = "matmul";
      row.mod = "Tensor";
      row.params = "M=33278,N=700,K=200,fp32";
      row.layer = layer_;
      row.trace = trace_;
      row.path = {"linear", "matmul"};
      row.share.flops = 9317840000;
      row.share.bytes = 120361600;
      row.tensor_core = ops::TensorCoreUse::kNo;
      row.reasons.Add(Reason::kUnknownRole);
    }
  }
  const PricedKernel& operator[](size_t i) const { return rows_[i % 2]; }

 private:
  const std::vector<std::string_view> layer_ = {"encoder", "decoder"};
  const std::vector<std::string_view> trace_ = {
      "/home/user/train.py:319", "/home/user/train.py:261", "/home/user/net/model.py:110"};
  KernelRecord records_[2];
  PricedKernel rows_[2];
};

void WriteRows(benchmark::State& state, std::unique_ptr<Sink> sink) {
  const SampleRows rows;
  const Columns<PricedKernel> columns = SelectKernelColumns("all");
  sink->Begin("kernels", FieldsOf(columns));
  KernelTable table(columns, sink.get());
  size_t i = 0;
  for (auto _ : state) table.Add(rows[i++]);
  state.SetItemsProcessed(state.iterations());
}

void BM_CsvSink(benchmark::State& state) {
  Output output("/dev/null");
  WriteRows(state, MakeCsvSink(&output));
}
BENCHMARK(BM_CsvSink);

void BM_SpaceSink(benchmark::State& state) {
  Output output("/dev/null");
  WriteRows(state, MakeSpaceSink(&output));
}
BENCHMARK(BM_SpaceSink);

void BM_WidthSink(benchmark::State& state) {
  Output output("/dev/null");
  WriteRows(state, MakeWidthSink(&output, 300));
}
BENCHMARK(BM_WidthSink);

void BM_JsonSink(benchmark::State& state) {
  Output output("/dev/null");
  WriteRows(state, MakeJsonSink(&output, false));
}
BENCHMARK(BM_JsonSink);

}  // namespace
}  // namespace oplens::prof
