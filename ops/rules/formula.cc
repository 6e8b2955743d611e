#include "ops/rules/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/text_scanner.h"

namespace oplens::ops {
namespace {

__extension__ using Wide = __int128;

}  // namespace

// ---- reading ----

/// Recursive descent in one pass; emits the steps in postfix order.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, const Formula::Names& names, Formula* formula,
                Formula::Error* error)
      : scan_(text), names_(names), steps_(formula->steps_), error_(error) {}

  bool ParseAll() {
    if (scan_.text().size() > Formula::kMaxLength) {
      return Fail(fmt::format("the formula is longer than {} characters", Formula::kMaxLength));
    }
    if (!ParseSum()) return false;
    scan_.SkipBlanks();
    if (scan_.AtEnd()) return true;
    return Fail("an operator or the end is expected");
  }

 private:
  using Code = Formula::Code;

  struct Function {
    std::string_view name;
    Code code;
    size_t least;
    size_t most;
  };
  static constexpr size_t kAny = SIZE_MAX;
  static constexpr Function kFunctions[] = {
      {"ceil_div", Code::kCeilDiv, 2, 2},  {"floor_div", Code::kFloorDiv, 2, 2},
      {"min", Code::kMin, 2, kAny},        {"max", Code::kMax, 2, kAny},
      {"log2ceil", Code::kLog2Ceil, 1, 1},
  };
  struct TensorFunction {
    std::string_view name;
    Code code;
  };
  static constexpr TensorFunction kTensorFunctions[] = {
      {"size", Code::kSize},
      {"bits", Code::kBits},
      {"elements", Code::kElements},
      {"bytes", Code::kBytes},
  };

  bool Fail(std::string what) {
    *error_ = {std::move(what), scan_.place() + 1};
    return false;
  }

  /// The next non-blank character; 0 at the end.
  char Peek() {
    scan_.SkipBlanks();
    return scan_.Peek();
  }

  bool Take(char c) {
    scan_.SkipBlanks();
    return scan_.Take(c);
  }

  bool Expect(char c) { return Take(c) || Fail(fmt::format("'{}' is expected", c)); }

  void Add(Code code, int64_t operand = 0) { steps_.push_back({code, operand}); }

  bool ParseSum() {
    if (!ParseProduct()) return false;
    while (true) {
      const char sign = Peek();
      if (sign != '+' && sign != '-') return true;
      scan_.Next();
      if (!ParseProduct()) return false;
      Add(sign == '+' ? Code::kAdd : Code::kSubtract);
    }
  }

  bool ParseProduct() {
    if (!ParseFactor()) return false;
    while (true) {
      const char sign = Peek();
      if (sign != '*' && sign != '/') return true;
      scan_.Next();
      if (!ParseFactor()) return false;
      Add(sign == '*' ? Code::kMultiply : Code::kDivide);
    }
  }

  bool ParseFactor() {
    if (depth_ == Formula::kMaxDepth) {
      return Fail(fmt::format("the formula is nested deeper than {}", Formula::kMaxDepth));
    }
    ++depth_;
    const bool parsed = ParseInner();
    --depth_;
    return parsed;
  }

  bool ParseInner() {
    const char c = Peek();
    if (Take('-')) {
      if (!ParseFactor()) return false;
      Add(Code::kNegate);
      return true;
    }
    if (Take('(')) return ParseSum() && Expect(')');
    if (IsDigit(c)) return ParseNumber();
    if (IsNameStart(c)) return ParseName();
    return Fail("a number, a name or '(' is expected");
  }

  bool ParseNumber() {
    int64_t number = 0;
    const std::string_view rest = scan_.rest();
    const char* const end = rest.data() + rest.size();
    const auto [stop, problem] = std::from_chars(rest.data(), end, number);
    if (problem != std::errc()) return Fail("the number does not fit into 64 bits");
    if (stop != end && (*stop == '.' || IsNameStart(*stop))) {
      return Fail("a whole number is expected");
    }
    scan_.MoveTo(scan_.place() + static_cast<size_t>(stop - rest.data()));
    Add(Code::kNumber, number);
    return true;
  }

  std::string_view TakeName() {
    scan_.SkipBlanks();
    return scan_.TakeWhile(IsNameCharacter);
  }

  bool ParseName() {
    scan_.SkipBlanks();
    const size_t begin = scan_.place();
    const std::string_view name = TakeName();
    if (Peek() == '(') return ParseCall(name, begin);
    const auto found = std::find(names_.values.begin(), names_.values.end(), name);
    if (found != names_.values.end()) {
      Add(Code::kValue, found - names_.values.begin());
      return true;
    }
    scan_.MoveTo(begin);
    const bool tensor =
        std::find(names_.tensors.begin(), names_.tensors.end(), name) != names_.tensors.end();
    return Fail(tensor ? fmt::format("'{0}' is a tensor: write elements({0}) or bytes({0})", name)
                       : fmt::format("nothing is named '{}'; known are: {}", name, Known()));
  }

  std::string Known() const {
    std::string text;
    for (const auto& names : {names_.values, names_.tensors}) {
      for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "no names" : text;
  }

  bool ParseCall(std::string_view name, size_t begin) {
    for (const TensorFunction& function : kTensorFunctions) {
      if (function.name == name) return ParseTensorCall(function);
    }
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const Function& f) { return f.name == name; });
    if (function == std::end(kFunctions)) {
      scan_.MoveTo(begin);
      return Fail(fmt::format(
          "there is no function '{}'; there are: ceil_div, floor_div, min, max, log2ceil, size, "
          "bits, elements, bytes",
          name));
    }
    Take('(');
    size_t count = 0;
    do {
      if (!ParseSum()) return false;
      // Steps are binary.
      if (++count > 1) Add(function->code);
      if (count > function->most) break;
    } while (Take(','));
    if (count < function->least || count > function->most) {
      scan_.MoveTo(begin);
      return Fail(fmt::format("{} takes {} argument{}{}", name, function->least,
                              function->least == 1 ? "" : "s",
                              function->most == kAny ? " or more" : ""));
    }
    if (function->most == 1) Add(function->code);
    return Expect(')');
  }

  bool ParseTensorCall(const TensorFunction& function) {
    Take('(');
    scan_.SkipBlanks();
    const size_t begin = scan_.place();
    const std::string_view name = TakeName();
    const auto found = std::find(names_.tensors.begin(), names_.tensors.end(), name);
    if (found == names_.tensors.end()) {
      scan_.MoveTo(begin);
      return Fail(fmt::format("{}() takes the name of a tensor argument", function.name));
    }
    Add(function.code, found - names_.tensors.begin());
    return Expect(')');
  }

  TextScanner scan_;
  const Formula::Names& names_;
  std::vector<Formula::Step>& steps_;
  Formula::Error* error_;
  size_t depth_ = 0;
};

