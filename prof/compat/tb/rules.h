#ifndef OPLENS_PROF_COMPAT_TB_RULES_H_
#define OPLENS_PROF_COMPAT_TB_RULES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::prof::advice {

/// What the advice of the TensorBoard plugin (torch_tb_profiler 0.4.3) is based on, for one rank.
struct TbFacts {
  struct Gpu {
    int64_t id = 0;
    int64_t busy_ns = 0;
    int64_t window_ns = 0;
  };
  struct Device {
    int64_t id = 0;
    int compute_capability = 0;  ///< 10 x major + minor; 0: not recorded.
    int64_t memory_bytes = 0;    ///< 0: not recorded.
    int64_t peak_allocated_bytes = 0;
  };

  // Sums over the plugin's steps, by its rules.
  int64_t total_ns = 0;
  int64_t dataloader_ns = 0;
  int64_t comm_ns = 0;
  std::vector<Gpu> gpus;        ///< GPUs that ran kernels, by id.
  std::vector<Device> devices;  ///< By id.
  int64_t used_devices = 0;
  bool data_parallel = false;
  bool distributed_data_parallel = false;
  bool nccl = false;
  bool gloo = false;
  int64_t kernel_ns = 0;
  int64_t tensor_core_ns = 0;
  int64_t op_kernel_ns = 0;
  int64_t eligible_ns = 0;
};

/// One rule; `check` returns its finding in our words, with its percentages.
struct TbRule {
  std::string_view id;
  std::optional<std::string> (*check)(const TbFacts& facts);
  std::string_view change;
  std::string_view command;
  std::string_view view;
};

/// All seven, in the plugin's order.
std::span<const TbRule> TbRules();

}  // namespace oplens::prof::advice

#endif  // OPLENS_PROF_COMPAT_TB_RULES_H_
