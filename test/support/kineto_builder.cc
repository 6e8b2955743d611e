#include "test/support/kineto_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <stdexcept>

namespace oplens::test {
namespace {

struct OldName {
  std::string_view now;
  std::string_view then;
};

constexpr OldName kOldCategories[] = {
    {"cpu_op", "Operator"},   {"cuda_runtime", "Runtime"},     {"kernel", "Kernel"},
    {"gpu_memcpy", "Memcpy"}, {"gpu_memset", "Memset"},        {"fwdbwd", "forward_backward"},
    {"ac2g", "async"},        {"user_annotation", "Operator"},
};

constexpr OldName kOldArgs[] = {
    {"External id", "external id"},
    {"Input Dims", "Input dims"},
    {"est. achieved occupancy %", "theoretical occupancy %"},
};

template <size_t N>
std::string Then(const OldName (&names)[N], const std::string& now) {
  for (const OldName& name : names) {
    if (name.now == now) return std::string(name.then);
  }
  return now;
}

}  // namespace

std::string JsonText(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string KinetoBuilder::Category(const std::string& category) const {
  return options_.old_names ? Then(kOldCategories, category) : category;
}

std::string KinetoBuilder::Time(int64_t ns) const {
  if (options_.whole_microseconds) return fmt::format("{}", ns / 1000);
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::string KinetoBuilder::Args(const KinetoArgs& args) const {
  std::vector<std::string> members;
  for (const auto& [key, value] : args) {
    members.push_back(
        fmt::format("{}: {}", JsonText(options_.old_names ? Then(kOldArgs, key) : key), value));
  }
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

void KinetoBuilder::AddTimed(const std::string& category, const std::string& name,
                             int64_t process_id, const std::string& thread, int64_t start_ns,
                             int64_t duration_ns, const KinetoArgs& args) {
  AddRaw(fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {}}})",
      Category(category), JsonText(name), process_id, thread,
      Time(options_.origin_us * 1000 + start_ns), Time(duration_ns), Args(args)));
}

void KinetoBuilder::AddHost(const std::string& category, const std::string& name, int64_t start_ns,
                            int64_t duration_ns, int64_t thread_id, const KinetoArgs& args) {
  const std::string number = fmt::format("{}", thread_id);
  const std::string thread = options_.old_names ? JsonText(number) : number;
  AddTimed(category, name, kProcess, thread, start_ns, duration_ns, args);
}

void KinetoBuilder::AddOperator(const KinetoOperator& op) {
  KinetoArgs args = {{"External id", fmt::format("{}", next_external_id_++)}};
  if (!op.dims.empty()) args.emplace_back("Input Dims", op.dims);
  if (!op.types.empty()) args.emplace_back("Input type", op.types);
  if (!op.values.empty() && !options_.old_names) args.emplace_back("Concrete Inputs", op.values);
  if (op.sequence >= 0) {
    args.emplace_back("Fwd thread id", fmt::format("{}", op.forward_thread));
    args.emplace_back("Sequence number", fmt::format("{}", op.sequence));
  }
  if (!op.stack.empty()) args.emplace_back("Call stack", JsonText(op.stack));
  args.insert(args.end(), op.more.begin(), op.more.end());
  AddHost("cpu_op", op.name, op.start_ns, op.duration_ns, op.thread_id, args);
}

int64_t KinetoBuilder::AddCall(const std::string& api, int64_t start_ns, int64_t duration_ns,
                               int64_t thread_id, const std::string& category,
                               const KinetoArgs& more) {
  const int64_t correlation = next_correlation_++;
  KinetoArgs args = {{"cbid", "211"}, {"correlation", fmt::format("{}", correlation)}};
  args.insert(args.end(), more.begin(), more.end());
  AddHost(category, api, start_ns, duration_ns, thread_id, args);
  return correlation;
}

