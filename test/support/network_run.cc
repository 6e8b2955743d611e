#include "test/support/network_run.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "parse/model/torch_call.h"

namespace oplens::test {
namespace {

constexpr int64_t kSpanNs = 700;
constexpr int64_t kRunCallNs = 5200;
constexpr int64_t kRunLaunchDelayNs = 3100;
constexpr int64_t kRunGapNs = 900;

/// The NVTX texts that say what a span is, outermost first.
std::vector<std::string> RangeTexts(const NetworkRun::Span& span) {
  using What = NetworkRun::What;
  std::vector<std::string> texts;
  const auto add_sequence = [&] {
    if (span.sequence >= 0) texts.push_back(fmt::format("{}, seq = {}", span.text, span.sequence));
  };
  switch (span.what) {
    case What::kOp:
      if (!span.stack.empty()) {
        std::string trace = "{'traceMarker': [";
        for (const std::string& frame : span.stack) trace += fmt::format("'{}', ", frame);
        texts.push_back(trace + "]}");
      }
      texts.emplace_back();
      AppendOpCall(MakeTorchCall(span.text, span.args), &texts.back());
      add_sequence();
      break;
    case What::kNode:
      add_sequence();
      break;
    case What::kLayer:
      texts.push_back("layer:" + span.text);
      break;
    case What::kLabel:
      texts.push_back(span.text);
      break;
    case What::kFrame:
      break;  // Stands in the stacks of the ops.
  }
  return texts;
}

/// What PyTorch's profiler calls a data type.
std::string ProfilerType(const std::string& dtype) {
  static const std::map<std::string, std::string> kTypes = {
      {"float32", "float"}, {"float16", "c10::Half"}, {"int64", "long int"}, {"bool", "bool"}};
  return kTypes.at(dtype);
}

nlohmann::ordered_json SpanArgs(const NetworkRun::Span& span) {
  auto dims = nlohmann::ordered_json::array();
  auto types = nlohmann::ordered_json::array();
  auto values = nlohmann::ordered_json::array();
  for (const OpArg& arg : span.args) {
    const bool tensor = arg.kind == OpArg::Kind::kTensor;
    dims.push_back(tensor ? nlohmann::ordered_json(arg.shape) : nlohmann::ordered_json::array());
    std::string type;
    std::string value;
    if (tensor) {
      type = ProfilerType(arg.dtype);
    } else if (arg.kind == OpArg::Kind::kInt) {
      type = "Scalar";
      value = std::to_string(arg.int_value);
    } else if (arg.kind == OpArg::Kind::kFloat) {
      type = "Scalar";
      value = fmt::format("{}", arg.float_value);
    }
    types.push_back(type);
    values.push_back(value);
  }
  return {{"Input Dims", dims}, {"Input type", types}, {"Concrete Inputs", values}};
}

/// Microseconds with three decimals, as recent files have them.
std::string Microseconds(int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

}  // namespace

void NetworkRun::SwitchTo(int64_t thread_id) { thread_id_ = thread_id; }

void NetworkRun::Begin(What what, std::string text, std::vector<OpArg> args, int64_t sequence) {
  Span span{what, std::move(text), std::move(args), sequence, thread_id_, now_ns_ += kSpanNs, 0,
            {}};
  for (const size_t outer : open_) {
    if (spans_[outer].what == What::kFrame) span.stack.push_back(spans_[outer].text);
  }
  open_.push_back(spans_.size());
  spans_.push_back(std::move(span));
}

void NetworkRun::End() {
  spans_[open_.back()].end_ns = now_ns_ += kSpanNs;
  open_.pop_back();
}

void NetworkRun::Run(const KernelSpec& kernel) {
  Launch launch;
  launch.kernel = kernel;
  launch.thread_id = thread_id_;
  launch.start_ns = now_ns_ += kSpanNs;
  launch.end_ns = now_ns_ += kRunCallNs;
  launch.kernel_start_ns =
      std::max(device_free_ns_ + kRunGapNs, launch.start_ns + kRunLaunchDelayNs);
  device_free_ns_ = launch.kernel_start_ns + kernel.duration_ns;
  launch.correlation_id = 101 + static_cast<int64_t>(launches_.size());
  launches_.push_back(launch);
}

OpArg TensorArg(std::vector<int64_t> shape, std::string dtype) {
  OpArg arg;
  arg.kind = OpArg::Kind::kTensor;
  arg.type = "tensor";
  arg.shape = std::move(shape);
  arg.dtype = std::move(dtype);
  return arg;
}

OpArg IntArg(int64_t value) {
  OpArg arg;
  arg.kind = OpArg::Kind::kInt;
  arg.type = "int";
  arg.int_value = value;
  return arg;
}

OpArg FloatArg(double value) {
  OpArg arg;
  arg.kind = OpArg::Kind::kFloat;
  arg.type = "float";
  arg.float_value = value;
  return arg;
}

OpArg NoArg() {
  OpArg arg;
  arg.kind = OpArg::Kind::kNone;
  arg.type = "NoneType";
  return arg;
}

NetworkRun ExampleNetwork() {
  using What = NetworkRun::What;
  constexpr int64_t kMain = 4242;
  constexpr int64_t kAutograd = 4300;
  const KernelSpec gemm{.name = "volta_sgemm_128x64_tn", .duration_ns = 9001, .grid = {4, 8, 1}};
  const KernelSpec add{
      .name =
          "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> "
          ">(int, at::native::AddFunctor<float>)",
      .duration_ns = 1503,
      .grid = {64, 1, 1}};
  const KernelSpec softmax{.name = "void softmax_warp_forward<float, float, 8>(float*)",
                           .duration_ns = 2111};
  NetworkRun run;
  run.SwitchTo(kMain);
  run.Begin(What::kLabel, "iteration 7");
  run.Begin(What::kFrame, "train.py:10");
  run.Begin(What::kLayer, "Embedding_0");
  run.Begin(What::kOp, "aten::embedding",
            {TensorArg({1000, 64}), TensorArg({8, 32}, "int64"), IntArg(-1)}, 1);
  run.Run({.name = "void indexSelectLargeIndex<float>(float*)", .duration_ns = 3001});
  run.End();
  run.End();
  run.Begin(What::kLayer, "Linear_0");
  run.Begin(What::kFrame, "net.py:20");
  run.Begin(What::kOp, "aten::linear",
            {TensorArg({256, 64}), TensorArg({128, 64}), TensorArg({128})}, 2);
  run.Begin(What::kOp, "aten::addmm",
            {TensorArg({128}), TensorArg({256, 64}), TensorArg({64, 128}), IntArg(1), IntArg(1)},
            2);
  run.Run(gemm);
  run.End();
  run.End();
  run.Begin(What::kOp, "aten::relu", {TensorArg({256, 128})}, 3);
  run.Run(add);
  run.End();
  run.End();
  run.End();
  run.Begin(What::kOp, "aten::_softmax", {TensorArg({256, 128}), IntArg(-1), NoArg()}, 4);
  run.Run(softmax);
  run.End();
  run.End();
  run.SwitchTo(kAutograd);
  run.Begin(What::kNode, "ReluBackward0", {}, 3);
  run.Begin(What::kOp, "aten::threshold_backward",
            {TensorArg({256, 128}), TensorArg({256, 128}), IntArg(0)});
  run.Run(add);
  run.End();
  run.End();
  run.Begin(What::kNode, "AddmmBackward0", {}, 2);
  run.Begin(What::kOp, "aten::mm", {TensorArg({256, 128}), TensorArg({128, 64})});
  run.Run(gemm);
  run.End();
  run.Begin(What::kOp, "aten::mm", {TensorArg({128, 256}), TensorArg({256, 64})});
  run.Run(gemm);
  run.End();
  run.End();
  run.Begin(What::kNode, "EmbeddingBackward0", {}, 1);  // Its op was not recorded.
  run.Run({.name = "void embedding_backward_kernel<float>(float*)", .duration_ns = 4001});
  run.End();
  run.SwitchTo(kMain);
  run.Begin(What::kOp, "zoo::mystery", {TensorArg({7})});
  run.Run({.name = "mystery_kernel", .duration_ns = 77});
  run.End();
  run.Run({.name = "unannotated_kernel", .duration_ns = 88});
  run.End();
  return run;
}

void WriteNvprofRun(const NetworkRun& run, const std::filesystem::path& path) {
  NvprofBuilder builder;
  AddDevice(&builder, NetworkRun::kProcessId);
  int64_t id = 0;
  for (const NetworkRun::Span& span : run.spans()) {
    for (const std::string& text : RangeTexts(span)) {
      ++id;
      const auto add = [&](int64_t flags, int64_t time_ns, int64_t name) {
        builder.Add("MARKER", {{"flags", flags},
                               {"timestamp", time_ns},
                               {"id", id},
                               {"objectKind", int64_t{2}},
                               {"objectId", ThreadObject(NetworkRun::kProcessId, span.thread_id)},
                               {"name", name}});
      };
      add(2, span.start_ns, builder.Intern(text));
      add(4, span.end_ns, 0);
    }
  }
  for (const NetworkRun::Launch& launch : run.launches()) {
    const KernelSpec& kernel = launch.kernel;
    builder.Add("RUNTIME", {{"cbid", int64_t{211}},
                            {"start", launch.start_ns},
                            {"end", launch.end_ns},
                            {"processId", NetworkRun::kProcessId},
                            {"threadId", SignedThreadId(launch.thread_id)},
                            {"correlationId", launch.correlation_id}});
    builder.Add("CONCURRENT_KERNEL", {{"cacheConfig", Blob{std::string(1, '\0')}},
                                      {"registersPerThread", kernel.registers},
                                      {"start", launch.kernel_start_ns},
                                      {"end", launch.kernel_start_ns + kernel.duration_ns},
                                      {"contextId", int64_t{1}},
                                      {"streamId", kernel.stream},
                                      {"gridX", kernel.grid[0]},
                                      {"gridY", kernel.grid[1]},
                                      {"gridZ", kernel.grid[2]},
                                      {"blockX", kernel.block[0]},
                                      {"blockY", kernel.block[1]},
                                      {"blockZ", kernel.block[2]},
                                      {"correlationId", launch.correlation_id},
                                      {"name", builder.Intern(kernel.name)}});
  }
  builder.Write(path);
}

void WriteNsysRun(const NetworkRun& run, const std::filesystem::path& path) {
  std::filesystem::remove(path);
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(
      "BEGIN;"
      "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
      "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16.1');"
      "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, "
      "cuDevice INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Tesla V100-SXM2-16GB', 0);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
      "text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, "
      "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT "
      "NULL, returnValue INTEGER NOT NULL);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
      "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
      "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER "
      "NOT NULL, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT "
      "NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ "
      "INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT "
      "NULL);");
  SQLite::Statement add_string(database, "INSERT INTO StringIds VALUES (?, ?)");
  std::map<std::string, int64_t> ids;
  const auto intern = [&](const std::string& text) {
    const auto [place, is_new] = ids.emplace(text, static_cast<int64_t>(ids.size()) + 1);
    if (is_new) {
      add_string.bind(1, place->second);
      add_string.bind(2, text);
      add_string.exec();
      add_string.reset();
    }
    return place->second;
  };
  constexpr int64_t kGlobalPid = NetworkRun::kProcessId << 24;
  constexpr int64_t kPushPop = 59;
  SQLite::Statement add_range(database,
                              "INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, NULL, NULL, 0)");
  for (const NetworkRun::Span& span : run.spans()) {
    for (const std::string& text : RangeTexts(span)) {
      SQLite::bind(add_range, span.start_ns, span.end_ns, kPushPop, text,
                   kGlobalPid | span.thread_id);
      add_range.exec();
      add_range.reset();
    }
  }
  SQLite::Statement add_call(
      database, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0)");
  SQLite::Statement add_kernel(database,
                               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, "
                               "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)");
  for (const NetworkRun::Launch& launch : run.launches()) {
    const KernelSpec& kernel = launch.kernel;
    SQLite::bind(add_call, launch.start_ns, launch.end_ns, kGlobalPid | launch.thread_id,
                 launch.correlation_id, intern("cudaLaunchKernel_v7000"));
    add_call.exec();
    add_call.reset();
    const int64_t name = intern(kernel.name);
    SQLite::bind(add_kernel, launch.kernel_start_ns, launch.kernel_start_ns + kernel.duration_ns,
                 kernel.stream, launch.correlation_id, kGlobalPid, name, name, kernel.registers,
                 kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1],
                 kernel.block[2]);
    add_kernel.exec();
    add_kernel.reset();
  }
  database.exec("COMMIT");
}

void WriteKinetoRun(const NetworkRun& run, const std::filesystem::path& path) {
  using What = NetworkRun::What;
  std::ofstream out(path, std::ios::binary);
  out << R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2-16GB"}],)"
      << "\n\"traceEvents\": [";
  bool first = true;
  const auto add = [&](nlohmann::ordered_json event, int64_t start_ns, int64_t end_ns) {
    event["pid"] = event.value("pid", NetworkRun::kProcessId);
    // The library writes doubles only; the exact times are put in as text.
    std::string text = event.dump();
    text.pop_back();
    out << (first ? "\n" : ",\n") << text << ", \"ts\": " << Microseconds(start_ns)
        << ", \"dur\": " << Microseconds(end_ns - start_ns) << "}";
    first = false;
  };
  for (const NetworkRun::Span& span : run.spans()) {
    nlohmann::ordered_json event = {{"ph", "X"}, {"tid", span.thread_id}, {"name", span.text}};
    nlohmann::ordered_json args = nlohmann::ordered_json::object();
    switch (span.what) {
      case What::kOp:
        args = SpanArgs(span);
        [[fallthrough]];
      case What::kNode:
        event["cat"] = "cpu_op";
        if (span.sequence >= 0) args["Sequence number"] = span.sequence;
        break;
      case What::kLayer:
        event["cat"] = "python_function";
        event["name"] = "nn.Module: " + span.text;
        args["Python module id"] = 0;
        break;
      case What::kFrame: {
        event["cat"] = "python_function";
        const size_t colon = span.text.rfind(':');
        event["name"] =
            fmt::format("{}({}): forward", span.text.substr(0, colon), span.text.substr(colon + 1));
        break;
      }
      case What::kLabel:
        event["cat"] = "user_annotation";
        break;
    }
    event["args"] = args;
    add(event, span.start_ns, span.end_ns);
  }
  for (const NetworkRun::Launch& launch : run.launches()) {
    const KernelSpec& kernel = launch.kernel;
    add({{"ph", "X"},
         {"cat", "cuda_runtime"},
         {"name", "cudaLaunchKernel"},
         {"tid", launch.thread_id},
         {"args", {{"cbid", 211}, {"correlation", launch.correlation_id}}}},
        launch.start_ns, launch.end_ns);
    add({{"ph", "X"},
         {"cat", "kernel"},
         {"name", kernel.name},
         {"pid", 0},
         {"tid", kernel.stream},
         {"args",
          {{"device", 0},
           {"context", 1},
           {"stream", kernel.stream},
           {"correlation", launch.correlation_id},
           {"registers per thread", kernel.registers},
           {"shared memory", 0},
           {"grid", kernel.grid},
           {"block", kernel.block}}}},
        launch.kernel_start_ns, launch.kernel_start_ns + kernel.duration_ns);
  }
  out << "\n]}\n";
}

}  // namespace oplens::test
