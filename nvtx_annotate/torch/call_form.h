#ifndef OPLENS_NVTX_ANNOTATE_TORCH_CALL_FORM_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_CALL_FORM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nvtx_annotate/marker_text.h"

// How the operators of PyTorch's dispatcher are written down: as calls of the Python function that
// users know, so that a call reads the same whoever recorded it. No header of PyTorch in here.

namespace oplens::annotate::torch {

/// What becomes of one argument of the operator's schema.
struct Parameter {
  enum class Use : uint8_t {
    kPositional,
    kKeyword,       ///< Left out where it is None.
    kDType,         ///< A keyword whose number means a data type.
    kDTypeOrInput,  ///< The same; where it is None, that of the first tensor.
    kFloat32Flag,   ///< True stands for dtype=float32.
    kFlag,          ///< A keyword of the schema, kept where it is a number, a truth or a text.
  };
  Use use = Use::kPositional;
  size_t input = 0;  ///< Its place in the schema.
  std::string name;  ///< Keyword.
};

/// An argument of a schema, as far as the form depends on it.
struct SchemaArgument {
  std::string name;
  bool keyword_only = false;
  bool output = false;  ///< The result is written to it.
  bool dtype = false;   ///< Its number means a data type.
};

/// How the calls of one operator are written down.
struct CallForm {
  std::string mod;
  std::string op;
  std::string aten;  ///< "aten::addmm.out"; "" for what is no operator.
  size_t inputs = 0;
  std::vector<Parameter> parameters;  ///< In the order of the call: those with keywords last.
  /// None at the end of the positional ones is left out.
  bool drops_none = false;
  bool minor = false;  ///< Not worth a range inside another op: allocations and views.

  markers::OpNames names() const {
    return {mod.c_str(), op.c_str(), aten.empty() ? nullptr : aten.c_str()};
  }
};

/// `name`: "aten::addmm"; `overload`: "out" or "".
CallForm FormOfOperator(std::string_view name, std::string_view overload,
                        const std::vector<SchemaArgument>& arguments);

/// The form of a function that is no operator of the dispatcher, e.g. a class of the user that
/// derives from torch.autograd.Function: all inputs as they are.
CallForm FormOfFunction(std::string_view name, size_t inputs);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_CALL_FORM_H_