void KinetoBuilder::AddDevice(const std::string& category, const std::string& name,
                              int64_t start_ns, int64_t duration_ns, const KinetoArgs& args) {
  std::string device = "0";
  std::string stream = "7";
  for (const auto& [key, value] : args) {
    if (key == "device") device = value;
    if (key == "stream") stream = value;
  }
  AddTimed(category, name, std::stoll(device),
           options_.old_names ? fmt::format("\"stream {}\"", stream) : stream, start_ns,
           duration_ns, args);
}

void KinetoBuilder::AddKernel(const KinetoKernel& kernel) {
  KinetoArgs args = {{"queued", "0"},
                     {"device", fmt::format("{}", kernel.device)},
                     {"context", "1"},
                     {"stream", fmt::format("{}", kernel.stream)}};
  if (kernel.correlation != 0) {
    args.emplace_back("correlation", fmt::format("{}", kernel.correlation));
  }
  args.emplace_back("registers per thread", fmt::format("{}", kernel.registers));
  args.emplace_back("shared memory", fmt::format("{}", kernel.shared_bytes));
  args.emplace_back("blocks per SM", "0.5");
  args.emplace_back("warps per SM", "2");
  args.emplace_back("grid", fmt::format("[{}]", fmt::join(kernel.grid, ", ")));
  args.emplace_back("block", fmt::format("[{}]", fmt::join(kernel.block, ", ")));
  args.emplace_back("est. achieved occupancy %", "31");
  args.insert(args.end(), kernel.more.begin(), kernel.more.end());
  AddDevice("kernel", kernel.name, kernel.start_ns, kernel.duration_ns, args);
}

int64_t KinetoBuilder::Launch(KinetoKernel kernel, int64_t call_start_ns, int64_t thread_id) {
  constexpr int64_t kCallNs = 2000;
  constexpr int64_t kDelayNs = 500;
  kernel.correlation = AddCall("cudaLaunchKernel", call_start_ns, kCallNs, thread_id);
  kernel.start_ns = call_start_ns + kCallNs + kDelayNs;
  AddKernel(kernel);
  return kernel.correlation;
}

void KinetoBuilder::AddInstant(const std::string& name, int64_t time_ns, const KinetoArgs& args,
                               const std::string& category) {
  const std::string shown =
      options_.old_names ? "" : fmt::format(R"("cat": "{}", )", Category(category));
  AddRaw(fmt::format(
      R"({{"ph": "i", {}"s": "t", "name": {}, "pid": {}, "tid": 1234, "ts": {}, "args": {}}})",
      shown, JsonText(name), kProcess, Time(options_.origin_us * 1000 + time_ns), Args(args)));
}

void KinetoBuilder::AddFlow(const std::string& phase, int64_t id, int64_t time_ns,
                            int64_t thread_id, const std::string& category) {
  AddRaw(fmt::format(
      R"({{"ph": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {}, "cat": "{}", "name": "{}", "bp": "e"}})",
      phase, id, kProcess, thread_id, Time(options_.origin_us * 1000 + time_ns), Category(category),
      category));
}

void KinetoBuilder::AddName(const std::string& kind, int64_t process_id, int64_t thread_id,
                            const std::string& name) {
  AddRaw(fmt::format(
      R"({{"name": "{}", "ph": "M", "ts": {}, "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
      kind, Time(options_.origin_us * 1000), process_id, thread_id, JsonText(name)));
}

std::string KinetoBuilder::Text() const {
  const std::string events = fmt::format("[\n{}\n]", fmt::join(events_, ",\n"));
  if (options_.bare_array) return events;
  std::vector<std::string> members = {R"("schemaVersion": 1)"};
  for (const auto& [key, value] : members_) {
    members.push_back(fmt::format("{}: {}", JsonText(key), value));
  }
  const std::string list = fmt::format("\"traceEvents\": {}", events);
  members.insert(options_.members_last ? members.begin() : members.end(), list);
  return fmt::format("{{\n{}\n}}\n", fmt::join(members, ",\n"));
}

void KinetoBuilder::Write(const std::filesystem::path& path) const {
  std::ofstream file(path, std::ios::binary);
  file << Text();
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

}  // namespace oplens::test
