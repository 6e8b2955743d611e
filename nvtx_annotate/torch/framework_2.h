#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_2_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_2_H_

// PyTorch 2: framework.h. Additions in its releases are detected by name.

namespace oplens::annotate::torch::framework {

/// A c10 optional until 2.4, std::optional since.
inline auto SchemaOf(const at::RecordFunction& function) { return function.operator_schema(); }

/// The keyword of a call that Python records by name, since 2.2; null where it has none of that
/// name.
template <typename Function>
const c10::IValue* FindKeyword(const Function& function, const char* name) {
  if constexpr (requires { function.kwinputs(); }) {
    const auto& keywords = function.kwinputs();
    const auto found = keywords.find(name);
    if (found != keywords.end()) return &found->second;
  }
  return nullptr;
}

/// Labels of the compiler have a keyword too, which says that they are labels.
template <typename Function>
bool HasKeywords(const Function& function) {
  if constexpr (requires { function.kwinputs(); }) {
    return !function.kwinputs().empty() && FindKeyword(function, "scope") == nullptr;
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
