// How fast rows become text, one benchmark a writer, over all columns. Rows per second are the
// number to watch.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/writer.h"
#include "prof/views/kernel_columns.h"

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

void WriteRows(benchmark::State& state, std::unique_ptr<RowWriter> writer) {
  const SampleRows rows;
  std::string text;
  size_t i = 0;
  int64_t bytes = 0;
  for (auto _ : state) {
    writer->AppendRow(rows[i++], &text);
    if (text.size() < (size_t{256} << 10)) continue;
    bytes += static_cast<int64_t>(text.size());
    text.clear();
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(bytes + static_cast<int64_t>(text.size()));
}

void BM_CsvWriter(benchmark::State& state) {
  WriteRows(state, MakeCsvWriter(SelectKernelColumns("all")));
}
BENCHMARK(BM_CsvWriter);

void BM_SpaceWriter(benchmark::State& state) {
  WriteRows(state, MakeSpaceWriter(SelectKernelColumns("all")));
}
BENCHMARK(BM_SpaceWriter);

void BM_TableWriter(benchmark::State& state) {
  WriteRows(state, MakeTableWriter(SelectKernelColumns("all"), 300));
}
BENCHMARK(BM_TableWriter);

void BM_JsonWriter(benchmark::State& state) {
  WriteRows(state, MakeJsonWriter(SelectKernelColumns("all")));
}
BENCHMARK(BM_JsonWriter);

}  // namespace
}  // namespace oplens::prof