std::optional<Formula> Formula::Parse(std::string_view text, const Names& names, Error* error) {
  Formula formula;
  if (!FormulaParser(text, names, &formula, error).ParseAll()) return std::nullopt;
  return formula;
}

bool Formula::MayBeMoreThanZero() const {
  return steps_.size() != 1 || steps_.front().code != Code::kNumber || steps_.front().operand != 0;
}

// ---- computing ----

class Formula::Machine {
 public:
  Machine(std::span<const int64_t> values, std::span<const FormulaTensor> tensors)
      : values_(values), tensors_(tensors) {}

  void Run(const Step& step) {
    switch (step.code) {
      case Code::kNumber:
        return Push(step.operand);
      case Code::kValue:
        return Push(values_[static_cast<size_t>(step.operand)]);
      case Code::kSize:
      case Code::kBits:
      case Code::kElements:
      case Code::kBytes:
        return PushOfTensor(step.code, tensors_[static_cast<size_t>(step.operand)]);
      case Code::kNegate:
        Push(0);
        std::swap(stack_.back(), stack_[stack_.size() - 2]);
        return Combine(Code::kSubtract);
      case Code::kLog2Ceil:
        return Logarithm();
      default:
        return Combine(step.code);
    }
  }

  FormulaFault fault() const { return fault_; }
  Wide result() const { return stack_.empty() ? 0 : stack_.back(); }

