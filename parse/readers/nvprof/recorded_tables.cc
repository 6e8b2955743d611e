#include "parse/readers/nvprof/recorded_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "base/utf8.h"
#include "parse/model/marker_text.h"
#include "parse/model/run_place.h"
#include "parse/readers/common/graph_nodes.h"
#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::parse {
namespace {

/// CUgraphNodeType of a kernel.
constexpr int64_t kKernelNode = 0;

/// The creation of a node in a graph.
struct Node {
  int64_t time_ns = 0;
  int64_t process = 0;
  int64_t thread = 0;
  int64_t graph = 0;
  int64_t id = 0;
  StringId name = 0;
};

/// Kernel nodes that are no copies, by time.
std::vector<Node> CreatedNodes(NvprofContext* context) {
  constexpr std::string_view kColumns[] = {"timestamp", "processId",   "threadId",
                                           "graphId",   "graphNodeId", "originalGraphNodeId",
                                           "nodeType",  "name"};
  constexpr size_t kNumbers = 6;  // PlaceRecordedGraphNodes counts rows without them.
  std::vector<Node> nodes;
  std::set<std::pair<int64_t, int64_t>> copies;  // Recorded as created too.
  context->ForEachRow(nvprof::kGraphNodeTable, kColumns, [&](int64_t, const Cell* row) {
    if (!AllInts(row, kNumbers)) return;
    const Node node = {row[0].integer(), row[1].integer(), row[2].integer(),
                       row[3].integer(), row[4].integer(), context->TextOf(row[7])};
    const int64_t original = row[5].integer();
    if (original != 0 && original != node.id) {
      copies.emplace(node.process, node.id);
    } else if (!row[6].is_int() || row[6].integer() == kKernelNode) {
      nodes.push_back(node);
    }
  });
  std::erase_if(nodes, [&](const Node& node) { return copies.contains({node.process, node.id}); });
  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) {
    return std::tie(a.time_ns, a.process, a.thread, a.id) <
           std::tie(b.time_ns, b.process, b.thread, b.id);
  });
  return nodes;
}

/// Names of replayed kernels, by the thread and time of the call that put them into the graph.
using ReplayedNames = std::map<std::pair<ThreadIndex, int64_t>, StringId>;

ReplayedNames NamesOfReplays(const Trace& trace) {
  ReplayedNames names;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.capture == kNoLaunch) continue;
    const LaunchCall& call = trace.launches[kernel.capture];
    names.try_emplace({call.thread, call.start_ns}, kernel.name);
  }
  return names;
}

Kernel CapturedKernel(const Node& node, LaunchIndex launch) {
  Kernel kernel;
  kernel.correlation_id = kUnknownId;
  // In the order of calls.
  kernel.row_id = node.time_ns;
  kernel.name = node.name;
  kernel.graph = true;
  kernel.launch = kernel.capture = launch;
  kernel.device_id = kernel.context_id = -1;
  kernel.process_id = static_cast<int32_t>(node.process);
  return kernel;
}

using nvprof::kAllocationTable;
using nvprof::kCallTable;
using nvprof::kGraphNodeTable;
using nvprof::kKernelExtraTable;
using nvprof::kMetaTable;
using nvprof::kNoteTable;
using nvprof::kVariablePrefix;

template <typename F>
void ForEachRow(SqliteDatabase* database, std::string_view table,
                std::span<const std::string_view> columns, F f) {
  if (!database->HasTable(table)) return;
  database->Scan(table, columns, [&f](const RowBatch& batch) {
    for (size_t i = 0; i < batch.row_count(); ++i) f(batch.row_ids[i], batch.Row(i));
  });
}

/// A text of the file, made printable and of limited length.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 1000;
  std::string shown;
  AppendUtf8(text.substr(0, kMost), Utf8Hidden::kControls, &shown);
  return shown;
}

void CountBadRow(std::string_view table, int64_t row_id, Diagnostics* diagnostics) {
  diagnostics->Count(Reason::kBadOtherRow, diagnostics->KeepsExample(Reason::kBadOtherRow)
                                               ? fmt::format("table {}, row {}", table, row_id)
                                               : std::string());
}

/// NULL: unknown. Returns false if it is neither NULL nor a number of bytes.
bool TakeTotal(const Cell& cell, int64_t* total) {
  if (cell.type() == Cell::Type::kNull) return true;
  if (!cell.is_int() || cell.integer() < 0) return false;
  *total = cell.integer();
  return true;
}

/// Meaning of a nonzero number in OPLENS_META.
struct CountMeaning {
  std::string_view key;
  std::string_view sentence;  // "{}" is the number.
  int64_t RecorderLosses::*lost = nullptr;
};

