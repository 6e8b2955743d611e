#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_FORM_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_FORM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nvtx_annotate/torch/pyprof_value.h"

// The mode `pyprof`: calls of PyTorch's operators as texts that PyProf's own `prof` prices.
// docs/pyprof_differences.md has what differs. No header of PyTorch in here.
//
//   1. A call reads as PyProf's patches would have written it, had it been made by torch.nn's
//      module of that function, by the operator of Python, or else by the function with all
//      arguments at their defaults left out.
//   2. Unless PyProf's prof would abort at that: then it reads so that prof prices it alike.
//   3. Where there is no such way it has the dispatcher's name ("aten::lerp"): prof shows that with
//      its shapes and has no price for it.

namespace oplens::annotate::torch {

/// An argument of an operator's schema.
struct PyprofParameter {
  std::string name;
  bool keyword_only = false;
  bool has_default = false;
  PyprofValue fallback = {};  ///< The default.
};

/// How the calls of one operator are written.
class PyprofForm {
 public:
  /// `name`: "aten::add"; `overload`: "Tensor" or "".
  PyprofForm(std::string_view name, std::string_view overload,
             std::vector<PyprofParameter> parameters);

  /// Whether a node of the backward pass may be made of a call: not of comparisons, whose sequence
  /// number is that of the next op.
  bool numbered() const { return numbered_; }
  /// Launches nothing, and is called by what PyProf patches, not by users: has no range.
  bool hidden() const { return hidden_; }
  size_t inputs() const { return parameters_.size(); }

  /// O. `backward`: a kernel of the call may be taken for one of the backward pass, or a kernel of
  /// the backward pass be priced by it.
  std::string Text(const std::vector<PyprofValue>& inputs, bool backward) const;

 private:
  /// One argument of the Python function.
  struct Step {
    std::string name;           ///< Keyword; "": positional.
    int input = -1;             ///< Place in the schema; -1: `constant`.
    PyprofValue constant = {};  ///< What the module passes and the operator does not have.
    bool unless_default = false;
    bool reduction = false;  ///< 0, 1, 2 are "none", "mean", "sum".
    bool one = false;        ///< A list of equal numbers is a number; an empty one None.
    bool spread = false;     ///< A list is arguments of its own.
    bool as_list = false;    ///< A list, not a tuple.
    bool not_minus = false;  ///< -1 is None.
  };
  using Args = std::vector<PyprofArg>;

  void StepsOfRecipe(std::string_view recipe);
  void StepsOfSchema();
  Args ArgsOf(const std::vector<PyprofValue>& inputs) const;
  void Add(const Step& step, const PyprofValue& value, Args* args) const;
  std::string NameOf(const std::vector<PyprofValue>& inputs, const Args& args) const;
  /// A product of batches that are expanded is the product that is computed: prof aborts at the
  /// sums that the gradients of expansions are.
  static void FoldBatches(std::string* op, Args* args);

  std::string aten_;
  std::string mod_;
  std::string op_;
  std::string function_;  ///< Of torch, where the operator of Python cannot take the arguments.
  bool numbered_ = true;
  bool hidden_ = false;
  std::vector<PyprofParameter> parameters_;
  std::vector<Step> steps_;
};

/// S of an op or of a node; PyProf takes a kernel for one of the backward pass by the node's name.
std::string PyprofSequence(const char* name, int64_t seq, bool node);

/// A range of the user or of PyTorch, so that PyProf does not take it for one of its own.
std::string PyprofLabel(std::string_view text);

/// Whether a node runs the Python function of a user's torch.autograd.Function, which PyProf's
/// patches see.
bool IsPythonNode(std::string_view name);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_FORM_H_
