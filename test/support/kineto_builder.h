#ifndef OPLENS_TEST_SUPPORT_KINETO_BUILDER_H_
#define OPLENS_TEST_SUPPORT_KINETO_BUILDER_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::test {

/// How the trace deviates from what PyTorch 2.6 writes.
struct KinetoOptions {
  /// Names of PyTorch 1.8: categories Operator, Runtime, Kernel, "Input dims", "external id",
  /// thread ids as texts.
  bool old_names = false;
  bool whole_microseconds = false;        ///< Times are cut, as before PyTorch 2.3.
  bool bare_array = false;                ///< The events alone, without the document around them.
  bool members_last = false;              ///< deviceProperties and the like after the events.
  int64_t origin_us = 4'458'676'000'000;  ///< Added to all times.
};

/// Arguments of an event: names and values, the values as JSON text.
using KinetoArgs = std::vector<std::pair<std::string, std::string>>;

/// A text as JSON: quoted and escaped.
std::string JsonText(std::string_view text);

/// One call of an operator.
struct KinetoOperator {
  std::string name = "aten::mm";
  int64_t start_ns = 0;
  int64_t duration_ns = 1000;
  int64_t thread_id = 1234;
  std::string dims = {};    ///< "[[2, 3], [3, 4]]"; empty: not recorded.
  std::string types = {};   ///< R"(["float", "float"])"
  std::string values = {};  ///< R"(["", ""])"; no such thing in old traces.
  int64_t sequence = -1;    ///< -1: not recorded.
  int64_t forward_thread = 0;
  std::string stack = {};  ///< "inner.py(2): f;outer.py(1): <module>"
  KinetoArgs more = {};
};

/// One kernel and how it is launched.
struct KinetoKernel {
  std::string name = "kernel";
  int64_t start_ns = 0;
  int64_t duration_ns = 1000;
  int64_t correlation = 0;  ///< 0: not recorded.
  int64_t device = 0;
  int64_t stream = 7;
  int64_t grid[3] = {1, 1, 1};
  int64_t block[3] = {128, 1, 1};
  int64_t registers = 32;
  int64_t shared_bytes = 0;
  KinetoArgs more = {};
};

/// Collects the events of a Kineto trace and writes them as JSON, in the order of the calls.
class KinetoBuilder {
 public:
  explicit KinetoBuilder(KinetoOptions options = {}) : options_(options) {}

  void AddOperator(const KinetoOperator& op);
  /// An API call; `category` "cuda_runtime" or "cuda_driver". Returns its correlation id.
  int64_t AddCall(const std::string& api, int64_t start_ns, int64_t duration_ns,
                  int64_t thread_id = 1234, const std::string& category = "cuda_runtime",
                  const KinetoArgs& more = {});
  void AddKernel(const KinetoKernel& kernel);
  /// A call of cudaLaunchKernel and its kernel, 500 ns after the call. Returns the correlation id.
  int64_t Launch(KinetoKernel kernel, int64_t call_start_ns, int64_t thread_id = 1234);
  /// Any event with a duration on a host thread: "user_annotation", "python_function".
  void AddHost(const std::string& category, const std::string& name, int64_t start_ns,
               int64_t duration_ns, int64_t thread_id = 1234, const KinetoArgs& args = {});
  /// Any event with a duration on a device: "gpu_memcpy", "gpu_memset", "cuda_sync".
  void AddDevice(const std::string& category, const std::string& name, int64_t start_ns,
                 int64_t duration_ns, const KinetoArgs& args);
  void AddInstant(const std::string& name, int64_t time_ns, const KinetoArgs& args,
                  const std::string& category = "cpu_instant_event");
  /// An end of an arrow: phase "s" or "f".
  void AddFlow(const std::string& phase, int64_t id, int64_t time_ns, int64_t thread_id,
               const std::string& category = "fwdbwd");
  /// process_name or thread_name.
  void AddName(const std::string& kind, int64_t process_id, int64_t thread_id,
               const std::string& name);
  /// Any text in place of an event.
  void AddRaw(const std::string& text) { events_.push_back(text); }
  /// A member of the document; the value as JSON text.
  void AddMember(const std::string& key, const std::string& value) {
    members_.emplace_back(key, value);
  }

  static constexpr int64_t kProcess = 4242;

  /// A time as the file says it: microseconds.
  std::string Time(int64_t ns) const;
  std::string Text() const;
  /// Writes the file. Throws std::runtime_error when it cannot be written.
  void Write(const std::filesystem::path& path) const;

 private:
  std::string Category(const std::string& category) const;
  std::string Args(const KinetoArgs& args) const;
  void AddTimed(const std::string& category, const std::string& name, int64_t process_id,
                const std::string& thread, int64_t start_ns, int64_t duration_ns,
                const KinetoArgs& args);

  KinetoOptions options_;
  std::vector<std::pair<std::string, std::string>> members_;
  std::vector<std::string> events_;
  int64_t next_correlation_ = 101;
  int64_t next_external_id_ = 1;
};

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_KINETO_BUILDER_H_
