#include "base/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>

#include "base/ascii.h"
#include "base/literal_token.h"

namespace oplens {

using literal::WordAt;

bool LiteralScanner::Fail(const char* what, const char* at) {
  if (what_ == nullptr) {
    what_ = what;
    column_ = static_cast<size_t>(at - begin_) + 1;
    // With nothing left to read, later calls cannot succeed by chance.
    next_ = end_;
  }
  return false;
}

bool LiteralScanner::Refuse(const char* what) {
  SkipBlanks();
  return Fail(what, next_);
}

std::string LiteralScanner::ErrorText() const {
  if (what_ == nullptr) return {};
  const bool at_end = column_ == static_cast<size_t>(end_ - begin_) + 1;
  return fmt::format("{}, at column {}{}", what_, column_, at_end ? ", where the text ends" : "");
}

void LiteralScanner::SkipBlanks() {
  while (next_ != end_ && literal::IsBlank(*next_)) ++next_;
}

bool LiteralScanner::NextIs(char c) const { return next_ != end_ && *next_ == c; }

LiteralKind LiteralScanner::Peek() {
  SkipBlanks();
  if (next_ == end_) return LiteralKind::kNothing;
  switch (*next_) {
    case '{':
      return LiteralKind::kDict;
    case '[':
      return LiteralKind::kList;
    case '(':
      return LiteralKind::kTuple;
    case '\'':
    case '"':
      return LiteralKind::kString;
    case 'T':
      return WordAt(next_, end_, "True") ? LiteralKind::kBool : LiteralKind::kNothing;
    case 'F':
      return WordAt(next_, end_, "False") ? LiteralKind::kBool : LiteralKind::kNothing;
    case 'N':
      return WordAt(next_, end_, "None") ? LiteralKind::kNone : LiteralKind::kNothing;
    case 't':
    case 'f':
      return AtBool(true) || AtBool(false) ? LiteralKind::kBool : LiteralKind::kNothing;
    case 'n':
      if (AtNone()) return LiteralKind::kNone;
      return WordAt(next_, end_, "nan") ? LiteralKind::kFloat : LiteralKind::kNothing;
    default:
      break;
  }
  const char* const number = next_ + (*next_ == '-' || *next_ == '+' ? 1 : 0);
  if (const auto token = literal::MeasureNumber(number, end_); token.end != nullptr) {
    return token.is_integer ? LiteralKind::kInteger : LiteralKind::kFloat;
  }
  return WordAt(number, end_, "inf") ? LiteralKind::kFloat : LiteralKind::kNothing;
}

bool LiteralScanner::Enter(char closer) {
  if (depth_ == kMaxDepth) return Fail("the literal is nested too deeply", next_);
  ++next_;
  levels_[depth_++] = {closer, 0};
  return true;
}

bool LiteralScanner::EnterDict() {
  SkipBlanks();
  return NextIs('{') ? Enter('}') : Fail("a dict is expected", next_);
}

bool LiteralScanner::EnterSequence() {
  SkipBlanks();
  if (NextIs('[')) return Enter(']');
  return NextIs('(') ? Enter(')') : Fail("a list or a tuple is expected", next_);
}

bool LiteralScanner::Leave() {
  ++next_;
  --depth_;
  return false;
}

bool LiteralScanner::NextItem() {
  if (failed()) return false;
  Level& level = levels_[depth_ - 1];
  SkipBlanks();
  if (NextIs(level.closer)) {
    // (1) is a parenthesised integer, (1,) a tuple.
    if (level.closer == ')' && level.items == 1) return Fail("a comma is expected", next_);
    return Leave();
  }
  if (level.items != 0) {
    if (!NextIs(',')) return Fail("a comma or a closing bracket is expected", next_);
    ++next_;
    SkipBlanks();
    if (NextIs(level.closer)) return Leave();
  }
  level.items = level.items == 0 ? 1 : 2;
  return true;
}

bool LiteralScanner::Colon() {
  SkipBlanks();
  if (!NextIs(':')) return Fail("a colon is expected", next_);
  ++next_;
  return true;
}

bool LiteralScanner::ReadKey(std::string* storage, std::string_view* key) {
  return ScanString(storage, key) && Colon();
}

bool LiteralScanner::TakeKey(std::string_view spelling) {
  SkipBlanks();
  if (static_cast<size_t>(end_ - next_) < spelling.size() ||
      std::memcmp(next_, spelling.data(), spelling.size()) != 0) {
    return false;
  }
  next_ += spelling.size();
  return true;
}

bool LiteralScanner::NextKey(std::string* storage, std::string_view* key) {
  return NextItem() && ReadKey(storage, key);
}

bool LiteralScanner::ReadString(std::string* storage, std::string_view* text) {
  return ScanString(storage, text);
}

bool LiteralScanner::ScanString(std::string* storage, std::string_view* text) {
  SkipBlanks();
  if (!NextIs('\'') && !NextIs('"')) return Fail("a string is expected", next_);
  const char quote = *next_;
  const char* const first = next_ + 1;
  const char* const stop = literal::FindRunEnd(first, end_, quote);
  if (stop != end_ && *stop == quote) {
    *text = {first, static_cast<size_t>(stop - first)};
    next_ = stop + 1;
    return true;
  }
  if (storage == nullptr) return Decode(first, stop, quote, nullptr);
  // Decoding never lengthens a text, so this is enough for the rest.
  const size_t old_size = storage->size();
  storage->reserve(old_size + static_cast<size_t>(end_ - first));
  if (!Decode(first, stop, quote, storage)) return false;
  *text = std::string_view(*storage).substr(old_size);
  return true;
}

bool LiteralScanner::AtBool(bool value) const {
  if (value) return WordAt(next_, end_, "True") || (json_ && WordAt(next_, end_, "true"));
  return WordAt(next_, end_, "False") || (json_ && WordAt(next_, end_, "false"));
}

bool LiteralScanner::AtNone() const {
  return WordAt(next_, end_, "None") || (json_ && WordAt(next_, end_, "null"));
}

const char* LiteralScanner::DecodeJsonEscape(const char* p, std::string* storage) const {
  if (!json_ || end_ - p < 2) return nullptr;
  if (p[1] == '/') {
    if (storage != nullptr) storage->push_back('/');
    return p + 2;
  }
  return literal::DecodeSurrogatePair(p, end_, storage);
}

bool LiteralScanner::Decode(const char* run, const char* stop, char quote, std::string* storage) {
  while (true) {
    if (storage != nullptr) storage->append(run, stop);
    if (stop == end_) return Fail("a closing quote is missing", stop);
    if (*stop == quote) {
      next_ = stop + 1;
      return true;
    }
    if (*stop == '\0') return Fail("a NUL byte stands inside a string", stop);
    if (*stop != '\\') return Fail("a line break stands inside a string", stop);
    const char letter = stop + 1 == end_ ? '\0' : stop[1];
    if (letter == '\'' || letter == '"' || letter == '\\') {
      // Common escapes stand for their own letter, which begins the next plain part.
      run = stop + 1;
      stop = literal::FindRunEnd(run + 1, end_, quote);
      continue;
    }
    if (const char* const behind = DecodeJsonEscape(stop, storage); behind != nullptr) {
      run = behind;
      stop = literal::FindRunEnd(run, end_, quote);
      continue;
    }
    const char* what = nullptr;
    run = literal::DecodeEscape(stop, end_, storage, &what);
    if (run == nullptr) return Fail(what, stop);
    stop = literal::FindRunEnd(run, end_, quote);
  }
}

bool LiteralScanner::ReadPlainInteger(int64_t* value) {
  const char* p = next_;
  const bool negative = p != end_ && *p == '-';
  if (negative) ++p;
  const char* const digits = p;
  // Time stamps have 19 digits, the most that cannot overflow uint64_t.
  const char* const limit = p + std::min<ptrdiff_t>(end_ - p, 19);
  uint64_t sum = 0;
  for (; p != limit && IsDigit(*p); ++p) sum = sum * 10 + static_cast<uint64_t>(*p - '0');
  if (p == digits || p == end_ || (*p != ',' && *p != ']' && *p != ')')) return false;
  if ((*digits == '0' && p - digits > 1) || sum > INT64_MAX) return false;
  *value = negative ? -static_cast<int64_t>(sum) : static_cast<int64_t>(sum);
  next_ = p;
  return true;
}

bool LiteralScanner::ReadInteger(int64_t* value) {
  SkipBlanks();
  if (ReadPlainInteger(value)) return true;
  const char* const start = next_;
  if (Peek() != LiteralKind::kInteger) return Fail("an integer is expected", start);
  LiteralNumber number;
  ReadNumber(&number);
  if (!number.fits) return Fail("an integer is out of range", start);
  *value = number.int_value;
  return true;
}

bool LiteralScanner::ReadNumber(LiteralNumber* number) {
  SkipBlanks();
  *number = {};
  if (ReadPlainInteger(&number->int_value)) {
    number->is_integer = number->fits = true;
    number->float_value = static_cast<double>(number->int_value);
    return true;
  }
  const bool negative = NextIs('-');
  const char* const first = next_ + (negative || NextIs('+') ? 1 : 0);
  if (const auto token = literal::MeasureNumber(first, end_); token.end != nullptr) {
    number->is_integer = token.is_integer;
    if (token.is_integer) {
      // from_chars accepts a minus, and needs it for the minimum value.
      const auto result = std::from_chars(negative ? next_ : first, token.end, number->int_value);
      number->fits = result.ec == std::errc{};
    }
    number->float_value = literal::ParseDouble({first, static_cast<size_t>(token.end - first)});
    next_ = token.end;
  } else if (WordAt(first, end_, "inf")) {
    number->float_value = std::numeric_limits<double>::infinity();
    next_ = first + 3;
  } else if (WordAt(next_, end_, "nan")) {
    number->float_value = std::numeric_limits<double>::quiet_NaN();
    next_ += 3;
  } else {
    return Fail("a number is expected", next_);
  }
  if (negative) number->float_value = -number->float_value;
  return true;
}

bool LiteralScanner::ReadBool(bool* value) {
  SkipBlanks();
  *value = AtBool(true);
  if (!*value && !AtBool(false)) return Fail("True or False is expected", next_);
  next_ += *value ? 4 : 5;
  return true;
}

bool LiteralScanner::TakeNone() {
  SkipBlanks();
  if (!AtNone()) return false;
  next_ += 4;
  return true;
}

bool LiteralScanner::SkipNumber() {
  int64_t ignored = 0;
  if (ReadPlainInteger(&ignored)) return true;
  LiteralNumber number;
  return ReadNumber(&number);
}

bool LiteralScanner::SkipDict() {
  // Recursion is bounded by kMaxDepth: each step enters a container.
  for (EnterDict(); NextItem();) {
    if (NextIs('{') || NextIs('[') || NextIs('(')) {
      return Fail("a dict key must be a string, a number or a word", next_);
    }
    if (!Skip() || !Colon() || !Skip()) return false;
  }
  return !failed();
}

bool LiteralScanner::SkipSequence() {
  for (EnterSequence(); NextItem();) {
    if (!Skip()) return false;
  }
  return !failed();
}

bool LiteralScanner::Skip() {
  SkipBlanks();
  if (NextIs('\'') || NextIs('"')) {
    std::string_view ignored;
    return ScanString(nullptr, &ignored);
  }
  switch (Peek()) {
    case LiteralKind::kDict:
      return SkipDict();
    case LiteralKind::kList:
    case LiteralKind::kTuple:
      return SkipSequence();
    case LiteralKind::kInteger:
    case LiteralKind::kFloat:
      return SkipNumber();
    case LiteralKind::kBool:
      bool ignored;
      return ReadBool(&ignored);
    case LiteralKind::kNone:
      return TakeNone();
    case LiteralKind::kString:
    case LiteralKind::kNothing:
      break;
  }
  return Fail("a value is expected", next_);
}

bool LiteralScanner::Finish() {
  if (failed()) return false;
  SkipBlanks();
  return next_ == end_ || Fail("something follows the literal", next_);
}

}  // namespace oplens
