#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_VALUE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Arguments as PyProf's patches write them, in the mode `pyprof`. No header of PyTorch in here.

namespace oplens::annotate::torch {

struct PyprofTensor {
  std::vector<int64_t> shape;
  std::string dtype;  ///< "float32"
};

/// An argument of an operator as the dispatcher has it.
struct PyprofValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kDType,   ///< `text` is its name.
    kTensor,  ///< `tensors` has one.
    kTensors,
    kInts,
    kFloats,
    kBools,  ///< `ints` has them.
    kOther,  ///< Nothing that PyProf writes: complex numbers, devices, objects.
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<int64_t> ints;
  std::vector<double> numbers;
  std::vector<PyprofTensor> tensors;

  bool is_list = false;  ///< kInts, kFloats, kBools: a list in Python, not a tuple.

  static PyprofValue Bool(bool value);
  static PyprofValue Int(int64_t value);
  static PyprofValue Float(double value);
  static PyprofValue Text(std::string value);
  static PyprofValue DType(std::string name);
  static PyprofValue Ints(std::vector<int64_t> values);
  static PyprofValue Tensor(std::vector<int64_t> shape, std::string dtype = "float32");
  static PyprofValue Tensors(std::vector<PyprofTensor> tensors);
  friend bool operator==(const PyprofValue& a, const PyprofValue& b);
};

/// An argument of a call in Python.
struct PyprofArg {
  std::string name;  ///< Keyword; "": positional.
  PyprofValue value;
};

/// O: {'mod': .., 'op': .., 'args': [..]}, byte for byte as Python prints such a dictionary.
std::string PyprofText(std::string_view mod, std::string_view op,
                       const std::vector<PyprofArg>& args);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_VALUE_H_
