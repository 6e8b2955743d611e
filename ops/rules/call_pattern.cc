#include "ops/rules/call_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/text_scanner.h"
#include "ops/call_args.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

constexpr size_t kMaxArguments = 256;
constexpr size_t kMaxText = 4096;

std::optional<size_t> CallPatternIndexOf(const std::vector<std::string>& names,
                                         std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

}  // namespace

// ---- reading ----

class CallPatternParser {
 public:
  CallPatternParser(CallPattern* pattern, CallPattern::Error* error)
      : pattern_(*pattern), error_(*error) {}

  bool ParseAll(std::span<const std::string> texts) {
    if (texts.size() > kMaxArguments) {
      return Fail(fmt::format("there are more than {} arguments", kMaxArguments));
    }
    for (const std::string& text : texts) {
      error_.argument = static_cast<size_t>(&text - texts.data());
      scan_ = TextScanner(text);
      if (pattern_.open_ended_) return Fail("'...' stands at the end");
      if (!ParseOne()) return false;
    }
    return CheckNames();
  }

 private:
  using Argument = CallPattern::Argument;
  using Extent = CallPattern::Extent;

  bool Fail(std::string what) { return FailAt(scan_.place(), std::move(what)); }
  bool FailAt(size_t at, std::string what) {
    error_.column = at + 1;
    error_.what = std::move(what);
    return false;
  }

  char Peek() {
    scan_.TakeWhile([](char c) { return c == ' '; });
    return scan_.Peek();
  }
  bool Take(char c) {
    Peek();
    return scan_.Take(c);
  }
  std::string_view TakeName() {
    return IsNameStart(Peek()) ? scan_.TakeWhile(IsNameCharacter) : std::string_view();
  }
  bool TakeNumber(int64_t* number) {
    Peek();
    const std::string_view rest = scan_.rest();
    const char* const end = rest.data() + rest.size();
    const auto [stop, problem] = std::from_chars(rest.data(), end, *number);
    if (problem == std::errc::result_out_of_range) {
      return Fail("the number does not fit into 64 bits");
    }
    if (problem != std::errc()) return Fail("a whole number is expected");
    scan_.MoveTo(scan_.place() + static_cast<size_t>(stop - rest.data()));
    return true;
  }
  bool AtEnd() {
    Peek();
    return scan_.AtEnd();
  }

  bool ParseOne() {
    if (scan_.text().size() > kMaxText) return Fail("the text is too long");
    constexpr std::string_view kRest = "...";
    if (Peek() == '.' && scan_.rest() == kRest) return pattern_.open_ended_ = true;
    Argument argument;
    const size_t begin = (Peek(), scan_.place());
    argument.name = TakeName();
    if (argument.name.empty()) {
      return Fail(
          "write name[A,B] for a tensor, name for a number, _ for anything, ... for the rest");
    }
    if (Take('[')) {
      if (!ParseTensor(begin, &argument)) return false;
    } else if (argument.name != "_") {
      if (!ParseNumber(begin, &argument)) return false;
    }
    if (!AtEnd()) return Fail("the end of the argument is expected");
    pattern_.arguments_.push_back(std::move(argument));
    return true;
  }

  /// Fails if the name is already taken.
  bool IsFree(size_t begin, const std::string& name) {
    if (CallPatternIndexOf(pattern_.tensor_names_, name) ||
        CallPatternIndexOf(pattern_.value_names_, name)) {
      return FailAt(begin, fmt::format("the name '{}' stands for something else already", name));
    }
    return true;
  }

  bool ParseTensor(size_t begin, Argument* argument) {
    argument->kind = Argument::Kind::kTensor;
    if (argument->name == "_") return FailAt(begin, "a tensor needs a name");
    if (!IsFree(begin, argument->name)) return false;
    argument->index = pattern_.tensor_names_.size();
    pattern_.tensor_names_.push_back(argument->name);
    if (!Take(']')) {
      do {
        if (!ParseExtent(argument)) return false;
      } while (Take(','));
      if (!Take(']')) return Fail("',' or ']' is expected");
    }
    argument->optional = Take('?');
    return true;
  }