constexpr CountMeaning kCounts[] = {
    {"reference",
     "was recorded with --reference: it holds what was put into CUDA graphs, to explain other "
     "recordings, and no kernel that ran"},
    {"recovered",
     "was recovered from the spool of a recording that did not end: its last moments may be "
     "missing"},
    {"gpu_busy_at_end",
     "the GPU was still at work when the recording ended: what it did last is missing"},
    {"unfinished_launches", "{} launches have no kernel: the recording ended before they did",
     &RecorderLosses::unfinished_launches},
    {"lost_events", "{} NVTX calls could not be stored: their ranges are missing or open",
     &RecorderLosses::ranges},
    {"handler_events", "{} NVTX calls of signal handlers were dropped", &RecorderLosses::ranges},
    {"child_events", "{} NVTX calls of child processes that were made without fork were dropped",
     &RecorderLosses::ranges},
    {"left_out_ranges",
     "{} ranges were left out by the program: they were nested deeper than 4096 levels",
     &RecorderLosses::ranges},
    {"cut_texts", "{} texts were too long and were cut"},
    {"lost_rows", "{} records of the GPU and of API calls could not be stored",
     &RecorderLosses::records},
    {"cupti_lost", "CUPTI dropped {} records of the GPU and of API calls",
     &RecorderLosses::records},
    {"odd_rows", "{} records of the GPU and of API calls fit no table", &RecorderLosses::records},
};

void NoteNumber(const std::string& path, std::string_view key, int64_t value, RecorderLosses* lost,
                Diagnostics* diagnostics) {
  for (const CountMeaning& meaning : kCounts) {
    if (meaning.key != key || value == 0) continue;
    if (meaning.lost != nullptr && value > 0) {
      int64_t& count = lost->*meaning.lost;
      SaturatingAdd(&count, value);
    }
    diagnostics->Note(
        fmt::format("{}: {}", path, fmt::format(fmt::runtime(meaning.sentence), value)));
  }
  if (key == "ended" && value == 0) {
    diagnostics->Note(fmt::format(
        "{}: the recorded program did not end by itself: what it did last may be missing", path));
  }
}

void NoteText(const std::string& path, std::string_view key, std::string_view value,
              Diagnostics* diagnostics) {
  constexpr std::string_view kFailed = "failed: ";
  if (key == "damage" && !value.empty()) {
    diagnostics->Note(
        fmt::format("{}: not all of the recording could be read: {}", path, Shown(value)));
  } else if (key == "gpu" && value == "unavailable") {
    diagnostics->Note(fmt::format(
        "{}: the GPU was not recorded: the program did not use CUDA, or there was no driver",
        path));
  } else if (key == "gpu" && value.substr(0, kFailed.size()) == kFailed) {
    diagnostics->Note(
        fmt::format("{}: the GPU was not recorded: {}", path, Shown(value.substr(kFailed.size()))));
  }
}

}  // namespace

void AddRecordedCaptures(NvprofContext* context) {
  Trace& trace = context->trace;
  std::vector<Node> nodes = CreatedNodes(context);
  const ReplayedNames replayed = nodes.empty() ? ReplayedNames() : NamesOfReplays(trace);
  std::map<std::pair<int64_t, int64_t>, int32_t> captures;  // By process and graph.
  const uint32_t unknown_shape = nodes.empty() ? 0 : trace.shapes.Add(KernelShape::Unknown());
  for (Node& node : nodes) {
    const ThreadIndex thread = context->ThreadOf(node.process, node.thread);
    if (node.name == 0) {
      const auto known = replayed.find({thread, node.time_ns});
      if (known != replayed.end()) node.name = known->second;
    }
    LaunchCall call;
    call.start_ns = call.end_ns = node.time_ns;
    call.correlation_id = kUnknownId;
    call.thread = thread;
    const auto next = static_cast<int32_t>(captures.size());
    const int32_t capture = captures.try_emplace({node.process, node.graph}, next).first->second;
    trace.launches.push_back(call);
    Kernel& kernel = trace.captured.emplace_back(
        CapturedKernel(node, static_cast<LaunchIndex>(trace.launches.size() - 1)));
    kernel.stream_id = capture;
    kernel.shape = unknown_shape;
  }
}

