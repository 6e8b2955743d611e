#ifndef OPLENS_NVTX_ANNOTATE_TORCH_CALL_FORM_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_CALL_FORM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nvtx_annotate/marker_text.h"

// How calls of PyTorch's dispatcher operators are written: as calls of the Python function that
// users know, so that they read the same whoever recorded them. Independent of PyTorch's headers.

namespace oplens::annotate::torch {

/// How one argument of the operator's schema is written.
struct Parameter {
  enum class Use : uint8_t {
    kPositional,
    kKeyword,       ///< Omitted if None.
    kDType,         ///< A keyword whose number is a data type.
    kDTypeOrInput,  ///< The same; if None, the type of the first tensor.
    kFloat32Flag,   ///< True means dtype=float32.
    kFlag,          ///< A keyword of the schema, kept if it is a number, bool or text.
  };
  Use use = Use::kPositional;
  size_t input = 0;  ///< Index in the schema.
  std::string name;
};

/// The properties of a schema argument that the form depends on.
struct SchemaArgument {
  std::string name;
  bool keyword_only = false;
  bool output = false;  ///< Receives the result.
  bool dtype = false;   ///< Its number is a data type.
};

/// How calls of one operator are written.
struct CallForm {
  std::string mod;
  std::string op;
  std::string aten;  ///< "aten::addmm.out"; "": not an operator.
  size_t inputs = 0;
  std::vector<Parameter> parameters;  ///< In the order of the call, keywords last.
  /// Omit trailing positional None.
  bool drops_none = false;
  bool minor = false;  ///< Not worth a range inside another call: allocations and views.

  markers::OpNames names() const {
    return {mod.c_str(), op.c_str(), aten.empty() ? nullptr : aten.c_str()};
  }
};

/// `name`: "aten::addmm"; `overload`: "out" or "".
CallForm FormOfOperator(std::string_view name, std::string_view overload,
                        const std::vector<SchemaArgument>& arguments);

/// The form of a function that is not a dispatcher operator, such as a user's
/// torch.autograd.Function: all inputs unchanged.
CallForm FormOfFunction(std::string_view name, size_t inputs);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_CALL_FORM_H_
