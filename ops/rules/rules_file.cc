#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "ops/rules/rules.h"

namespace oplens::ops {
namespace {

using Words = std::initializer_list<std::string_view>;

/// Keeps messages to one line of printable characters, whatever the file holds.
std::string Printable(std::string_view text) {
  constexpr size_t kMost = 300;
  std::string shown(text.substr(0, kMost));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > kMost) shown += "...";
  return shown;
}

template <typename T>
struct RulesFileWord {
  std::string_view word;
  T value;
};

// A role maps to a kind of kernel that has this role beside a product.
constexpr RulesFileWord<KernelKind> kRoles[] = {
    {"main", KernelKind::kMatrix},        {"helper", KernelKind::kHelper},
    {"layout", KernelKind::kLayout},      {"reduce", KernelKind::kSecondStage},
    {"epilogue", KernelKind::kPointwise},
};

constexpr RulesFileWord<KernelKind> kRulesFileFamilies[] = {
    {"matrix", KernelKind::kMatrix},       {"special", KernelKind::kSpecial},
    {"pointwise", KernelKind::kPointwise}, {"reduction", KernelKind::kReduction},
    {"copy", KernelKind::kCopy},           {"fill", KernelKind::kFill},
};

constexpr std::string_view kMathTypes[] = {"fp16", "bf16", "tf32", "3xtf32", "fp8",
                                           "fp4",  "int8", "int4", "fp64",   "b1"};

struct PartWord {
  std::string_view word;
  Part part;
};
constexpr PartWord kBackwardParts[] = {
    {"backward", Part::kBackward},
    {"dgrad", Part::kDgrad},
    {"wgrad", Part::kWgrad},
    {"bgrad", Part::kBgrad},
};

/// Finds keys with too many parts ("a.b.c"). The TOML library nests a table per part and frees them
/// recursively, so it must never see a key long enough to overflow the stack.
class DeepKeyScan {
 public:
  /// Rules need three: [op.forward] and a formula in it.
  static constexpr size_t kMostParts = 8;

  explicit DeepKeyScan(std::string_view text) : text_(text) {}

  /// Where the first excess part begins, or nullopt; arbitrary for malformed TOML.
  std::optional<toml::source_position> Find() {
    size_t dots = 0;
    while (next_ < text_.size()) {
      const char c = text_[next_];
      if (c == '"' || c == '\'') {
        SkipString(c);
        continue;
      }
      if (c == '#') {
        SkipTo("\n");
        continue;
      }
      Step();
      if (c == '.') {
        if (++dots == kMostParts) return at_;
      } else if (!IsOfKey(c)) {
        dots = 0;
      }
    }
    return std::nullopt;
  }

 private:
  /// Unquoted characters that may stand between two dots of a key.
  static bool IsOfKey(char c) {
    return c == ' ' || c == '\t' || c == '_' || c == '-' || IsDigit(c) || IsLetter(c) ||
           static_cast<uint8_t>(c) >= 0x80;
  }

  void Step() {
    const char c = text_[next_++];
    const bool goes_on = (static_cast<uint8_t>(c) & 0xC0u) == 0x80;  // A UTF-8 continuation byte.
    if (c == '\n') {
      ++at_.line;
      at_.column = 1;
    } else if (!goes_on) {
      ++at_.column;
    }
  }

  /// Stops at the first of these characters, or at the end.
  void SkipTo(std::string_view ends) {
    while (next_ < text_.size() && ends.find(text_[next_]) == ends.npos) Step();
  }

  void SkipString(char quote) {
    const std::string three(3, quote);
    const bool of_lines = text_.substr(next_).starts_with(three);
    const std::string_view end = std::string_view(three).substr(0, of_lines ? 3 : 1);
    for (size_t i = 0; i < end.size(); ++i) Step();
    while (next_ < text_.size() && !text_.substr(next_).starts_with(end)) {
      if (text_[next_] == '\n' && !of_lines) return;
      if (text_[next_] == '\\' && quote == '"') Step();
      if (next_ < text_.size()) Step();
    }
    // Up to two quotes may precede the closing three of a multi-line string.
    const size_t most = of_lines ? 5 : 1;
    for (size_t i = 0; i < most && next_ < text_.size() && text_[next_] == quote; ++i) Step();
  }

