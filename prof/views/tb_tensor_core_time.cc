#include "prof/views/tb_tensor_core_time.h"

#include <unordered_map>

#include "ops/kernels/tensorboard_names.h"

namespace oplens::prof {
namespace {

double TbTensorCoreTimeRatio(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

void TbTensorCoreTime::Add(const TbTensorCoreTime& other) {
  kernel_ns += other.kernel_ns;
  tensor_core_ns += other.tensor_core_ns;
  op_kernel_ns += other.op_kernel_ns;
  eligible_ns += other.eligible_ns;
}

double TbTensorCoreTime::used_ratio() const {
  return TbTensorCoreTimeRatio(tensor_core_ns, kernel_ns);
}
double TbTensorCoreTime::eligible_ratio() const {
  return TbTensorCoreTimeRatio(eligible_ns, op_kernel_ns);
}

TbTensorCoreTime TbTensorCoreTimeOf(const Trace& trace, const TbTree& tree) {
  TbTensorCoreTime time;
  time.op_kernel_ns = tree.kernel_ns();
  time.eligible_ns = tree.eligible_kernel_ns();
  std::unordered_map<StringId, int64_t> by_name;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.timed()) by_name[kernel.name] += kernel.end_ns - kernel.start_ns;
  }
  for (const auto& [name, sum_ns] : by_name) {
    time.kernel_ns += sum_ns;
    const bool used = ops::IsTensorBoardTensorCoreKernel(trace.strings.View(name));
    if (used) time.tensor_core_ns += sum_ns;
  }
  return time;
}

}  // namespace oplens::prof