  bool ParseExtent(Argument* argument) {
    Extent extent;
    if (IsDigit(Peek())) {
      extent.kind = Extent::Kind::kNumber;
      if (!TakeNumber(&extent.number)) return false;
      argument->extents.push_back(extent);
      return true;
    }
    const size_t begin = scan_.place();
    const bool rest = Take('*');
    const auto is_rest = [](const Extent& e) { return e.kind == Extent::Kind::kRest; };
    if (rest && std::any_of(argument->extents.begin(), argument->extents.end(), is_rest)) {
      return FailAt(begin, "a tensor has one * only");
    }
    const std::string name(TakeName());
    if (name.empty()) return Fail("an extent is a name, a number, _ or *name");
    if (rest || name != "_") extent.kind = rest ? Extent::Kind::kRest : Extent::Kind::kName;
    if (extent.kind != Extent::Kind::kAny) {
      if (CallPatternIndexOf(pattern_.tensor_names_, name)) {
        return FailAt(begin, fmt::format("the name '{}' stands for a tensor already", name));
      }
      extent.name = ValueIndex(name);
    }
    argument->extents.push_back(extent);
    return true;
  }

  size_t ValueIndex(const std::string& name) {
    if (const std::optional<size_t> known = CallPatternIndexOf(pattern_.value_names_, name))
      return *known;
    pattern_.value_names_.push_back(name);
    return pattern_.value_names_.size() - 1;
  }

  bool ParseNumber(size_t begin, Argument* argument) {
    argument->kind = Argument::Kind::kNumber;
    if (!IsFree(begin, argument->name)) return false;
    argument->index = ValueIndex(argument->name);
    if (!Take('=')) return true;
    argument->optional = true;
    return TakeNumber(&argument->absent_value);
  }

  /// Requires that every name gets a value whenever the pattern matches.
  bool CheckNames() {
    std::vector<bool> bound(pattern_.value_names_.size(), false);
    for (const Argument& argument : pattern_.arguments_) {
      if (argument.kind == Argument::Kind::kNumber) bound[argument.index] = true;
      if (argument.optional) continue;
      for (const Extent& extent : argument.extents) {
        if (IsNamed(extent)) bound[extent.name] = true;
      }
    }
    for (const Argument& argument : pattern_.arguments_) {
      for (const Extent& extent : argument.extents) {
        if (!IsNamed(extent) || bound[extent.name]) continue;
        error_.argument = static_cast<size_t>(&argument - pattern_.arguments_.data());
        return FailAt(0, fmt::format("'{}' has no value when {} is absent: name it in an argument "
                                     "without '?'",
                                     pattern_.value_names_[extent.name], argument.name));
      }
    }
    return true;
  }

  static bool IsNamed(const Extent& extent) {
    return extent.kind == Extent::Kind::kName || extent.kind == Extent::Kind::kRest;
  }

  CallPattern& pattern_;
  CallPattern::Error& error_;
  TextScanner scan_;
};

std::optional<CallPattern> CallPattern::Parse(std::span<const std::string> arguments,
                                              Error* error) {
  CallPattern pattern;
  *error = Error();
  if (!CallPatternParser(&pattern, error).ParseAll(arguments)) return std::nullopt;
  return pattern;
}

// ---- matching ----

class CallMatcher {
 public:
  explicit CallMatcher(const CallPattern& pattern)
      : pattern_(pattern), known_(pattern.value_names_.size(), false) {
    binding_.values.resize(pattern.value_names_.size(), 0);
    binding_.tensors.resize(pattern.tensor_names_.size());
  }

  bool Match(const OpCall& call) {
    if (!Place(call)) return false;
    for (size_t i = 0; i < placed_.size(); ++i) {
      if (!Bind(pattern_.arguments_[i], placed_[i])) return false;
    }
    return true;
  }

  CallPattern::Misfit TakeMisfit() { return std::move(misfit_); }
  CallPattern::Binding TakeBinding() { return std::move(binding_); }

 private:
  using Argument = CallPattern::Argument;
  using Extent = CallPattern::Extent;

  bool Fail(Reason reason, std::string what) {
    misfit_ = {reason, std::move(what)};
    return false;
  }

  bool FailExtents(const Argument& argument, std::string_view what) {
    return Fail(Reason::kShapeMismatch, fmt::format("'{}' has {}", argument.name, what));
  }

  /// Assigns the call's arguments to the pattern's.
  bool Place(const OpCall& call) {
    placed_.assign(pattern_.arguments_.size(), nullptr);
    size_t position = 0;
    for (const OpArg& arg : call.args) {
      size_t at = position;
      if (arg.name.empty()) {
        ++position;
      } else {
        const auto named = std::find_if(pattern_.arguments_.begin(), pattern_.arguments_.end(),
                                        [&](const Argument& a) { return a.name == arg.name; });
        at = static_cast<size_t>(named - pattern_.arguments_.begin());
      }
      if (at < placed_.size()) placed_[at] = arg.kind == OpArg::Kind::kNone ? nullptr : &arg;
    }
    if (position <= placed_.size() || pattern_.open_ended_) return true;
    return Fail(
        Reason::kUnsupportedArgs,
        fmt::format("there are {} positional arguments, more than {}", position, placed_.size()));
  }

