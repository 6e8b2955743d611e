#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_FORM_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_FORM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nvtx_annotate/torch/pyprof_value.h"

// Mode `pyprof`: writes calls of PyTorch's operators as texts that PyProf's own `prof` prices. See
// docs/pyprof_differences.md for differences. Independent of PyTorch's headers.
//
//   1. A call reads as PyProf's patches would have written it if made by torch.nn's module, by
//      Python's operator, or otherwise by the function, without arguments at their defaults.
//   2. If PyProf's prof would abort at that, it is written so that prof computes the same price.
//   3. Otherwise it has the dispatcher's name ("aten::lerp"): prof shows it with its shapes,
//      without a price.

namespace oplens::annotate::torch {

struct PyprofParameter {
  std::string name;
  bool keyword_only = false;
  bool has_default = false;
  PyprofValue fallback = {};
};

/// How calls of one operator are written.
class PyprofForm {
 public:
  /// `name`: "aten::add"; `overload`: "Tensor" or "".
  PyprofForm(std::string_view name, std::string_view overload,
             std::vector<PyprofParameter> parameters);

  /// Whether a call may create a backward node: not comparisons, whose sequence number is the next
  /// op's.
  bool numbered() const { return numbered_; }
  /// Launches nothing and is called by what PyProf patches, not by users: gets no range.
  bool hidden() const { return hidden_; }
  size_t inputs() const { return parameters_.size(); }

  /// O. `backward`: kernels of the call may be taken for backward ones, or priced with it.
  std::string Text(const std::vector<PyprofValue>& inputs, bool backward) const;

 private:
  struct Step {
    std::string name;           ///< Keyword; "": positional.
    int input = -1;             ///< Index in the schema; -1: `constant`.
    PyprofValue constant = {};  ///< An argument that the module passes but the operator lacks.
    bool unless_default = false;
    bool reduction = false;  ///< 0, 1, 2 mean "none", "mean", "sum".
    bool one = false;        ///< A list of equal numbers becomes a number; an empty one None.
    bool spread = false;     ///< List items become separate arguments.
    bool as_list = false;    ///< A list instead of a tuple.
    bool not_minus = false;  ///< -1 becomes None.
  };
  using Args = std::vector<PyprofArg>;

  void StepsOfRecipe(std::string_view recipe);
  void StepsOfSchema();
  Args ArgsOf(const std::vector<PyprofValue>& inputs) const;
  void Add(const Step& step, const PyprofValue& value, Args* args) const;
  std::string NameOf(const std::vector<PyprofValue>& inputs, const Args& args) const;
  /// Turns a product of expanded batches into the product that is computed: prof aborts at the sums
  /// that are the gradients of expansions.
  static void FoldBatches(std::string* op, Args* args);

  std::string aten_;
  std::string mod_;
  std::string op_;
  std::string function_;  ///< Of torch, for calls that Python's operator cannot express.
  bool numbered_ = true;
  bool hidden_ = false;
  std::vector<PyprofParameter> parameters_;
  std::vector<Step> steps_;
};

/// S of an op or node; PyProf recognises backward kernels by the node's name.
std::string PyprofSequence(const char* name, int64_t seq, bool node);

/// A range of the user or PyTorch, written so that PyProf does not take it for its own.
std::string PyprofLabel(std::string_view text);

/// Whether a node runs a user's Python torch.autograd.Function, which PyProf's patches see.
bool IsPythonNode(std::string_view name);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_FORM_H_