void NoteRecording(SqliteDatabase* database, Trace* trace, Diagnostics* diagnostics) {
  constexpr std::string_view kMetaColumns[] = {"key", "value"};
  bool finished = !database->HasTable(kMetaTable);
  RankVariables variables;
  ForEachRow(database, kMetaTable, kMetaColumns, [&](int64_t, const Cell* row) {
    finished = true;
    // Everything that `record` writes has the clock of docs/recording.md.
    trace->clock_offset_ns = 0;
    if (row[0].type() != Cell::Type::kText) return;
    const std::string_view key = row[0].bytes();
    if (row[1].is_int() && key.starts_with(kVariablePrefix)) {
      variables.Take(key.substr(kVariablePrefix.size()), row[1].integer());
    } else if (row[1].is_int()) {
      NoteNumber(database->path(), key, row[1].integer(), &trace->lost, diagnostics);
    } else if (row[1].type() == Cell::Type::kText) {
      NoteText(database->path(), key, row[1].bytes(), diagnostics);
    }
  });
  trace->environment = variables.Place();
  if (!finished) {
    diagnostics->Note(
        fmt::format("{}: is what there is of a recording that was interrupted or still runs: "
                    "`record --recover` "
                    "makes all of it",
                    database->path()));
  }
  constexpr std::string_view kNoteColumns[] = {"text"};
  constexpr int kMostNotes = 100;
  int notes = 0;
  ForEachRow(database, kNoteTable, kNoteColumns, [&](int64_t, const Cell* row) {
    if (row[0].type() != Cell::Type::kText || ++notes > kMostNotes) return;
    diagnostics->Note(fmt::format("{}: {}", database->path(), Shown(row[0].bytes())));
  });
}

void PlaceRecordedGraphNodes(SqliteDatabase* database, size_t concurrent,
                             const std::function<ThreadIndex(int64_t, int64_t)>& thread_of,
                             Trace* trace, Diagnostics* diagnostics) {
  GraphNodes nodes;
  const auto count_bad_row = [&](std::string_view table, int64_t row_id) {
    CountBadRow(table, row_id, diagnostics);
  };
  constexpr std::string_view kExtraColumns[] = {"row", "graphNodeId"};
  const auto begin = trace->kernels.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(concurrent);
  ForEachRow(database, kKernelExtraTable, kExtraColumns, [&](int64_t row_id, const Cell* row) {
    // NULL if CUPTI does not record nodes, 0 for a kernel outside graphs.
    if (!row[1].is_int() || row[1].integer() == 0) return;
    const auto before = [](const Kernel& kernel, int64_t id) { return kernel.row_id < id; };
    const auto kernel =
        row[0].is_int() ? std::lower_bound(begin, end, row[0].integer(), before) : end;
    if (kernel == end || kernel->row_id != row[0].integer()) {
      count_bad_row(kKernelExtraTable, row_id);
      return;
    }
    kernel->graph = true;
    nodes.Want(static_cast<size_t>(kernel - begin), row[1].integer(), 0);
  });
  if (nodes.empty()) return;

  struct Place {
    int64_t process_id = 0;
    int64_t thread_id = 0;
  };
  std::vector<Place> places;
  IdMap processes;
  constexpr std::string_view kNodeColumns[] = {"timestamp", "processId", "threadId", "graphNodeId",
                                               "originalGraphNodeId"};
  ForEachRow(database, kGraphNodeTable, kNodeColumns, [&](int64_t row_id, const Cell* row) {
    if (!AllInts(row, std::size(kNodeColumns))) {
      count_bad_row(kGraphNodeTable, row_id);
      return;
    }
    GraphNodes::Event event;
    event.start_ns = event.end_ns = row[0].integer();
    event.thread = static_cast<int64_t>(places.size());
    const int64_t node = row[3].integer();
    if (row[4].integer() != node) event.original = row[4].integer();
    places.push_back({row[1].integer(), row[2].integer()});
    const auto next = static_cast<uint32_t>(processes.size()) + 1;
    nodes.Add(processes.FindOrInsert(row[1].integer(), next), node, event);
  });
  nodes.Place(trace, [&](const GraphNodes::Event& event) {
    const Place& place = places[static_cast<size_t>(event.thread)];
    LaunchCall call;
    call.start_ns = event.start_ns;
    call.end_ns = event.end_ns;
    call.correlation_id = kUnknownId;
    call.thread = thread_of(place.process_id, place.thread_id);
    return call;
  });
}

void ReadAllocations(SqliteDatabase* database,
                     const std::function<ThreadIndex(int64_t, int64_t)>& thread_of,
                     TraceNeeds needs, Trace* trace, Diagnostics* diagnostics) {
  const bool keep = needs.Has(TracePart::kMemoryEvents);
  constexpr std::string_view kColumns[] = {"timestamp", "processId",      "threadId",
                                           "address",   "bytes",          "deviceType",
                                           "deviceId",  "totalAllocated", "totalReserved"};
  constexpr size_t kNumbers = 6;
  std::vector<MemoryEvent>& events = trace->memory_events;
  ForEachRow(database, kAllocationTable, kColumns, [&](int64_t row_id, const Cell* row) {
    MemoryEvent event;
    int32_t device = -1;
    const bool good = AllInts(row, kNumbers) && TakeInt32(row[6], &device) &&
                      TakeTotal(row[7], &event.total_allocated_bytes) &&
                      TakeTotal(row[8], &event.total_reserved_bytes);
    // The smallest number cannot be negated for its release.
    if (!good || row[4].integer() == 0 || row[4].integer() == std::numeric_limits<int64_t>::min()) {
      CountBadRow(kAllocationTable, row_id, diagnostics);
      return;
    }
    event.time_ns = row[0].integer();
    event.address = row[3].integer();
    event.size_bytes = row[4].integer();
    event.device_id = row[5].integer() == 0 ? -1 : device;
    event.thread = thread_of(row[1].integer(), row[2].integer());
    if (keep) events.push_back(event);
  });
  std::stable_sort(events.begin(), events.end(), [](const MemoryEvent& a, const MemoryEvent& b) {
    return a.time_ns < b.time_ns;
  });
}

