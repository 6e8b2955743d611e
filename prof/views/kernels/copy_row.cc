#include "prof/views/kernels/copy_row.h"

#include <algorithm>

#include "parse/model/cuda_kinds.h"
#include "prof/run/copy_bandwidth.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/common/view.h"

namespace oplens::prof {
namespace {

template <typename Work>
CopyRow Common(const Trace& trace, const Work& work) {
  CopyRow row;
  row.rank = trace.strings.View(trace.rank_name);
  row.size_bytes = work.size_bytes;
  row.start_ns = work.start_ns;
  int64_t duration_ns = 0;
  if (!__builtin_sub_overflow(work.end_ns, work.start_ns, &duration_ns) && duration_ns >= 0) {
    row.duration_ns = duration_ns;
  }
  row.device_id = work.device_id;
  row.stream_id = work.stream_id;
  if (work.launch != kNoLaunch) {
    const LaunchCall& call = trace.launches[work.launch];
    row.thread_id = trace.threads[call.thread].thread_id;
    row.api = trace.strings.View(call.api);
  }
  return row;
}

using enum FieldType;

constexpr Column<CopyRow> kCopyColumns[] = {
    {{"idx", "Idx", "", kInteger, 7, "number of the row, from 1"},
     [](const CopyRow& row) { return Integer(row.index); }},
    {{"rank", "Rank", "", kText, 8, "rank of the process, or the file of the copy", Fold::kKey},
     [](const CopyRow& row) { return Text(row.rank); }},
    {{"kind", "Kind", "", kText, 8, "HtoD, DtoH, DtoD, PtoP, HtoH, ..., fill", Fold::kKey},
     [](const CopyRow& row) { return Text(row.kind); }},
    {{"src", "Source", "", kText, 10, "kind of memory that is read", Fold::kKey},
     [](const CopyRow& row) { return Text(row.source); }},
    {{"dst", "Target", "", kText, 10, "kind of memory that is written", Fold::kKey},
     [](const CopyRow& row) { return Text(row.target); }},
    {{"bytes", "Bytes", "B", kInteger, 12, "size", Fold::kSum},
     [](const CopyRow& row) { return Integer(row.size_bytes); }},
    {{"dur", "Dur(ns)", "ns", kInteger, 10, "time on the GPU", Fold::kSum},
     [](const CopyRow& row) { return Integer(row.duration_ns); }},
    {{"gbps", "GB/s", "GB/s", kDecimal, 9, "bytes / time, 10^9 bytes per second"},
     [](const CopyRow& row) { return Decimal(row.gigabytes_per_s()); }},
    {{"device", "Device", "", kInteger, 3, "GPU number", Fold::kKey},
     [](const CopyRow& row) { return Integer(row.device_id); }},
    {{"stream", "Stream", "", kInteger, 3, "CUDA stream number", Fold::kKey},
     [](const CopyRow& row) { return Integer(row.stream_id); }},
    {{"start", "Start(ns)", "ns", kInteger, 19, "start, on the file's own clock"},
     [](const CopyRow& row) { return Integer(row.start_ns); }},
    {{"api", "Call", "", kText, Field::kShared, "API call that requested it", Fold::kKey},
     [](const CopyRow& row) { return Text(row.api); }},
    {{"tid", "TId", "", kInteger, 12, "host thread of the call", Fold::kKey},
     [](const CopyRow& row) { return Integer(row.thread_id); }},
    {OnRequest(
         {"reason", "Reason", "", kText, 15,
          "impossible-rate: no memory moves that many bytes in that time, so one of them is wrong",
          Fold::kKey}),
     [](const CopyRow& row) {
       return Text(row.has_possible_rate() ? std::string_view() : "impossible-rate");
     }},
};

class CopyStream : public ViewStream {
 public:
  CopyStream(const std::vector<size_t>& places, Sink* sink)
      : table_(ColumnsAt(places, CopyColumns()), sink) {}

  void Begin(const Run* run) override {
    if (run == nullptr) return;
    for (CopyRow& copy : CopiesOf(run->trace())) {
      const WorkClass work = copy.fill ? WorkClass::kFill : WorkClass::kCopy;
      if (!run->Selects(
              {copy.start_ns, copy.start_ns, copy.place, copy.device_id, copy.stream_id, work})) {
        continue;
      }
      copy.index = ++row_count_;
      table_.Add(copy);
    }
  }
  void AddCopy(const CopyRow& copy) override { table_.Add(copy); }

 private:
  TableOf<CopyRow> table_;
  int64_t row_count_ = 0;
};

}  // namespace

std::span<const Column<CopyRow>> CopyColumns() { return kCopyColumns; }

bool CopyRow::has_possible_rate() const {
  return IsPossibleRate(size_bytes, duration_ns.value_or(0));
}

std::optional<double> CopyRow::gigabytes_per_s() const {
  if (!duration_ns || *duration_ns == 0 || !has_possible_rate()) return std::nullopt;
  return static_cast<double>(size_bytes) / static_cast<double>(*duration_ns);
}

std::vector<CopyRow> CopiesOf(const Trace& trace) {
  std::vector<CopyRow> rows;
  rows.reserve(trace.copies.size() + trace.sets.size());
  for (const MemoryCopy& copy : trace.copies) {
    CopyRow& row = rows.emplace_back(Common(trace, copy));
    row.place = static_cast<uint32_t>(rows.size() - 1);
    row.kind = CopyKindWord(copy.copy_kind);
    row.source = MemoryKindWord(copy.source_kind);
    row.target = MemoryKindWord(copy.target_kind);
  }
  for (const MemorySet& set : trace.sets) {
    CopyRow& row = rows.emplace_back(Common(trace, set));
    row.place = static_cast<uint32_t>(rows.size() - 1 - trace.copies.size());
    row.fill = true;
    row.kind = "fill";
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CopyRow& a, const CopyRow& b) { return a.start_ns < b.start_ns; });
  return rows;
}

extern constexpr View kCopiesView = {
    .name = "copies",
    .help = "one row per memory copy or memset",
    .fields = FieldsWithoutBy<kCopyColumns>,
    .stream = [](const std::vector<size_t>& places, Sink* sink) -> std::unique_ptr<ViewStream> {
      return std::make_unique<CopyStream>(places, sink);
    },
    .important = kImportantCopyColumns};

}  // namespace oplens::prof
