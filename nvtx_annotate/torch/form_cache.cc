#include "nvtx_annotate/torch/form_cache.h"

#include <ATen/core/function_schema.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "nvtx_annotate/torch/framework.h"

// NDEBUG: see observer.cc.

namespace oplens::annotate::torch {
namespace {

size_t FormCacheHashOf(const char* address) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return (number >> 4) * 0x9e3779b97f4a7c15 >> 40;
}

/// ScalarType, optional or not.
bool IsDType(const c10::TypePtr& type) {
  const bool optional = type->kind() == c10::TypeKind::OptionalType;
  const c10::ArrayRef<c10::TypePtr> inner = type->containedTypes();
  if (optional && inner.size() == 1) return inner[0]->kind() == c10::TypeKind::ScalarTypeType;
  return type->kind() == c10::TypeKind::ScalarTypeType;
}

CallForm MakeForm(const c10::FunctionSchema& schema) {
  std::vector<SchemaArgument> arguments;
  for (const c10::Argument& argument : schema.arguments()) {
    const bool dtype = IsDType(argument.real_type());
    arguments.push_back({argument.name(), argument.kwarg_only(), argument.is_out(), dtype});
  }
  return FormOfOperator(schema.name(), schema.overload_name(), arguments);
}

}  // namespace

const KnownForm* FormCache::Find(const at::RecordFunction& function) {
  const char* const name = function.name();
  size_t slot = FormCacheHashOf(name) % kSlots;
  std::unique_ptr<const Entry> added;
  for (size_t probe = 0; probe < kMaxProbes; ++probe, slot = (slot + 1) % kSlots) {
    const Entry* known = slots_[slot].load(std::memory_order_acquire);
    if (known == nullptr) {
      if (added == nullptr) {
        const auto schema = framework::SchemaOf(function);
        if (!schema.has_value()) return nullptr;
        auto made = std::make_unique<Entry>();
        made->address = name;
        made->name = name;
        made->known.form = MakeForm(*schema);
        made->known.plain = PlainCall(made->known.form);
        made->known.names.names = made->known.form.names();
        added = std::move(made);
      }
      if (slots_[slot].compare_exchange_strong(known, added.get(), std::memory_order_acq_rel)) {
        return &added.release()->known;
      }
    }
    if (known->address == name && std::strcmp(known->name.c_str(), name) == 0) {
      return &known->known;
    }
  }
  return nullptr;
}

}  // namespace oplens::annotate::torch
