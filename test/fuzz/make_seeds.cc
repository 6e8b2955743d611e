// fuzz_seeds FOLDER: writes first inputs for every fuzzer, one folder each, from the builders of
// the tests.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/fuzz/summary_seeds.h"
#include "test/support/kineto_builder.h"
#include "test/support/network_run.h"
#include "test/support/nsys_builder.h"
#include "test/support/nvprof_builder.h"
#include "test/support/trace_script.h"

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOp =
    "{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'tensor', 'shape': (4, 8), "
    "'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (8, 2), 'dtype': 'float16'}]}";

void WriteTexts(const fs::path& folder, std::initializer_list<std::string_view> texts) {
  fs::create_directories(folder);
  int number = 0;
  for (const std::string_view text : texts) {
    std::ofstream(folder / std::to_string(++number), std::ios::binary) << text;
  }
}

void WriteTexts(const fs::path& root) {
  WriteTexts(
      root / "json_events",
      {"{\"schemaVersion\": 1, \"traceEvents\": [\n  {\"ph\": \"X\", \"ts\": 1.5},\n  {\"name\": "
       "\"a\\\\\\\"}]\", \"args\": {\"grid\": [1, 2, 3]}}\n], \"last\": NaN}",
       "[{\"a\": 18446744073709551616}, 7, {\"b\": \"C:\\dir\"}]",
       "{\"traceEvents\": [\n{\"name\": \"no end},\n{\"ph\": \"i\"},\n{\"ph\": \"i\""});
  WriteTexts(
      root / "mcp",
      {R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})"
       "\n"
       R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
       "\n"
       R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"a":[1,{"b":null}]},"_meta":{"progressToken":7}}})"
       "\n"
       R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})",
       R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})"
       "\n"
       R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
       R"([{"jsonrpc":"2.0","id":1.5,"method":"ping","params":[]}])"});
  WriteTexts(root / "gate",
             {"total>+5%", "layer(decoder.*)>+2ms", "op(mm).tc_self_pct<90", "memory.peak>+0",
              "overview(comm_ns)>=+10%", "any operators.layer(\"a) b\").op(unknown).calls<-2",
              "critical-path.cause(launch|[)(])>1.5us"});
  WriteTexts(
      root / "counters",
      {"==PROF== Connected\n\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"Metric "
       "Name\",\"Metric Unit\",\"Metric Value\"\n\"0\",\"void k<(int)4>(T1 *)\",\"(1, 2, "
       "3)\",\"(32, 1, 1)\",\"dram__bytes.sum\",\"Mbyte\",\"1,024.50\"\n\"0\",\"k\",\"\",\"\","
       "\"Duration\",\"us\",\"n/a\"\n",
       "ID,Kernel Name,dram__bytes.sum,sm__ops_path_tensor_src_int8.sum\n,,byte,\n0,a,"
       "2.508.800,7\n1,b,\"1,5\",\n",
       "{\"traceEvents\": [{\"cat\": \"cuda_profiler_range\", \"name\": \"k\", \"ts\": 1, "
       "\"args\": {\"dram__bytes.sum\": 5}}]}"});
  WriteTexts(root / "execution", {R"j({"schema": "1.0.1", "pid": 7, "nodes": [
    {
      "name": "aten::mm", "id": 9, "rf_id": 1, "seq_id": 1, "scope": 0, "fw_tid": 0,
      "inputs": [[4,5,0,6,4,"cpu"],[6,7,0,12,4,"cpu"]], "input_shapes": [[2,3],[3,4]], "input_types": ["Tensor(float)","Tensor(c10::Half)"]
    },
    {
      "name": "MmBackward0", "id": 10, "rf_id": 2, "seq_id": 1, "scope": 1, "fw_tid": 1,
      "inputs": [], "input_shapes": [], "input_types": []
    }]})j",
                                  R"j({"schema": "1.1.1-chakra.0.0.4", "pid": 7, "nodes": [
    {
      "id": 9, "name": "aten::cat", "ctrl_deps": 2,
      "inputs": {"values": [[[4,5,0,6,4,"cpu"],"<None>"],0,[1,2],0.5,"a",true], "shapes": [[[2,3],[]],[],[[],[]],[],[],[]], "types": ["GenericList[Tensor(float),None]","Int","GenericList[Int,Int]","Double","String","Bool"], "strides": []},
      "attrs": [{"name": "rf_id", "type": "uint64", "value": 3},{"name": "seq_id", "type": "int64", "value": -1},{"name": "scope", "type": "uint64", "value": 0},{"name": "fw_tid", "type": "uint64", "value": 0}]
    }]})j"});
  WriteTexts(root / "marker_text",
             {kOp, "{'traceMarker': ['a.py:1', \"b'c.py:2\"]}", "{'mod': 'M', 'strRepr': '3, 4'}",
              "layer:block.1",
              "aten::mm, seq = 12, op_id = 7, sizes = [[2, 3], [], [3, 4]], "
              "input_op_ids = [(1,0), (0,-1)]",
              "MmBackward0, seq = 12", "MmBackward, stashed seq=3", "a label"});
  WriteTexts(root / "op_call",
             {kOp,
              "{'mod': 'Tensor', 'op': '__add__', 'args': [{'name': 'x', 'type': 'float', "
              "'value': 'nan'}, {'name': '', 'type': 'list', 'value': [1, -2, 3]}, {'name': '', "
              "'type': 'NoneType', 'value': None}, {'name': '', 'type': 'bool', 'value': True}]}"});
  WriteTexts(root / "record_line",
             {"{'kShortName': 'k', 'kDuration': 5, 'tid': 1, 'device': 0, 'stream': 7, 'grid': "
              "(1, 2, 3), 'block': (4, 5, 6), 'marker': [], 'op': 'mm', 'reason': ['no-range']}"});
}

