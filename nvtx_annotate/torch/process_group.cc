#include "nvtx_annotate/torch/framework.h"

#if !defined(OPLENS_NO_PROCESS_GROUPS) && __has_include(<torch/csrc/distributed/c10d/ProcessGroup.hpp>)
#define OPLENS_HAS_PROCESS_GROUPS 1
#ifndef USE_C10D
#define USE_C10D
#endif
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

namespace oplens::annotate::torch::framework {

#ifdef OPLENS_HAS_PROCESS_GROUPS

std::optional<ProcessGroup> GroupOf(const c10::IValue& value) {
  if (!value.isObject()) return std::nullopt;
  const c10::ivalue::Object& object = value.toObjectRef();
  if (object.slots().size() != 1 || object.name() != "__torch__.torch.classes.c10d.ProcessGroup") {
    return std::nullopt;
  }
  // Like toCustomClass(), without looking up the class by type.
  const c10::intrusive_ptr<::torch::CustomClassHolder> holder = object.getSlot(0).toCapsule();
  const auto* const group = static_cast<const c10d::ProcessGroup*>(holder.get());
  return group == nullptr ? std::nullopt
                          : std::optional(ProcessGroup{group->getRank(), group->getSize()});
}

#else

std::optional<ProcessGroup> GroupOf(const c10::IValue& /*value*/) { return std::nullopt; }

#endif

}  // namespace oplens::annotate::torch::framework
