// make_trace KERNELS FILE.json: writes a trace as PyTorch's profiler does, of a training loop with
// KERNELS kernels and some six events of the host for each: modules, operators within operators,
// nodes of the backward pass on a thread of their own, CUDA calls. Times differ from call to call
// as those of a real run do. The same number gives the same file. For bench/report.sh.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/output.h"

namespace {

constexpr int kProcess = 4000;
constexpr int kMainThread = 4000;
constexpr int kEngineThread = 4001;
constexpr int64_t kOriginNs = 4'458'676'000'000'000;
// A step: each layer forward, each backward, each optimised; a kernel each.
constexpr int kLayers = 100;

struct Layer {
  std::string_view module;
  std::string_view op;     // As the model calls it,
  std::string_view inner;  // what that calls, which launches,
  std::string_view node;   // and the node of the backward pass.
  std::string_view kernel;
  std::string_view types;
  int64_t kernel_ns;
};

constexpr Layer kKinds[] = {
    {"Linear", "aten::linear", "aten::addmm", "AddmmBackward0", "ampere_sgemm_128x64_tn",
     R"(["float","float","float","Scalar","Scalar"])", 42'000},
    {"LayerNorm", "aten::layer_norm", "aten::native_layer_norm", "NativeLayerNormBackward0",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, "
     "float, float const*, float const*, float const*, float*, float*, float*)",
     R"(["float","","float","float","Scalar"])", 9'000},
    {"GELU", "aten::gelu", "aten::gelu", "GeluBackward0",
     "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl("
     "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}, at::detail::Array<char*, 2> >"
     "(int, at::native::GeluCUDAKernelImpl)",
     R"(["float",""])", 7'000},
    {"Dropout", "aten::dropout", "aten::native_dropout", "NativeDropoutBackward0",
     "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned "
     "int, 1, 4, bool>(at::cuda::detail::TensorInfo<float const, unsigned int>)",
     R"(["float","Scalar","Scalar"])", 6'000},
};

/// Extents of the tensors of a layer: some are as those of others.
std::string DimsOf(int layer) {
  const int width = 256 << (layer / 4 % 3);
  switch (layer % 4) {
    case 0:
      return fmt::format("[[{0}],[4096,{0}],[{0},{0}],[],[]]", width);
    case 1:
      return fmt::format("[[32,128,{0}],[],[{0}],[{0}],[]]", width);
    case 2:
      return fmt::format("[[32,128,{}],[]]", width);
    default:
      return fmt::format("[[32,128,{}],[],[]]", width);
  }
}

class TraceWriter {
 public:
  TraceWriter(int64_t kernels, oplens::Output* output) : left_(kernels), output_(*output) {}

  void Write() {
    Append(
        "{{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{{\"id\": 0, \"name\": \"NVIDIA "
        "A100-SXM4"
        "-40GB\", \"totalGlobalMem\": 42505273344, \"computeMajor\": 8, \"computeMinor\": 0, "
        "\"maxThreadsPerBlock\": 1024, \"warpSize\": 32, \"numSms\": 108}}],\n\"traceEvents\": "
        "[\n");
    for (int64_t step = 0; left_ > 0; ++step) WriteStep(step);
    Append(
        "{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {0}, \"tid\": 0, \"ts\": 0, "
        "\"args\": {{\"name\": \"python\"}}}}\n]}}\n",
        kProcess);
  }

 private:
  template <typename... T>
  void Append(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(*output_.buffer()), format, std::forward<T>(values)...);
    output_.FlushIfLarge();
  }

  /// About so long, as calls take: seldom less than three quarters, now and then twice.
  int64_t Some(int64_t ns) {
    const auto random = static_cast<int64_t>(random_() & 1023);
    return ns * 3 / 4 + ns * random / 2048 + ((random_() & 63) == 0 ? ns : 0);
  }

  /// An event of the host, whose end is known once what is in it was written. Its arguments come
  /// first.
  void Host(std::string_view category, std::string_view name, int thread, int64_t start_ns,
            int64_t end_ns, std::string_view args) {
    Append(
        "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": "
        "{}.{:03}, \"dur\": {}.{:03}, \"args\": {{{}}}}},\n",
        category, name, kProcess, thread, (kOriginNs + start_ns) / 1000,
        (kOriginNs + start_ns) % 1000, (end_ns - start_ns) / 1000, (end_ns - start_ns) % 1000,
        args);
  }

  void Launch(const Layer& kind, int layer, int thread, int64_t kernel_ns) {
    --left_;
    const int64_t call_ns = now_ns_;
    now_ns_ += Some(4'500);
    ++correlation_;
    Host("cuda_runtime", "cudaLaunchKernel", thread, call_ns, now_ns_,
         fmt::format("\"cbid\": 211, \"correlation\": {}", correlation_));
    const int64_t start_ns = std::max(gpu_ns_ + Some(900), call_ns + Some(6'000));
    gpu_ns_ = start_ns + Some(kernel_ns);
    Append(
        "{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, \"tid\": 7, \"ts\": "
        "{}.{:03}, \"dur\": {}.{:03}, \"args\": {{\"device\": 0, \"context\": 1, \"stream\": 7, "
        "\"correlation\": {}, \"registers per thread\": 32, \"shared memory\": 0, \"grid\": [{}, "
        "1, "
        "1], \"block\": [128, 1, 1]}}}},\n",
        kind.kernel, (kOriginNs + start_ns) / 1000, (kOriginNs + start_ns) % 1000,
        (gpu_ns_ - start_ns) / 1000, (gpu_ns_ - start_ns) % 1000, correlation_,
        256 << (layer / 4 % 3));
  }

  std::string OpArgs(const Layer& kind, int layer, int64_t sequence) {
    std::string args = fmt::format("\"External id\": {}, \"Input Dims\": {}, \"Input type\": {}",
                                   ++external_, DimsOf(layer), kind.types);
    if (sequence > 0) {
      args += fmt::format(", \"Fwd thread id\": 0, \"Sequence number\": {}", sequence);
    }
    return args;
  }

  void Forward(int layer, int64_t sequence) {
    const Layer& kind = kKinds[layer % 4];
    const int64_t module_ns = now_ns_;
    now_ns_ += Some(9'000);
    const int64_t op_ns = now_ns_;
    now_ns_ += Some(2'500);
    const int64_t leaf_ns = now_ns_;
    now_ns_ += Some(1'800);
    Host("cpu_op", "aten::view", kMainThread, leaf_ns, now_ns_,
         fmt::format("\"External id\": {}", ++external_));
    const int64_t inner_ns = now_ns_;
    now_ns_ += Some(5'000);
    const int64_t empty_ns = now_ns_;
    now_ns_ += Some(1'500);
    Host("cpu_op", "aten::empty", kMainThread, empty_ns, now_ns_,
         fmt::format("\"External id\": {}", ++external_));
    Launch(kind, layer, kMainThread, kind.kernel_ns);
    now_ns_ += Some(700);
    Host("cpu_op", kind.inner, kMainThread, inner_ns, now_ns_, OpArgs(kind, layer, sequence));
    now_ns_ += Some(500);
    Host("cpu_op", kind.op, kMainThread, op_ns, now_ns_, OpArgs(kind, layer, 0));
    now_ns_ += Some(2'000);
    ++python_;
    Host("python_function", fmt::format("nn.Module: {}_{}", kind.module, layer), kMainThread,
         module_ns, now_ns_,
         fmt::format("\"Python id\": {}, \"Python parent id\": null, \"Python module id\": {}",
                     python_, layer));
  }

  void Backward(int layer, int64_t sequence) {
    const Layer& kind = kKinds[layer % 4];
    const int64_t task_ns = now_ns_;
    now_ns_ += Some(3'000);
    const int64_t node_ns = now_ns_;
    now_ns_ += Some(2'000);
    const int64_t inner_ns = now_ns_;
    now_ns_ += Some(4'000);
    const int64_t empty_ns = now_ns_;
    now_ns_ += Some(1'500);
    Host("cpu_op", "aten::empty", kEngineThread, empty_ns, now_ns_,
         fmt::format("\"External id\": {}", ++external_));
    Launch(kind, layer, kEngineThread, 2 * kind.kernel_ns);
    now_ns_ += Some(700);
    Host("cpu_op", kind.inner, kEngineThread, inner_ns, now_ns_, OpArgs(kind, layer, 0));
    now_ns_ += Some(400);
    const std::string args =
        fmt::format("\"External id\": {}, \"Fwd thread id\": 1, \"Sequence number\": {}",
                    ++external_, sequence);
    Host("cpu_op", kind.node, kEngineThread, node_ns, now_ns_, args);
    now_ns_ += Some(600);
    Host("cpu_op", fmt::format("autograd::engine::evaluate_function: {}", kind.node), kEngineThread,
         task_ns, now_ns_, args);
    now_ns_ += Some(1'000);
  }

  void Optimise(int layer) {
    const int64_t op_ns = now_ns_;
    now_ns_ += Some(3'000);
    Launch(kKinds[2], layer, kMainThread, 5'000);
    now_ns_ += Some(700);
    Host("cpu_op", "aten::add_", kMainThread, op_ns, now_ns_, OpArgs(kKinds[2], layer, 0));
    for (int i = 0; i < 4; ++i) {
      now_ns_ += Some(1'000);
      const int64_t leaf_ns = now_ns_;
      now_ns_ += Some(1'300);
      Host("cpu_op", "aten::detach", kMainThread, leaf_ns, now_ns_,
           fmt::format("\"External id\": {}", ++external_));
    }
  }

  void WriteStep(int64_t step) {
    const int64_t step_ns = now_ns_;
    now_ns_ += Some(50'000);
    const int64_t first = sequence_;
    for (int i = 0; i < kLayers && left_ > 0; ++i) Forward(i, ++sequence_);
    now_ns_ += Some(30'000);
    for (int i = kLayers; i > 0 && left_ > 0; --i) Backward(i - 1, first + i);
    now_ns_ += Some(20'000);
    for (int i = 0; i < kLayers && left_ > 0; ++i) Optimise(i);
    const int64_t sync_ns = now_ns_;
    now_ns_ = std::max(now_ns_ + Some(3'000), gpu_ns_ + Some(2'000));
    Host("cuda_runtime", "cudaDeviceSynchronize", kMainThread, sync_ns, now_ns_,
         fmt::format("\"cbid\": 165, \"correlation\": {}", ++correlation_));
    now_ns_ += Some(4'000);
    Host("user_annotation", fmt::format("ProfilerStep#{}", step), kMainThread, step_ns, now_ns_,
         fmt::format("\"External id\": {}", ++external_));
    now_ns_ += Some(2'000);
  }

  int64_t left_;
  oplens::Output& output_;
  std::mt19937_64 random_{19};
  int64_t now_ns_ = 0;
  int64_t gpu_ns_ = 0;
  int64_t correlation_ = 0;
  int64_t external_ = 0;
  int64_t sequence_ = 0;
  int64_t python_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int64_t kernels = 0;
  if (argc == 3) {
    const std::string_view text = argv[1];
    std::from_chars(text.data(), text.data() + text.size(), kernels);
  }
  if (kernels < 1) {
    fmt::print(stderr, "usage: make_trace KERNELS FILE.json\n");
    return 2;
  }
  try {
    oplens::Output output(argv[2]);
    TraceWriter(kernels, &output).Write();
    output.Commit();
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_trace: {}\n", error.what());
    return 1;
  }
  return 0;
}
