// Reads kernels, one JSON object a line with "name_full", "grid", "block", "device" and "stream",
// and prints for each what its launch tells of its sizes; for scripts/blind_check.py --sizes.

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ops/kernels/launch_chain.h"
#include "ops/kernels/launch_sizes.h"

namespace oplens::ops::launch_sizes_probe {
namespace {

Dim3 DimOf(const nlohmann::json& list) {
  if (!list.is_array() || list.size() != 3) return {-1, -1, -1};
  return {list[0].get<int64_t>(), list[1].get<int64_t>(), list[2].get<int64_t>()};
}

nlohmann::json BoundsJson(const Bounds& bounds) { return {bounds.low, bounds.high}; }

void Print(const LaunchSizes& sizes) {
  nlohmann::json out;
  out["kind"] = static_cast<int>(sizes.kind);
  out["params"] = sizes.params;
  out["n"] = BoundsJson(sizes.elements);
  out["M"] = BoundsJson(sizes.m);
  out["N"] = BoundsJson(sizes.n);
  out["K"] = BoundsJson(sizes.k);
  out["batch"] = BoundsJson(sizes.batch);
  out["mma"] = sizes.is_mma;
  if (sizes.flops) out["flops"] = BoundsJson(*sizes.flops);
  if (sizes.flops_estimate) out["flops_estimate"] = *sizes.flops_estimate;
  if (sizes.bytes) out["bytes"] = BoundsJson(*sizes.bytes);
  if (sizes.bytes_estimate) out["bytes_estimate"] = *sizes.bytes_estimate;
  std::cout << out.dump() << "\n";
}

int Run() {
  std::map<std::string, LaunchRule> rules;
  std::map<std::string, std::vector<size_t>> streams;
  std::vector<StreamKernel> kernels;
  std::vector<LaunchSizes> sizes;
  for (std::string line; std::getline(std::cin, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    const std::string name =
        json["name_full"].is_string() ? json["name_full"].get<std::string>() : std::string();
    auto rule = rules.find(name);
    if (rule == rules.end()) rule = rules.emplace(name, LaunchRuleOf(name)).first;
    streams[json.value("stream", nlohmann::json()).dump()].push_back(kernels.size());
    const nlohmann::json& duration = json["sil"];
    kernels.push_back({&rule->second, DimOf(json["grid"]), DimOf(json["block"]),
                       duration.is_number() ? duration.get<int64_t>() : 0});
    sizes.push_back(SizesOfLaunch(rule->second, kernels.back().grid, kernels.back().block));
  }
  for (const auto& [stream, members] : streams) {
    std::vector<StreamKernel> ordered;
    for (const size_t member : members) ordered.push_back(kernels[member]);
    for (const ChainedKernel& chained : ChainedKernelsOf(ordered)) {
      sizes[members[chained.kernel]] = SizesOfChained(ordered[chained.kernel], chained.elements);
    }
  }
  for (const LaunchSizes& kernel : sizes) Print(kernel);
  return 0;
}

}  // namespace
}  // namespace oplens::ops::launch_sizes_probe

int main() { return oplens::ops::launch_sizes_probe::Run(); }
