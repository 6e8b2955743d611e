#ifndef OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_IVALUE_H_
#define OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_IVALUE_H_

#include <c10/core/TensorImpl.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Optional.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace c10 {

template <typename T>
class complex {
 public:
  complex(T real, T imag) : real_(real), imag_(imag) {}
  T real() const { return real_; }
  T imag() const { return imag_; }

 private:
  T real_;
  T imag_;
};

/// An integer that a tracer put there; its value may be known.
class SymInt {
 public:
  explicit SymInt(optional<int64_t> value) : value_(std::move(value)) {}
  optional<int64_t> maybe_as_int() const { return value_; }

 private:
  optional<int64_t> value_;
};
struct SymFloat {};
struct SymBool {};

class IValue;

namespace ivalue {

class Tuple {
 public:
  explicit Tuple(std::vector<IValue> elements);
  Tuple(const Tuple&) = delete;
  Tuple& operator=(const Tuple&) = delete;
  ~Tuple();
  const std::vector<IValue>& elements() const { return elements_; }

 private:
  std::vector<IValue> elements_;
};

class Object {};

}  // namespace ivalue

/// A value of one of the interpreter's types.
class IValue {
 public:
  IValue() = default;
  IValue(int64_t value) : value_(value) {}
  IValue(int value) : value_(int64_t{value}) {}
  IValue(double value) : value_(value) {}
  IValue(bool value) : value_(value) {}
  IValue(const char* value) : value_(std::string(value)) {}
  IValue(TensorImpl* value) : value_(value) {}
  IValue(SymInt value) : value_(std::move(value)) {}
  IValue(SymFloat value) : value_(value) {}
  IValue(SymBool value) : value_(value) {}
  static IValue List(std::vector<IValue> items) { return Of<Items>(std::move(items)); }
  static IValue Tuple(std::vector<IValue> items) {
    IValue result;
    result.value_ = std::make_shared<const ivalue::Tuple>(std::move(items));
    return result;
  }
  static IValue Object() { return Of<ivalue::Object>({}); }

  bool isNone() const { return Is<std::monostate>(); }
  bool isInt() const { return Is<int64_t>(); }
  bool isDouble() const { return Is<double>(); }
  bool isBool() const { return Is<bool>(); }
  bool isScalar() const {
    return isInt() || isDouble() || isBool() || isComplexDouble() || isSymInt() || isSymFloat();
  }
  bool isString() const { return Is<std::string>(); }
  bool isTensor() const { return Is<TensorImpl*>(); }
  bool isComplexDouble() const { return Is<complex<double>>(); }
  bool isSymInt() const { return Is<SymInt>(); }
  bool isSymFloat() const { return Is<SymFloat>(); }
#if OPLENS_STAND_IN_MINOR >= 1
  bool isSymBool() const { return Is<SymBool>(); }
#endif
  bool isList() const { return Is<std::shared_ptr<const Items>>(); }
  // By the type of the list, which an empty one has too.
  bool isIntList() const {
    return IsListOf([](const IValue& item) { return item.isInt(); });
  }
  bool isDoubleList() const {
    return IsListOf([](const IValue& item) { return item.isDouble(); });
  }
  bool isTensorList() const {
    return IsListOf([](const IValue& item) { return item.isTensor(); });
  }
  bool isTuple() const { return Is<std::shared_ptr<const ivalue::Tuple>>(); }
  bool isObject() const { return Is<std::shared_ptr<const ivalue::Object>>(); }

  int64_t toInt() const { return std::get<int64_t>(value_); }
  double toDouble() const { return std::get<double>(value_); }
  bool toBool() const { return std::get<bool>(value_); }
  const std::string& toStringRef() const { return std::get<std::string>(value_); }
  complex<double> toComplexDouble() const { return std::get<complex<double>>(value_); }
  SymInt toSymInt() const { return std::get<SymInt>(value_); }
  TensorImpl* unsafeToTensorImpl() const { return std::get<TensorImpl*>(value_); }
  ArrayRef<IValue> toListRef() const { return *std::get<std::shared_ptr<const Items>>(value_); }
  const ivalue::Tuple& toTupleRef() const {
    return *std::get<std::shared_ptr<const ivalue::Tuple>>(value_);
  }

 private:
  using Items = std::vector<IValue>;
  template <typename T>
  static IValue Of(T value) {
    IValue result;
    result.value_ = std::make_shared<const T>(std::move(value));
    return result;
  }
  template <typename IsOne>
  bool IsListOf(IsOne is_one) const {
    if (!isList()) return false;
    const ArrayRef<IValue> items = toListRef();
    return !items.empty() && std::all_of(items.begin(), items.end(), is_one);
  }
  template <typename T>
  bool Is() const {
    return std::holds_alternative<T>(value_);
  }

  std::variant<std::monostate, int64_t, double, bool, std::string, TensorImpl*, complex<double>,
               SymInt, SymFloat, SymBool, std::shared_ptr<const Items>,
               std::shared_ptr<const ivalue::Tuple>, std::shared_ptr<const ivalue::Object>>
      value_;
};

inline ivalue::Tuple::Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
inline ivalue::Tuple::~Tuple() = default;

}  // namespace c10

namespace at {
using c10::IValue;
}  // namespace at

#endif  // OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_IVALUE_H_
