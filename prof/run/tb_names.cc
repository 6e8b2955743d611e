#include "prof/run/tb_names.h"

#include <algorithm>
#include <iterator>

namespace oplens::prof {
namespace {

constexpr std::string_view kTbNamesCollectives[] = {"broadcast", "reduce", "all_reduce",
                                                    "all_gather", "reduce_scatter"};

bool IsCollective(std::string_view name) {
  if (!name.starts_with("nccl:") && !name.starts_with("gloo:")) return false;
  name.remove_prefix(std::string_view("nccl:").size());
  return std::find(std::begin(kTbNamesCollectives), std::end(kTbNamesCollectives), name) !=
         std::end(kTbNamesCollectives);
}

bool IsDataLoader(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

}  // namespace

bool IsTbNode(TorchEvent::Kind kind, std::string_view name) {
  if (kind == TorchEvent::Kind::kOperator || kind == TorchEvent::Kind::kModule) return true;
  return name.starts_with(kTbStep) || IsDataLoader(name) || name.starts_with("Optimizer.step") ||
         IsCollective(name);
}

std::string_view WordOf(TbKind kind) {
  constexpr std::string_view kWords[] = {"", "step", "module", "dataloader", "optimizer"};
  return kWords[static_cast<size_t>(kind)];
}

TbKind TbKindOf(TorchEvent::Kind kind, std::string_view name) {
  if (kind == TorchEvent::Kind::kModule) return TbKind::kModule;
  if (name.starts_with(kTbStep)) return TbKind::kStep;
  if (IsDataLoader(name)) return TbKind::kDataLoader;
  return name.starts_with("Optimizer.step") ? TbKind::kOptimizer : TbKind::kOther;
}

bool IsTbOperator(std::string_view name) {
  return !IsDataLoader(name) && !name.starts_with("Optimizer.") && name != "DataParallel.forward" &&
         name != "DistributedDataParallel.forward";
}

}  // namespace oplens::prof
