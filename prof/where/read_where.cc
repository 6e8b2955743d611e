#include "prof/where/read_where.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/text_scanner.h"
#include "prof/where/marked_error.h"

namespace oplens::prof {
namespace {

using Node = Condition::Node;
using WhereKind = Condition::Kind;

bool IsWhereNameCharacter(char c) { return IsNameCharacter(c) || c == '.' || c == '%'; }

struct Sign {
  std::string_view text;
  Relation relation;
};
// Longer ones first.
constexpr Sign kSigns[] = {
    {"==", Relation::kEqual},   {"!=", Relation::kNotEqual},    {"<=", Relation::kLessOrEqual},
    {"!~", Relation::kNoMatch}, {">=", Relation::kMoreOrEqual}, {"=", Relation::kEqual},
    {"<", Relation::kLess},     {">", Relation::kMore},         {"~", Relation::kMatch},
};

[[noreturn]] void FailWhere(std::string_view what, std::string_view text, size_t place) {
  FailAt("--where", what, text, place);
}

/// Recursive descent in one pass.
class WhereParser {
 public:
  WhereParser(std::string_view text, std::span<const WhereScope> scopes)
      : scan_(text), text_(text), scopes_(scopes) {}

  Node ParseAll() {
    if (text_.size() > kMaxWhereLength) {
      FailWhere(fmt::format("the condition is longer than {} characters", kMaxWhereLength), text_,
                kMaxWhereLength);
    }
    Node root = ParseEither();
    scan_.SkipBlanks();
    if (!scan_.AtEnd()) {
      FailHere(scan_.Peek() == ')' ? "this ')' closes nothing"
                                   : "'and', 'or' or the end is expected");
    }
    return root;
  }

 private:
  [[noreturn]] void FailHere(std::string_view what) const { FailWhere(what, text_, scan_.place()); }

  /// Takes a word of the grammar, in either case.
  bool TakeWord(std::string_view word) {
    scan_.SkipBlanks();
    const std::string_view rest = scan_.rest();
    if (rest.size() < word.size()) return false;
    for (size_t i = 0; i < word.size(); ++i) {
      if ((rest[i] | 0x20) != word[i]) return false;
    }
    if (rest.size() > word.size() && IsWhereNameCharacter(rest[word.size()])) return false;
    scan_.MoveTo(scan_.place() + word.size());
    return true;
  }

  Node ParseChain(WhereKind kind, std::string_view word, Node (WhereParser::*part)()) {
    scan_.SkipBlanks();
    Node chain{.kind = kind, .parts = {}, .begin = scan_.place()};
    do {
      chain.parts.push_back((this->*part)());
    } while (TakeWord(word));
    if (chain.parts.size() > 1) return chain;
    Node only = std::move(chain.parts.front());
    return only;
  }

  Node ParseEither() { return ParseChain(WhereKind::kOr, "or", &WhereParser::ParseBoth); }
  Node ParseBoth() { return ParseChain(WhereKind::kAnd, "and", &WhereParser::ParseOne); }

  Node ParseOne() {
    scan_.SkipBlanks();
    if (depth_ == kMaxWhereDepth) {
      FailHere(fmt::format("the condition is nested deeper than {}", kMaxWhereDepth));
    }
    ++depth_;
    Node node = ParseInner();
    --depth_;
    return node;
  }

  Node ParseInner() {
    const size_t begin = scan_.place();
    if (TakeWord("not")) {
      Node negation{.kind = WhereKind::kNot, .parts = {}, .begin = begin};
      negation.parts.push_back(ParseOne());
      return negation;
    }
    if (scan_.Take('(')) {
      Node inner = ParseEither();
      scan_.SkipBlanks();
      if (!scan_.Take(')')) FailHere("'and', 'or' or ')' is expected");
      return inner;
    }
    return ParseComparison();
  }

  Node ParseComparison() {
    const size_t begin = scan_.place();
    const std::string_view name = scan_.TakeWhile(IsWhereNameCharacter);
    if (name.empty() || name == "and" || name == "or") {
      FailWhere("a comparison is expected, such as sil>10us", text_, begin);
    }
    Node node{.kind = WhereKind::kCompare, .parts = {}, .begin = begin};
    const Field field = Find(name, begin, &node);
    const Relation relation = ParseRelation(name);
    scan_.SkipBlanks();
    const size_t value_begin = scan_.place();
    bool quoted = false;
    std::string value = ParseValue(relation, &quoted);
    try {
      node.comparison =
          std::make_shared<const Comparison>(field, relation, std::move(value), quoted);
    } catch (const UsageError& error) {
      FailWhere(error.what(), text_, value_begin);
    }
    return node;
  }

  Relation ParseRelation(std::string_view name) {
    scan_.SkipBlanks();
    for (const Sign& sign : kSigns) {
      if (scan_.Take(sign.text)) return sign.relation;
    }
    FailHere(fmt::format("one of = != < <= > >= ~ !~ is expected behind '{}'", name));
  }

