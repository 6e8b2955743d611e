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

/// Arguments of an operator call in a Kineto trace: parallel lists; older files have fewer.
struct KinetoArguments {
  bool has_dims = false;
  bool has_types = false;
  bool has_values = false;
  bool has_strides = false;
  simdjson::dom::array dims;     ///< "Input Dims": extents; for a list of tensors, a list of them.
  simdjson::dom::array types;    ///< "Input type": "float", "c10::Half", "Scalar", "TensorList".
  simdjson::dom::array values;   ///< "Concrete Inputs": "1", "[0, 2]", "True", "".
  simdjson::dom::array strides;  ///< "Input Strides", used by compiled kernels.
  CompiledFacts compiled;        ///< For compiled kernels.

  bool any() const { return has_dims && dims.size() > 0; }
  bool IsCompiled(std::string_view name) const {
    return compiled.any() || IsCompiledKernelName(name);
  }
  /// Files of the first versions have only extents: the list of types is empty.
  bool untyped() const { return !(has_types && types.size() > 0) && !has_values; }
};

/// Returns the arguments as positional ones, in order; a list of tensors becomes one tensor per
/// member, an unrecorded argument kOther. Where the values outnumber the extents, as trimmed and
/// hand-made traces have them, the further arguments are values, unless a value stands beside a
/// tensor, so that the lists are not parallel.
std::vector<OpArg> ReadKinetoArguments(const KinetoArguments& arguments);

/// Takes an argument that TorchInductor adds to calls of its kernels: "grid", or one that begins
/// with "kernel_". Ignores others, and unexpected values.
void TakeCompiledFact(std::string_view key, simdjson::dom::element value, CompiledFacts* facts);

OpCall MakeKinetoCall(std::string_view name, const KinetoArguments& arguments);

/// Makes the canonical text of each distinct call once: profiles repeat calls thousands of times.
class KinetoCalls {
 public:
  /// Returns the text of a call of `name` with `arguments`, in `strings`.
  StringId Intern(std::string_view name, const KinetoArguments& arguments, StringPool* strings);

 private:
  TextMap<StringId> known_;
  std::string key_;  // Name and arguments of the current call, as bytes.
  std::string text_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_CALLS_H_