  std::string_view text_;
  size_t next_ = 0;
  toml::source_position at_{1, 1};
};

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Rules Read(std::string_view text) {
    if (text.size() > kMaxRulesBytes) {
      throw UsageError(fmt::format("{}: the file is larger than {} bytes; split or shorten it",
                                   Printable(file_), kMaxRulesBytes));
    }
    const toml::table root = ParseToml(text);
    CheckKeys(root, {"op", "kernel", "tensor_core"}, "of the file");
    ForEachTable(root, "op", [this](const toml::table& table) { AddOp(table); });
    ForEachTable(root, "kernel", [this](const toml::table& table) { AddKernel(table); });
    ForEachTable(root, "tensor_core", [this](const toml::table& table) { AddTensorCore(table); });
    return std::move(rules_);
  }

 private:
  toml::table ParseToml(std::string_view text) {
    if (const auto at = DeepKeyScan(text).Find()) {
      Fail(*at, fmt::format("a key has more than {} parts", DeepKeyScan::kMostParts),
           "the keys of rules have at most three, as in op.forward.mma");
    }
    try {
      return toml::parse(text);
    } catch (const toml::parse_error& error) {
      Fail(error.source().begin, error.description(), "correct the TOML there");
    }
  }

  // ---- errors ----

  [[noreturn]] void Fail(toml::source_position at, std::string_view what, std::string_view advice) {
    throw UsageError(fmt::format("{}:{}:{}: {}; {}", Printable(file_), at.line, at.column,
                                 Printable(what), Printable(advice)));
  }

  [[noreturn]] void FailAt(const toml::node& node, std::string_view what, std::string_view advice) {
    Fail(node.source().begin, what, advice);
  }

  /// Points at a column within a string, if the file holds it unescaped on one line.
  [[noreturn]] void FailInside(const toml::node& node, size_t column, std::string_view what,
                               std::string_view advice) {
    const toml::source_region& source = node.source();
    toml::source_position at = source.begin;
    const std::string* const text =
        node.value_exact<std::string_view>() ? &node.ref<std::string>() : nullptr;
    const bool plain = text != nullptr && source.end.line == at.line &&
                       source.end.column - at.column == text->size() + 2;
    if (plain) at.column += static_cast<toml::source_index>(column);
    Fail(at, what, advice);
  }