  std::string ParseValue(Relation relation, bool* quoted) {
    if (scan_.Peek() == '"' || scan_.Peek() == '\'') {
      *quoted = true;
      return ParseQuoted();
    }
    const bool pattern = relation == Relation::kMatch || relation == Relation::kNoMatch;
    const size_t begin = scan_.place();
    size_t open = 0;
    for (; !scan_.AtEnd() && !IsBlank(scan_.Peek()); scan_.Next()) {
      const char c = scan_.Peek();
      if (pattern && c == '\\' && scan_.rest().size() > 1 && !IsBlank(scan_.rest()[1])) {
        scan_.Next();
        continue;
      }
      if (c == '(') ++open;
      if (c == ')' && open-- == 0) break;
      if (!pattern && std::string_view("=<>~!&|\"'").find(c) != std::string_view::npos) {
        FailHere("a value that holds this must stand in quotes");
      }
    }
    if (scan_.place() == begin) FailHere("a value is expected");
    return std::string(text_.substr(begin, scan_.place() - begin));
  }

  /// Within quotes a backslash is literal, except before the quote.
  std::string ParseQuoted() {
    const size_t begin = scan_.place();
    const char quote = scan_.Next();
    std::string value;
    while (!scan_.Take(quote)) {
      if (scan_.AtEnd()) FailWhere("this quote is never closed", text_, begin);
      if (scan_.Peek() == '\\' && scan_.rest().substr(1).starts_with(quote)) scan_.Next();
      value.push_back(scan_.Next());
    }
    if (value.empty()) FailWhere("the value is empty: what is not known is =unknown", text_, begin);
    return value;
  }

  static bool Has(const WhereScope& scope, std::string_view name, size_t* field) {
    try {
      *field = FindField("--where", name, scope.fields);
      return true;
    } catch (const UsageError&) {
      return false;
    }
  }

  /// The field of a name; sets its index.
  Field Find(std::string_view name, size_t begin, Node* node) const {
    const auto take = [&](size_t scope) {
      node->scope = scope;
      return scopes_[scope].fields[node->field];
    };
    const size_t dot = name.find('.');
    for (size_t i = 0; i < scopes_.size() && dot != std::string_view::npos; ++i) {
      if (scopes_[i].name == name.substr(0, dot))
        return FindIn(i, name.substr(dot + 1), begin, node);
    }
    for (size_t i = 0; i < scopes_.size(); ++i) {
      const auto& preferred = scopes_[i].preferred;
      if (std::find(preferred.begin(), preferred.end(), name) == preferred.end()) continue;
      if (Has(scopes_[i], name, &node->field)) return take(i);
    }
    for (size_t i = 0; i < scopes_.size(); ++i) {
      if (Has(scopes_[i], name, &node->field)) return take(i);
    }
    std::vector<Field> all;
    for (const WhereScope& scope : scopes_) {
      all.insert(all.end(), scope.fields.begin(), scope.fields.end());
    }
    FailToFind(name, all, begin);
  }

  Field FindIn(size_t scope, std::string_view name, size_t begin, Node* node) const {
    node->scope = scope;
    if (!Has(scopes_[scope], name, &node->field)) FailToFind(name, scopes_[scope].fields, begin);
    return scopes_[scope].fields[node->field];
  }

  [[noreturn]] void FailToFind(std::string_view name, std::span<const Field> fields,
                               size_t begin) const {
    try {
      FindField("--where", name, fields);
    } catch (const UsageError& error) {
      std::string_view what = error.what();
      constexpr std::string_view kOption = "--where: ";
      if (what.starts_with(kOption)) what.remove_prefix(kOption.size());
      FailWhere(what, text_, begin);
    }
    FailWhere("there is no such column", text_, begin);
  }

  TextScanner scan_;
  std::string_view text_;
  std::span<const WhereScope> scopes_;
  size_t depth_ = 0;
};

/// Splits a condition into the parts that must all hold.
void AddConjuncts(Node node, std::vector<Node>* conjuncts) {
  if (node.kind != WhereKind::kAnd) return conjuncts->push_back(std::move(node));
  for (Node& part : node.parts) AddConjuncts(std::move(part), conjuncts);
}

/// A comparison of another scope than `scope`, or null.
const Node* OfOtherScope(const Node& node, size_t scope) {
  if (node.kind == WhereKind::kCompare) return node.scope == scope ? nullptr : &node;
  for (const Node& part : node.parts) {
    if (const Node* found = OfOtherScope(part, scope)) return found;
  }
  return nullptr;
}

size_t FirstScope(const Node& node) {
  const Node* first = &node;
  while (first->kind != WhereKind::kCompare) first = &first->parts.front();
  return first->scope;
}

}  // namespace

std::vector<std::shared_ptr<const Condition>> ReadWhere(std::string_view text,
                                                        std::span<const WhereScope> scopes) {
  std::vector<Node> conjuncts;
  AddConjuncts(WhereParser(text, scopes).ParseAll(), &conjuncts);
  std::vector<Node> roots(scopes.size());
  for (Node& conjunct : conjuncts) {
    const size_t scope = FirstScope(conjunct);
    if (const Node* other = OfOtherScope(conjunct, scope)) {
      FailWhere(fmt::format("this is about {}, and 'or' or 'not' joins it with a condition on {}: "
                            "the two are checked one after the other, so only 'and' can join them",
                            scopes[other->scope].rows, scopes[scope].rows),
                text, other->begin);
    }
    roots[scope].parts.push_back(std::move(conjunct));
  }
  std::vector<std::shared_ptr<const Condition>> conditions;
  for (Node& root : roots) {
    conditions.push_back(root.parts.empty() ? nullptr
                                            : std::make_shared<const Condition>(std::move(root)));
  }
  return conditions;
}

}  // namespace oplens::prof
