#ifndef OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_FUNCTION_SCHEMA_H_
#define OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_FUNCTION_SCHEMA_H_

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Optional.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

enum class TypeKind { TensorType, OptionalType, ScalarTypeType };

class Type;
using TypePtr = std::shared_ptr<Type>;

class Type {
 public:
  explicit Type(TypeKind kind) : kind_(kind) {}
  TypeKind kind() const { return kind_; }
  /// Of an optional: what it may hold.
  ArrayRef<TypePtr> containedTypes() const { return {}; }

 private:
  TypeKind kind_;
};

class Argument {
 public:
  explicit Argument(std::string name, bool kwarg_only = false, bool is_out = false)
      : name_(std::move(name)), kwarg_only_(kwarg_only), is_out_(is_out) {}
  const std::string& name() const { return name_; }
  bool kwarg_only() const { return kwarg_only_; }
  bool is_out() const { return is_out_; }
  const optional<IValue>& default_value() const { return default_; }
  /// Before it was made a number, as those of data types are.
  const TypePtr& real_type() const { return type_; }

 private:
  optional<IValue> default_ = nullopt;
  TypePtr type_ = std::make_shared<Type>(TypeKind::TensorType);
  std::string name_;
  bool kwarg_only_;
  bool is_out_;
};

struct OperatorName {
  std::string name;
  std::string overload_name;
};

class FunctionSchema {
 public:
  FunctionSchema(OperatorName name, std::vector<Argument> arguments)
      : name_(std::move(name)), arguments_(std::move(arguments)) {}
  const OperatorName& operator_name() const { return name_; }
  const std::string& name() const { return name_.name; }
  const std::string& overload_name() const { return name_.overload_name; }
  const std::vector<Argument>& arguments() const { return arguments_; }

 private:
  OperatorName name_;
  std::vector<Argument> arguments_;
};

}  // namespace c10

#endif  // OPLENS_TEST_TORCH_HEADERS_2_ATEN_CORE_FUNCTION_SCHEMA_H_
