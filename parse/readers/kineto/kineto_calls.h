#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_CALLS_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_CALLS_H_

#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "parse/model/compiled_call.h"
#include "parse/model/op_call.h"
#include "parse/model/string_pool.h"

namespace oplens::parse {

/// What a Kineto trace says of the arguments of one operator call: three lists side by side, of
/// which older files lack one or two.
struct KinetoArguments {
  bool has_dims = false;
  bool has_types = false;
  bool has_values = false;
  bool has_strides = false;
  simdjson::dom::array dims;     ///< "Input Dims": extents; of a list of tensors a list of them.
  simdjson::dom::array types;    ///< "Input type": "float", "c10::Half", "Scalar", "TensorList".
  simdjson::dom::array values;   ///< "Concrete Inputs": "1", "[0, 2]", "True", "".
  simdjson::dom::array strides;  ///< "Input Strides", of which compiled kernels make use.
  CompiledFacts compiled;        ///< Of a kernel that a compiler made.

  bool any() const { return has_dims && dims.size() > 0; }
  bool IsCompiled(std::string_view name) const {
    return compiled.any() || IsCompiledKernelName(name);
  }
  /// Files of the first versions tell extents and nothing else: the list of types is empty.
  bool untyped() const { return !(has_types && types.size() > 0) && !has_values; }
};

/// The arguments as positional ones, in order; a list of tensors becomes so many tensors. What the
/// file does not tell is kOther.
std::vector<OpArg> ReadKinetoArguments(const KinetoArguments& arguments);

/// Takes one argument of an event that TorchInductor gives to a call of its kernels: "grid", or one
/// that begins with "kernel_". Others, and odd values, are left out.
void TakeCompiledFact(std::string_view key, simdjson::dom::element value, CompiledFacts* facts);

/// The call of `name` with these arguments.
OpCall MakeKinetoCall(std::string_view name, const KinetoArguments& arguments);

/// The canonical texts of calls, each made once: in a profile the same calls come by the thousand.
class KinetoCalls {
 public:
  /// The text of a call of `name` with `arguments`, in `strings`.
  StringId Intern(std::string_view name, const KinetoArguments& arguments, StringPool* strings);

 private:
  TextMap<StringId> known_;
  std::string key_;  // Name and arguments of the call in hand, as bytes.
  std::string text_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_CALLS_H_