  void CheckKeys(const toml::table& table, Words known, std::string_view whose) {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      Fail(key.source().begin, fmt::format("'{}' is no key {}", key.str(), whose),
           fmt::format("the keys are {}", fmt::join(known, ", ")));
    }
  }

  // ---- values ----

  template <typename F>
  void ForEachTable(const toml::table& root, std::string_view key, F f) {
    const toml::node* const node = root.get(key);
    if (node == nullptr) return;
    const toml::array* const tables = node->as_array();
    const std::string advice = fmt::format("begin each with a line [[{}]]", key);
    if (tables == nullptr) FailAt(*node, fmt::format("'{}' is no list of tables", key), advice);
    for (const toml::node& item : *tables) {
      const toml::table* const table = item.as_table();
      if (table == nullptr) FailAt(item, fmt::format("'{}' is no list of tables", key), advice);
      f(*table);
    }
  }

  const toml::node& Require(const toml::table& table, std::string_view key,
                            std::string_view advice) {
    const toml::node* const node = table.get(key);
    if (node == nullptr) FailAt(table, fmt::format("'{}' is missing", key), advice);
    return *node;
  }

  const std::string& Text(const toml::node& node, std::string_view key) {
    if (const auto* text = node.as_string()) return text->get();
    FailAt(node, fmt::format("'{}' is no text", key), "put it in quotes");
  }

  std::string TextOr(const toml::table& table, std::string_view key) {
    const toml::node* const node = table.get(key);
    return node == nullptr ? std::string() : Text(*node, key);
  }

  bool FlagOr(const toml::table& table, std::string_view key) {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return false;
    if (const auto* flag = node->as_boolean()) return flag->get();
    FailAt(*node, fmt::format("'{}' is neither true nor false", key), "write true or false");
  }

  std::vector<std::string> Texts(const toml::node& node, std::string_view key) {
    const toml::array* const list = node.as_array();
    if (list == nullptr) {
      FailAt(node, fmt::format("'{}' is no list", key),
             fmt::format("write {} = [\"...\", \"...\"]", key));
    }
    std::vector<std::string> texts;
    for (const toml::node& item : *list) texts.push_back(Text(item, key));
    return texts;
  }

  template <typename T, size_t N>
  T WordOf(const RulesFileWord<T> (&words)[N], const toml::node& node, std::string_view key) {
    const std::string& text = Text(node, key);
    for (const RulesFileWord<T>& word : words) {
      if (word.word == text) return word.value;
    }
    std::vector<std::string_view> known;
    for (const RulesFileWord<T>& word : words) known.push_back(word.word);
    FailAt(node, fmt::format("'{}' is no {}", text, key),
           fmt::format("write one of {}", fmt::join(known, ", ")));
  }

  std::shared_ptr<const re2::RE2> Pattern(const toml::table& table) {
    const toml::node& node = Require(table, "pattern", "give a regular expression of the name");
    const std::string& text = Text(node, "pattern");
    re2::RE2::Options options(re2::RE2::Latin1);  // Names are bytes, not necessarily UTF-8.
    options.set_log_errors(false);
    auto pattern = std::make_shared<const re2::RE2>(text, options);
    if (pattern->ok()) return pattern;
    FailAt(node, fmt::format("the pattern is wrong: {}", pattern->error()),
           "write a regular expression in RE2's syntax");
  }

  // ---- rules ----

  void AddOp(const toml::table& table) {
    CheckKeys(table,
              {"name", "mod", "args", "params", "estimate", "forward", "backward", "dgrad", "wgrad",
               "bgrad"},
              "of [[op]]");
    OpRule rule;
    rule.place = fmt::format("{}:{}", Printable(file_.substr(file_.rfind('/') + 1)),
                             table.source().begin.line);
    ReadName(table, &rule);
    const toml::node& args =
        Require(table, "args", "describe each argument, as in args = [\"x[B,S,H]\", \"w[H,D]\"]");
    ReadPattern(args, &rule);
    const toml::node& forward = Require(
        table, "forward", "add forward = { mma = \"...\", vec = \"...\", bytes = \"...\" }");
    rule.forward = ReadPart(forward, "forward", Part::kForward, rule);
    ReadBackward(table, &rule);
    ReadParams(table, &rule);
    rule.estimate = FlagOr(table, "estimate");
    rules_.Add(std::move(rule));
  }

  void ReadName(const toml::table& table, OpRule* rule) {
    const toml::node& node = Require(table, "name", "give the op's name");
    rule->name = Text(node, "name");
    rule->mod = TextOr(table, "mod");
    const size_t scope = rule->name.find("::");
    if (scope != std::string::npos && rule->mod.empty()) {
      rule->mod = rule->name.substr(0, scope);
      rule->name.erase(0, scope + 2);
    }
    if (rule->name.empty()) FailAt(node, "'name' is empty", "give the op's name");
  }

  void ReadPattern(const toml::node& args, OpRule* rule) {
    const std::vector<std::string> texts = Texts(args, "args");
    if (texts.empty()) FailAt(args, "'args' is empty", "describe at least one argument");
    CallPattern::Error error;
    std::optional<CallPattern> pattern = CallPattern::Parse(texts, &error);
    if (!pattern) {
      FailInside(*args.as_array()->get(error.argument), error.column, error.what,
                 "correct the argument");
    }
    rule->pattern = *std::move(pattern);
  }

  PartFormulas ReadPart(const toml::node& node, std::string_view key, Part part,
                        const OpRule& rule) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      FailAt(node, fmt::format("'{}' is no table", key),
             fmt::format("write {} = {{ mma = \"...\", vec = \"...\", bytes = \"...\" }}", key));
    }
    CheckKeys(*table, {"mma", "vec", "bytes"}, fmt::format("of '{}'", key));
    PartFormulas formulas;
    formulas.part = part;
    formulas.mma = ReadFormula(table->get("mma"), rule);
    formulas.vec = ReadFormula(table->get("vec"), rule);
    formulas.bytes = ReadFormula(
        &Require(*table, "bytes", "say how many bytes it reads and writes, 0 for none"), rule);
    return formulas;
  }

  /// A string or an integer; 0 if absent.
  Formula ReadFormula(const toml::node* node, const OpRule& rule) {
    std::string text = "0";
    if (node != nullptr && node->is_integer()) {
      text = std::to_string(node->as_integer()->get());
      if (text.starts_with('-')) FailAt(*node, "the number is negative", "give 0 or more");
    } else if (node != nullptr) {
      text = Text(*node, "formula");
    }
    Formula::Error error;
    std::optional<Formula> formula = Formula::Parse(text, rule.pattern.names(), &error);
    if (!formula) FailInside(*node, error.column, error.what, "correct the formula");
    return *std::move(formula);
  }

  void ReadBackward(const toml::table& table, OpRule* rule) {
    for (const PartWord& word : kBackwardParts) {
      const toml::node* const node = table.get(word.word);
      if (node == nullptr) continue;
      if (!rule->backward.empty() && rule->backward.front().part == Part::kBackward) {
        FailAt(*node, "'backward' and its parts exclude each other",
               "give 'backward', or some of dgrad, wgrad and bgrad");
      }
      rule->backward.push_back(ReadPart(*node, word.word, word.part, *rule));
    }
  }

  void ReadParams(const toml::table& table, OpRule* rule) {
    const std::vector<std::string>& names = rule->pattern.value_names();
    const toml::node* const node = table.get("params");
    if (node == nullptr) {
      for (size_t i = 0; i < names.size(); ++i) rule->params.push_back(i);
      return;
    }
    const std::vector<std::string> texts = Texts(*node, "params");
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto found = std::find(names.begin(), names.end(), texts[i]);
      if (found == names.end()) {
        FailAt(*node->as_array()->get(i), fmt::format("nothing is named '{}'", texts[i]),
               fmt::format("the extents and numbers of 'args' are {}", fmt::join(names, ", ")));
      }
      rule->params.push_back(static_cast<size_t>(found - names.begin()));
    }
  }

  void AddKernel(const toml::table& table) {
    CheckKeys(table, {"pattern", "role", "family"}, "of [[kernel]]");
    KernelRule rule;
    rule.pattern = Pattern(table);
    const toml::node* const role = table.get("role");
    const toml::node* const family = table.get("family");
    if ((role == nullptr) == (family == nullptr)) {
      FailAt(table, "a kernel has either a role or a family", "give one of them");
    }
    rule.kind = role != nullptr ? WordOf(kRoles, *role, "role")
                                : WordOf(kRulesFileFamilies, *family, "family");
    rules_.Add(std::move(rule));
  }

  void AddTensorCore(const toml::table& table) {
    CheckKeys(table, {"pattern", "use", "math"}, "of [[tensor_core]]");
    TensorCoreRule rule;
    rule.pattern = Pattern(table);
    const toml::node& use = Require(table, "use", "add use = 1, 0 or \"?\"");
    rule.use = ReadUse(use);
    rule.id = fmt::format("rules:{}", table.source().begin.line);
    if (const toml::node* const math = table.get("math")) {
      rule.math = Text(*math, "math");
      if (std::find(std::begin(kMathTypes), std::end(kMathTypes), rule.math) ==
          std::end(kMathTypes)) {
        FailAt(*math, fmt::format("'{}' is no type of Tensor Cores", rule.math),
               fmt::format("write one of {}", fmt::join(kMathTypes, ", ")));
      }
    }
    rules_.Add(std::move(rule));
  }

  TensorCoreUse ReadUse(const toml::node& node) {
    const auto* number = node.as_integer();
    if (number != nullptr && number->get() == 1) return TensorCoreUse::kYes;
    if (number != nullptr && number->get() == 0) return TensorCoreUse::kNo;
    const auto* text = node.as_string();
    if (text != nullptr && text->get() == "?") return TensorCoreUse::kUnknown;
    FailAt(node, "'use' is none of its three values", "write 1, 0 or \"?\"");
  }

  std::string_view file_;
  Rules rules_;
};

}  // namespace

Rules ReadRules(std::string_view text, std::string_view file) { return Reader(file).Read(text); }

}  // namespace oplens::ops