/// A thread with nested, open and damaged ranges, kernels, and a launch that is not there.
void WriteNvprof(const fs::path& path, const oplens::test::NvprofOptions& options) {
  using namespace oplens::test;
  NvprofBuilder builder;
  ScriptState state{.builder = &builder};
  AddDevice(&builder, state.process_id);
  HostThread thread(&state, 3940300608, 1'000'000);
  thread.PushAndLeak("leak");
  for (int i = 0; i < 3; ++i) {
    const ScriptRange layer(&thread, "layer:net");
    const ScriptRange op(&thread, std::string(kOp));
    const ScriptRange seq(&thread, "mm, seq = " + std::to_string(i));
    thread.Launch({.name = "_Z3addPfS_i"});
  }
  thread.RunKernel({}, 999);
  thread.Instant("tick");
  builder.Add("CUDA_EVENT", {{"correlationId", thread.CallApi(135)}, {"eventId", 3}});
  builder.Add("SYNCHRONIZATION",
              {{"type", 2}, {"correlationId", thread.CallApi(147)}, {"cudaEventId", 3}});
  builder.Add("OVERHEAD", {{"overheadKind", 1},
                           {"objectKind", 2},
                           {"objectId", ThreadObject(state.process_id, 3940300608)}});
  builder.Add("MEMORY", {{"memoryKind", 3}, {"bytes", 64}, {"start", 5}, {"end", 9}});
  builder.Add("MEMORY2", {{"memoryOperationType", 1}, {"memoryKind", 2}, {"bytes", 64}});
  builder.Write(path, options);
}

/// Rows of the tables that the network's run does not have.
void WriteNsys(const fs::path& path) {
  using namespace oplens::test;
  NsysBuilder builder;
  NsysThread thread(&builder, 4242, 4243);
  const auto row = [&](const char* api, Row more) {
    Row all = {{"start", 5},    {"end", 6},
               {"deviceId", 0}, {"contextId", 1},
               {"streamId", 7}, {"correlationId", thread.Call(api)},
               {"eventId", 3},  {"globalPid", thread.global_pid()}};
    for (auto& [column, value] : more) all[column] = std::move(value);
    return all;
  };
  thread.Launch();
  builder.Add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", row("cudaEventRecord_v3020", {}));
  builder.Add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
              row("cudaStreamWaitEvent_v3020", {{"syncType", 2}}));
  builder.Add("CUDA_GPU_MEMORY_USAGE_EVENTS",
              row("cudaMalloc_v3020",
                  {{"address", 1}, {"bytes", 64}, {"memKind", 2}, {"memoryOperationType", 0}}));
  builder.Add("PROFILER_OVERHEAD", {{"start", 1}, {"end", 2}, {"globalTid", thread.global_tid()}});
  builder.Add("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", 1696392839587175550}});
  builder.Write(path);
}

