#ifndef OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_1_13_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_1_13_H_

// PyTorch 1.13: framework.h.

namespace oplens::annotate::torch::framework {

inline auto SchemaOf(const at::RecordFunction& function) { return function.operator_schema(); }

inline const c10::IValue* FindKeyword(const at::RecordFunction& /*function*/,
                                      const char* /*name*/) {
  return nullptr;
}

inline bool HasKeywords(const at::RecordFunction& /*function*/) { return false; }

inline bool IsSymbolic(const c10::IValue& value) { return value.isSymInt() || value.isSymFloat(); }

inline std::optional<int64_t> SymbolicInt(const c10::IValue& /*value*/) { return std::nullopt; }

}  // namespace oplens::annotate::torch::framework

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_FRAMEWORK_1_13_H_