  bool Bind(const Argument& argument, const OpArg* arg) {
    if (argument.kind == Argument::Kind::kAnything) return true;
    if (argument.kind == Argument::Kind::kNumber) return BindNumber(argument, arg);
    if (arg == nullptr) {
      binding_.tensors[argument.index].absent = true;
      return argument.optional || FailMissing(argument);
    }
    return BindTensor(argument, *arg);
  }

  bool FailMissing(const Argument& argument) {
    return Fail(Reason::kUnsupportedArgs, fmt::format("'{}' is missing", argument.name));
  }

  bool BindNumber(const Argument& argument, const OpArg* arg) {
    if (arg == nullptr) {
      if (!argument.optional) return FailMissing(argument);
      return BindValue(argument, argument.index, argument.absent_value);
    }
    if (arg->kind != OpArg::Kind::kInt && arg->kind != OpArg::Kind::kBool) {
      return Fail(Reason::kUnsupportedArgs,
                  fmt::format("'{}' is neither an integer nor a truth value", argument.name));
    }
    return BindValue(argument, argument.index, arg->int_value);
  }

  /// Fails if the name already has another value.
  bool BindValue(const Argument& argument, size_t name, int64_t value) {
    if (known_[name] && binding_.values[name] != value) {
      return FailExtents(argument, fmt::format("{} = {}, not {}", pattern_.value_names_[name],
                                               value, binding_.values[name]));
    }
    known_[name] = true;
    binding_.values[name] = value;
    return true;
  }

  bool FailTooLarge(const Argument& argument) {
    return Fail(Reason::kCostOverflow, fmt::format("'{}' is too large", argument.name));
  }

  bool BindTensor(const Argument& argument, const OpArg& arg) {
    Reason reason;
    const std::optional<Tensor> tensor = TensorOf(arg, &reason);
    if (!tensor) {
      return Fail(reason, fmt::format("'{}' is no tensor that can be used", argument.name));
    }
    const std::optional<int64_t> elements = tensor->elements().Value();
    if (!elements) return FailTooLarge(argument);
    binding_.tensors[argument.index] = {*elements, tensor->dtype, false};
    if (!binding_.dtype) binding_.dtype = tensor->dtype;
    return BindExtents(argument, tensor->shape);
  }

  bool BindExtents(const Argument& argument, Shape shape) {
    const std::vector<Extent>& extents = argument.extents;
    const bool any_rest = std::any_of(extents.begin(), extents.end(), [](const Extent& extent) {
      return extent.kind == Extent::Kind::kRest;
    });
    const size_t fixed = extents.size() - (any_rest ? 1 : 0);
    if (shape.size() < fixed || (!any_rest && shape.size() != fixed)) {
      return FailExtents(
          argument, fmt::format("{} dimension{}, not {}{}", shape.size(),
                                shape.size() == 1 ? "" : "s", fixed, any_rest ? " or more" : ""));
    }
    size_t at = 0;
    for (const Extent& extent : extents) {
      const size_t count = extent.kind == Extent::Kind::kRest ? shape.size() - fixed : 1;
      const std::optional<int64_t> value = Elements(shape.subspan(at, count)).Value();
      at += count;
      if (!value) return FailTooLarge(argument);
      if (extent.kind == Extent::Kind::kAny) continue;
      if (extent.kind == Extent::Kind::kNumber) {
        if (*value != extent.number) {
          return FailExtents(argument, fmt::format("the extent {}, not {}", *value, extent.number));
        }
      } else if (!BindValue(argument, extent.name, *value)) {
        return false;
      }
    }
    return true;
  }

  const CallPattern& pattern_;
  std::vector<const OpArg*> placed_;  // By argument of the pattern; null: absent.
  std::vector<bool> known_;
  CallPattern::Binding binding_;
  CallPattern::Misfit misfit_;
};

std::optional<CallPattern::Binding> CallPattern::Match(const OpCall& call, Misfit* misfit) const {
  CallMatcher matcher(*this);
  if (matcher.Match(call)) return matcher.TakeBinding();
  *misfit = matcher.TakeMisfit();
  return std::nullopt;
}

}  // namespace oplens::ops