void WriteDatabases(const fs::path& folder) {
  using Options = oplens::test::NvprofOptions;
  fs::create_directories(folder);
  const oplens::test::NetworkRun run = oplens::test::ExampleNetwork();
  oplens::test::WriteNvprofRun(run, folder / "nvprof_network");
  oplens::test::WriteNsysRun(run, folder / "nsys_network");
  WriteNsys(folder / "nsys");
  WriteNvprof(folder / "nvprof", Options{.page_size = 512});
  WriteNvprof(folder / "nvprof_old", Options{.version = 8, .page_size = 1024});
  WriteNvprof(folder / "nvprof_utf16",
              Options{.version = 22, .page_size = 512, .encoding = "UTF-16le"});
}

/// Every kind of event that is read.
void WriteTrace(const fs::path& path, const oplens::test::KinetoOptions& options) {
  using namespace oplens::test;
  KinetoBuilder builder(options);
  builder.AddMember("deviceProperties", R"([{"id": 0, "name": "GPU", "numSms": 80}])");
  builder.AddMember("distributedInfo", R"({"rank": 1, "world_size": 2})");
  builder.AddHost("user_annotation", "ProfilerStep#3", 0, 100'000);
  builder.AddHost("python_function", "train.py(3): step", 100, 90'000);
  builder.AddHost("python_function", "nn.Module: Linear_0", 200, 80'000);
  builder.AddOperator({.name = "aten::mm",
                       .start_ns = 1000,
                       .duration_ns = 9000,
                       .dims = "[[2, 3], [3, 4], [], [[1], [2]]]",
                       .types = R"(["float", "c10::Half", "Scalar", "TensorList"])",
                       .values = R"(["", "", "1.5", ""])",
                       .sequence = 4,
                       .stack = "b.py(2): f;a.py(1): <module>"});
  builder.Launch({.name = "void gemm<float>(float*)"}, 2000);
  builder.AddOperator({.name = "MmBackward0", .start_ns = 20'000, .thread_id = 9, .sequence = 4});
  builder.AddFlow("s", 1, 1000, 1234);
  builder.AddFlow("f", 1, 20'000, 9);
  builder.AddDevice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 40'000, 700,
                    {{"device", "0"}, {"stream", "7"}, {"correlation", "7"}, {"bytes", "64"}});
  builder.AddDevice("gpu_memset", "Memset (Device)", 41'000, 700,
                    {{"device", "0"}, {"stream", "7"}, {"bytes", "64"}});
  builder.AddInstant("[memory]", 50'000,
                     {{"Device Type", "1"}, {"Device Id", "0"}, {"Bytes", "-512"}});
  builder.AddDevice("cuda_sync", "Stream Wait Event", 42'000, 700,
                    {{"stream", "7"},
                     {"correlation", "8"},
                     {"wait_on_stream", "20"},
                     {"wait_on_cuda_event_id", "1"},
                     {"wait_on_cuda_event_record_corr_id", "6"}});
  builder.AddHost("overhead", "Buffer Flush", 60'000, 700);
  builder.AddCall("cudaMalloc", 70'000, 700);
  builder.AddMember("baseTimeNanoseconds", "1735632360000000000");
  builder.AddName("process_name", KinetoBuilder::kProcess, 0, "python");
  builder.Write(path);
}

void WriteTraces(const fs::path& folder) {
  fs::create_directories(folder);
  oplens::test::WriteKinetoRun(oplens::test::ExampleNetwork(), folder / "network");
  WriteTrace(folder / "new", {});
  WriteTrace(folder / "old", {.old_names = true, .whole_microseconds = true});
  WriteTrace(folder / "bare", {.bare_array = true, .origin_us = 1'712'195'495'519'689});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  const fs::path root(argv[1]);
  fs::remove_all(root);
  WriteTexts(root);
  WriteDatabases(root / "database");
  WriteTraces(root / "kineto");
  std::vector<std::string> profiles;
  for (const char* const name : {"database/nvprof_network", "database/nsys_network"}) {
    profiles.push_back((root / name).string());
  }
  for (const auto& entry : fs::directory_iterator(root / "kineto")) {
    profiles.push_back(entry.path().string());
  }
  std::sort(profiles.begin(), profiles.end());
  oplens::test::WriteSummarySeeds(profiles, root / "summary");
  return 0;
}
