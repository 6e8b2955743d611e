#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_2_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_2_H_

// PyTorch 2: framework.h. Additions in its releases are detected by name.

namespace oplens::annotate::torch::framework {

/// A c10 optional until 2.4, std::optional since.
inline auto SchemaOf(const at::RecordFunction& function) { return function.operator_schema(); }

/// Since 2.2, for what Python records by name.
template <typename Function>
bool HasKeywords(const Function& function) {
  if constexpr (requires { function.kwinputs(); }) {
    return !function.kwinputs().empty();
  } else {
    return false;
  }
}

/// Booleans since 2.1.
template <typename Value>
bool IsSymbolic(const Value& value) {
  if constexpr (requires { value.isSymBool(); }) {
    if (value.isSymBool()) return true;
  }
  return value.isSymInt() || value.isSymFloat();
}

/// A symbolic integer may be a constant inserted by the tracer.
inline std::optional<int64_t> SymbolicInt(const c10::IValue& value) {
  if (!value.isSymInt()) return std::nullopt;
  const auto known = value.toSymInt().maybe_as_int();
  return known.has_value() ? std::optional<int64_t>(*known) : std::nullopt;
}

}  // namespace oplens::annotate::torch::framework

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_2_H_