namespace {

/// What a marker's text says about its calls.
struct MarkedCall {
  bool known = false;
  StringId name = 0;  ///< 0: neither an op nor a node.
  bool node = false;
};

/// "aten::addmm" for "aten::addmm.out".
std::string_view WithoutOverload(std::string_view aten) {
  const size_t scope = aten.rfind("::");
  return scope == aten.npos ? aten : aten.substr(0, aten.find('.', scope + 2));
}

void SortById(std::vector<int64_t>* ids, std::vector<Range>* ranges) {
  std::vector<uint32_t> order(ids->size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return (*ids)[a] < (*ids)[b]; });
  std::vector<int64_t> sorted_ids;
  std::vector<Range> sorted_ranges;
  for (const uint32_t i : order) {
    sorted_ids.push_back((*ids)[i]);
    sorted_ranges.push_back((*ranges)[i]);
  }
  ids->swap(sorted_ids);
  ranges->swap(sorted_ranges);
}

MarkedCall ReadMarkedCall(StringId text, StringPool* strings) {
  MarkedCall call;
  call.known = true;
  const MarkerText marker = ClassifyMarker(strings->View(text));
  if (marker.kind == MarkerKind::kNode) {
    call.node = true;
    call.name = strings->Intern(std::string(marker.name));
  } else if (marker.kind == MarkerKind::kOp) {
    const std::string_view name = marker.aten.empty() ? marker.op : WithoutOverload(marker.aten);
    call.name = strings->Intern(std::string(name));
  }
  return call;
}

}  // namespace

bool HasRecordedCalls(SqliteDatabase* database) { return database->HasTable(kCallTable); }

void PlaceRecordedCalls(SqliteDatabase* database, std::vector<int64_t>* marker_numbers,
                        Trace* trace, Diagnostics* diagnostics) {
  // Except for damage, both tables are ordered by number.
  std::vector<int64_t>& marker_ids = *marker_numbers;
  if (!std::is_sorted(marker_ids.begin(), marker_ids.end())) SortById(&marker_ids, &trace->ranges);
  std::vector<MarkedCall> calls(trace->strings.size());  // By StringId.
  size_t next = 0;
  constexpr std::string_view kColumns[] = {"marker", "seq", "tid", "ftid", "h", "fh", "dir"};
  trace->operators.reserve(static_cast<size_t>(database->MaxRowCount(kCallTable)));
  ForEachRow(database, kCallTable, kColumns, [&](int64_t row_id, const Cell* row) {
    const bool good = AllInts(row, 6) && row[6].type() == Cell::Type::kText;
    const int64_t id = good ? row[0].integer() : 0;
    if (good && (next >= marker_ids.size() || marker_ids[next] != id)) {
      next = static_cast<size_t>(std::lower_bound(marker_ids.begin(), marker_ids.end(), id) -
                                 marker_ids.begin());
    }
    const bool found = good && next < marker_ids.size() && marker_ids[next] == id;
    Range* const range = found ? &trace->ranges[next] : nullptr;
    ++next;
    MarkedCall* call = nullptr;
    if (range != nullptr && range->kind == RangeKind::kMarker && range->text < calls.size()) {
      call = &calls[range->text];
      if (!call->known) *call = ReadMarkedCall(range->text, &trace->strings);
    }
    if (call == nullptr || call->name == 0) {
      diagnostics->Count(Reason::kBadOtherRow,
                         diagnostics->KeepsExample(Reason::kBadOtherRow)
                             ? fmt::format("table {}, row {}", kCallTable, row_id)
                             : std::string());
      return;
    }
    const StringId text = range->text;
    Operator& op = MakeOperator(call->name, range, trace);
    op.call = call->node ? 0 : text;
    op.backward = call->node;
    if (row[6].bytes().size() == 1) op.direction = row[6].bytes().front();
    op.sequence = std::max<int64_t>(row[1].integer(), -1);
    op.thread = row[2].integer();
    op.forward_thread = static_cast<int32_t>(row[3].integer());
    op.handle = row[4].integer();
    op.forward_handle = row[5].integer();
  });
}

}  // namespace oplens::parse
