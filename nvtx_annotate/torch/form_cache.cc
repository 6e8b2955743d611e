#include "nvtx_annotate/torch/form_cache.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>

#include <memory>
#include <vector>

#include "nvtx_annotate/torch/framework.h"

// NDEBUG: see observer.cc.

namespace oplens::annotate::torch {
namespace {

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

class RemovalCounter : public c10::OpRegistrationListener {
 public:
  explicit RemovalCounter(std::atomic<uint64_t>* removals) : removals_(removals) {}
  void onOperatorRegistered(const c10::OperatorHandle& /*op*/) override {}
  void onOperatorDeregistered(const c10::OperatorHandle& /*op*/) override {
    removals_->fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t>* const removals_;
};

}  // namespace

void FormCache::WatchOperators(std::atomic<uint64_t>* removals) noexcept {
  if (watches()) return;
  try {
    // Kept until the process ends, at which operators may be removed after our own objects.
    static auto* const watch =
        new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().addRegistrationListener(
            std::make_unique<RemovalCounter>(removals)));
    static_cast<void>(watch);
    watches_.store(true, std::memory_order_relaxed);
  } catch (...) {
    return;
  }
}

__attribute__((noinline)) RecentForms::Found RecentForms::FindAndKeep(
    const at::RecordFunction& function, FormCache* all) {
  const KnownForm* const known = all->Find(function);
  const Found found = {known, known != nullptr && known->form.minor};
  // The names of other functions need not last.
  if (known != nullptr && all->watches()) found_.Keep(function.name(), found);
  return found;
}

__attribute__((noinline, cold)) const KnownForm* FormCache::FindOrAdd(
    const at::RecordFunction& function, const char* name) {
  size_t slot = SlotOf(name);
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
    if (known->Is(name)) return &known->known;
  }
  return nullptr;
}

}  // namespace oplens::annotate::torch
