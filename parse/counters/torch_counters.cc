#include "parse/counters/torch_counters.h"

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "parse/counters/counter_metrics.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kRange = "cuda_profiler_range";
/// The name of a kernel that the profiler did not see launched.
constexpr std::string_view kMissingName = "__missing__";

struct TimedKernel {
  double time = 0;
  CountedKernel kernel;
};

std::optional<TimedKernel> ReadEvent(simdjson::dom::object event) {
  std::string_view category;
  std::string_view name;
  TimedKernel read;
  simdjson::dom::object args;
  if (event["cat"].get(category) != simdjson::SUCCESS || category != kRange) return std::nullopt;
  if (event["name"].get(name) != simdjson::SUCCESS ||
      event["ts"].get(read.time) != simdjson::SUCCESS ||
      event["args"].get(args) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  if (name != kMissingName) read.kernel.name = name;
  MetricValues metrics;
  for (const auto& [key, value] : args) {
    const std::optional<CounterMetric> metric = CounterMetricOf(key);
    double number = 0;
    if (metric && value.get(number) == simdjson::SUCCESS && number >= 0) {
      metrics.Set(*metric, key, number);
    }
  }
  read.kernel.counters = metrics.Counters(read.kernel.name);
  return read;
}

}  // namespace

CounterTable ParseTorchCounters(std::string_view text, std::string_view path) {
  simdjson::dom::parser parser;
  simdjson::dom::array events;
  const simdjson::padded_string padded(text);
  simdjson::dom::element root;
  if (parser.parse(padded).get(root) != simdjson::SUCCESS ||
      root["traceEvents"].get(events) != simdjson::SUCCESS) {
    throw Error(path, "is JSON, but no trace of PyTorch's profiler", "give an export of ncu --csv");
  }
  std::vector<TimedKernel> kernels;
  for (const simdjson::dom::element event : events) {
    simdjson::dom::object object;
    if (event.get(object) != simdjson::SUCCESS) continue;
    if (std::optional<TimedKernel> kernel = ReadEvent(object)) {
      kernels.push_back(std::move(*kernel));
    }
  }
  if (kernels.empty()) {
    throw Error(path, "holds no counters of kernels",
                "record with the profiler's experimental_config of metrics, or give an export of "
                "ncu --csv");
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const TimedKernel& a, const TimedKernel& b) { return a.time < b.time; });
  CounterTable table;
  for (TimedKernel& kernel : kernels) table.kernels.push_back(std::move(kernel.kernel));
  return table;
}

}  // namespace oplens::parse
