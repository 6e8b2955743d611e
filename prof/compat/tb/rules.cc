#include "prof/compat/tb/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ratio.h"

namespace oplens::prof::advice {
namespace {

constexpr double kTbRulesMuchLoading = 0.05;
constexpr double kMuchCommunication = 0.1;
constexpr double kLittleUsed = 0.5;
constexpr double kTbRulesMemoryIsFull = 0.9;
constexpr int kFirstWithNccl = 35;
constexpr int kTbRulesFirstWithTensorCores = 70;

std::optional<std::string> DataLoader(const TbFacts& facts) {
  const double ratio = Ratio(facts.dataloader_ns, facts.total_ns).value_or(0);
  if (!(ratio > kTbRulesMuchLoading)) return std::nullopt;
  return fmt::format("{:.1f}% of the step time is in the DataLoader", 100 * ratio);
}

std::optional<std::string> DataParallel(const TbFacts& facts) {
  if (!facts.data_parallel || facts.used_devices < 2) return std::nullopt;
  return fmt::format("DataParallel runs on {} GPUs", facts.used_devices);
}

std::optional<std::string> NcclBackend(const TbFacts& facts) {
  if (!facts.distributed_data_parallel || facts.nccl) return std::nullopt;
  const bool able = std::any_of(
      facts.devices.begin(), facts.devices.end(),
      [](const TbFacts::Device& device) { return device.compute_capability >= kFirstWithNccl; });
  if (!able) return std::nullopt;
  return "DistributedDataParallel runs without NCCL, which these GPUs could use";
}

std::optional<std::string> Communication(const TbFacts& facts) {
  const double ratio = Ratio(facts.comm_ns, facts.total_ns).value_or(0);
  if (!(ratio > kMuchCommunication)) return std::nullopt;
  return fmt::format("{:.1f}% of the step time is communication", 100 * ratio);
}

std::optional<std::string> Utilisation(const TbFacts& facts) {
  std::string list;
  for (const TbFacts::Gpu& gpu : facts.gpus) {
    if (!(Ratio(gpu.busy_ns, gpu.window_ns).value_or(0) < kLittleUsed)) continue;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", gpu.id);
  }
  if (list.empty()) return std::nullopt;
  return fmt::format("less than half of the time a kernel runs on GPU {}", list);
}

std::optional<std::string> MixedPrecision(const TbFacts& facts) {
  if (facts.devices.empty() || facts.devices[0].compute_capability < kTbRulesFirstWithTensorCores ||
      facts.tensor_core_ns != 0 || facts.eligible_ns <= 0) {
    return std::nullopt;
  }
  return fmt::format(
      "{:.0f}% of the kernel time of operators is of ones that could use Tensor "
      "Cores; none does",
      100 * Ratio(facts.eligible_ns, facts.op_kernel_ns).value_or(0));
}

std::optional<std::string> TbRulesMemory(const TbFacts& facts) {
  constexpr double kGiB = 1 << 30;
  for (const TbFacts::Device& device : facts.devices) {
    if (device.memory_bytes <= 0) continue;
    const auto peak = static_cast<double>(device.peak_allocated_bytes);
    const auto all = static_cast<double>(device.memory_bytes);
    if (!(peak > all * kTbRulesMemoryIsFull)) continue;
    return fmt::format("{:.1f}% of the {:.1f} GiB of GPU {} are allocated at the peak",
                       100 * peak / all, all / kGiB, device.id);
  }
  return std::nullopt;
}

constexpr std::string_view kLargerBatch =
    "a larger batch (which may need another learning rate, and can hurt convergence)";

constexpr TbRule kTbRules[] = {
    {"tb-dataloader", DataLoader, "load batches in other processes: num_workers",
     "--compat tb --view overview", "overview"},
    {"tb-data-parallel", DataParallel, "use DistributedDataParallel", "--compat tb --view gpu",
     "gpu"},
    {"tb-nccl-backend", NcclBackend, "use the backend NCCL", "--compat tb --view collectives",
     "collectives"},
    {"tb-communication", Communication,
     "compress gradients, accumulate them, or a larger batch (which may need another learning "
     "rate, and can hurt convergence)",
     "--compat tb --view overview", "overview"},
    {"tb-utilisation", Utilisation, kLargerBatch, "--compat tb --view gpu", "gpu"},
    {"tb-mixed-precision", MixedPrecision, "use automatic mixed precision",
     "--compat tb --view operators", "operators"},
    {"tb-memory", TbRulesMemory, "checkpoint activations, or use mixed precision",
     "--compat tb --view memory", "memory"},
};

}  // namespace

std::span<const TbRule> TbRules() { return kTbRules; }

}  // namespace oplens::prof::advice
