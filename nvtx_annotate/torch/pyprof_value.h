#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_VALUE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Arguments in the form of PyProf's patches, for mode `pyprof`. Independent of PyTorch's headers.

namespace oplens::annotate::torch {

struct PyprofTensor {
  std::vector<int64_t> shape;
  std::string dtype;  ///< "float32"
};

/// An argument of a dispatcher operator.
struct PyprofValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kDType,   ///< Its name is in `text`.
    kTensor,  ///< In tensors[0].
    kTensors,
    kInts,
    kFloats,
    kBools,  ///< In `ints`.
    kOther,  ///< What PyProf does not write: complex numbers, devices, objects.
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<int64_t> ints;
  std::vector<double> numbers;
  std::vector<PyprofTensor> tensors;

  bool is_list = false;  ///< kInts, kFloats, kBools: a Python list instead of a tuple.

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

struct PyprofArg {
  std::string name;  ///< Keyword; "": positional.
  PyprofValue value;
};

/// O: {'mod': .., 'op': .., 'args': [..]}, byte for byte as Python prints the dict.
std::string PyprofText(std::string_view mod, std::string_view op,
                       const std::vector<PyprofArg>& args);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_VALUE_H_
