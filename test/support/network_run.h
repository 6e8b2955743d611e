#ifndef OPLENS_TEST_SUPPORT_NETWORK_RUN_H_
#define OPLENS_TEST_SUPPORT_NETWORK_RUN_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"
#include "test/support/trace_script.h"

namespace oplens::test {

/// What a network did on the host and the GPU, described once and apart from any file format, so
/// that each family of profiles can hold the same run.
class NetworkRun {
 public:
  enum class What {
    kOp,     ///< An operator call: PyTorch's name, arguments in the order of its schema.
    kNode,   ///< A node of the backward pass.
    kLayer,  ///< A call of a module.
    kFrame,  ///< A Python function: "net.py:20".
    kLabel,  ///< The user's own label.
  };
  /// Something a thread was inside of.
  struct Span {
    What what;
    std::string text;
    std::vector<OpArg> args;
    int64_t sequence = -1;  ///< Of ops and nodes.
    int64_t thread_id = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    std::vector<std::string> stack;  ///< The frames around it, outermost first.
  };
  struct Launch {
    KernelSpec kernel;
    int64_t thread_id = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t kernel_start_ns = 0;
    int64_t correlation_id = 0;
  };

  /// Goes on with another thread.
  void SwitchTo(int64_t thread_id);
  void Begin(What what, std::string text, std::vector<OpArg> args = {}, int64_t sequence = -1);
  void End();
  void Run(const KernelSpec& kernel);

  /// In the order of their beginning.
  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<Launch>& launches() const { return launches_; }

  static constexpr int64_t kProcessId = 4242;

 private:
  std::vector<Span> spans_;
  std::vector<size_t> open_;
  std::vector<Launch> launches_;
  int64_t thread_id_ = 0;
  int64_t now_ns_ = 1'000'000'000;
  int64_t device_free_ns_ = 0;
};

/// A tensor argument.
OpArg TensorArg(std::vector<int64_t> shape, std::string dtype = "float32");
OpArg IntArg(int64_t value);
OpArg FloatArg(double value);
OpArg NoArg();

/// A step of training: embedding, linear, relu, softmax, and their backward on another thread, with
/// layers, frames and a label.
NetworkRun ExampleNetwork();

/// The run as NVTX ranges in an nvprof database.
void WriteNvprofRun(const NetworkRun& run, const std::filesystem::path& path);
/// The same in an export of Nsight Systems.
void WriteNsysRun(const NetworkRun& run, const std::filesystem::path& path);
/// The run as operators in a trace of PyTorch's profiler.
void WriteKinetoRun(const NetworkRun& run, const std::filesystem::path& path);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_NETWORK_RUN_H_