 private:
  void Push(Wide value) { stack_.push_back(value); }

  void Fail(FormulaFault fault) {
    if (fault_ == FormulaFault::kNone) fault_ = fault;
  }

  void PushOfTensor(Code code, const FormulaTensor& tensor) {
    const bool counts = code == Code::kElements;
    if (tensor.absent || counts) return Push(tensor.absent ? 0 : tensor.elements);
    const Wide bits = BitsOf(tensor.dtype);
    if (bits == 0) Fail(FormulaFault::kUnknownDType);
    if (code == Code::kBits) return Push(bits);
    if (code == Code::kSize && bits % 8 != 0) Fail(FormulaFault::kInexact);
    if (code == Code::kSize) return Push(bits / 8);
    Push((bits * tensor.elements + 7) / 8);
  }

  static bool IsDivision(Code code) {
    return code == Code::kDivide || code == Code::kCeilDiv || code == Code::kFloorDiv;
  }

  void Combine(Code code) {
    const Wide b = stack_.back();
    stack_.pop_back();
    Wide& a = stack_.back();
    if (IsDivision(code)) return Divide(code, b, &a);
    bool overflow = false;
    if (code == Code::kAdd) overflow = __builtin_add_overflow(a, b, &a);
    if (code == Code::kSubtract) overflow = __builtin_sub_overflow(a, b, &a);
    if (code == Code::kMultiply) overflow = __builtin_mul_overflow(a, b, &a);
    if (code == Code::kMin) a = std::min(a, b);
    if (code == Code::kMax) a = std::max(a, b);
    if (overflow) Fail(FormulaFault::kOverflow);
  }

  void Divide(Code code, Wide b, Wide* a) {
    if (b == 0) return Fail(FormulaFault::kZeroDivisor);
    if (code != Code::kDivide && (*a < 0 || b < 0)) return Fail(FormulaFault::kNegative);
    // The only quotient that can overflow.
    if (b == -1) {
      if (__builtin_sub_overflow(Wide{0}, *a, a)) Fail(FormulaFault::kOverflow);
      return;
    }
    const bool remainder = *a % b != 0;
    if (code == Code::kDivide && remainder) Fail(FormulaFault::kInexact);
    *a = *a / b + (code == Code::kCeilDiv && remainder ? 1 : 0);
  }

  void Logarithm() {
    Wide& a = stack_.back();
    if (a < 1) return Fail(FormulaFault::kNegative);
    Wide power = 1;
    Wide exponent = 0;
    // Stops before the power of two overflows.
    for (; power < a && exponent < 126; ++exponent) power *= 2;
    a = exponent + (power < a ? 1 : 0);
  }

  std::span<const int64_t> values_;
  std::span<const FormulaTensor> tensors_;
  std::vector<Wide> stack_;
  FormulaFault fault_ = FormulaFault::kNone;
};

std::optional<int64_t> Formula::Compute(std::span<const int64_t> values,
                                        std::span<const FormulaTensor> tensors,
                                        FormulaFault* fault) const {
  Machine machine(values, tensors);
  for (const Step& step : steps_) {
    machine.Run(step);
    if (machine.fault() != FormulaFault::kNone) break;
  }
  const Wide result = machine.result();
  *fault = machine.fault();
  if (*fault == FormulaFault::kNone && result < 0) *fault = FormulaFault::kNegative;
  if (*fault == FormulaFault::kNone && result > INT64_MAX) *fault = FormulaFault::kOverflow;
  if (*fault != FormulaFault::kNone) return std::nullopt;
  return static_cast<int64_t>(result);
}

std::string_view FormulaFaultText(FormulaFault fault) {
  switch (fault) {
    case FormulaFault::kNone:
      return "it has a value";
    case FormulaFault::kOverflow:
      return "it does not fit into 64 bits";
    case FormulaFault::kZeroDivisor:
      return "it divides by zero";
    case FormulaFault::kInexact:
      return "a division leaves a remainder";
    case FormulaFault::kNegative:
      return "it is negative";
    case FormulaFault::kUnknownDType:
      return "it asks for the size of a type that was not recorded";
  }
  return "";
}

}  // namespace oplens::ops
