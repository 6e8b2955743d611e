#ifndef OPLENS_BASE_LITERAL_H_
#define OPLENS_BASE_LITERAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oplens {

/// The kind of a value, as its first character shows.
enum class LiteralKind : uint8_t {
  kDict,
  kList,
  kTuple,
  kString,
  kInteger,  ///< Of any length; see LiteralNumber::fits.
  kFloat,    ///< Has a point or an exponent, or is one of the words inf, -inf, nan.
  kBool,
  kNone,
  kNothing,  ///< End of text, or no value begins here.
};

/// A number as written.
struct LiteralNumber {
  bool is_integer = false;  ///< Neither point nor exponent.
  bool fits = false;        ///< is_integer, and int_value holds it.
  int64_t int_value = 0;    ///< 0 unless `fits`.
  double float_value = 0;   ///< The nearest double; inf or 0 beyond its range, as in Python.
};

/// The accepted syntax.
enum class LiteralDialect : uint8_t {
  kPython,
  kPythonOrJson,  ///< Also null, true, false, and JSON's escape "\/" and surrogate pairs.
};

/// Pull parser for Python literals: reads piece by piece, in the order of the caller's calls.
/// Evaluates nothing.
///
/// Accepts the part of Python's grammar that programs print: dict, list, tuple, str in ' or ", int,
/// float, True, False, None, and the bare words inf, -inf and nan that some emitters write.
/// Trailing commas and blanks between tokens are fine. Rejects prefixes (b''), adjacent strings,
/// triple quotes, hexadecimal and underscored numbers, sets, containers as dict keys, and line
/// breaks or NUL inside quotes. Nesting is limited to kMaxDepth.
/// line break or NUL inside quotes. Nesting is limited to kMaxDepth.
///
/// Every call skips blanks first. Failure is sticky: all later calls return false, so a caller may
/// check only at the end. Allocates only for `storage`.
///
/// Example, for "{'a': [1, 2], 'b': 'x'}":
///   for (in.EnterDict(); in.NextKey(&storage, &key);) {
///     if (key == "b") in.ReadString(&storage, &text);
///     else in.Skip();
///   }
///   if (!in.Finish()) error = in.ErrorText();
class LiteralScanner {
 public:
  static constexpr size_t kMaxDepth = 32;

  /// `text` must outlive the scanner and the views it returns.
  explicit LiteralScanner(std::string_view text, LiteralDialect dialect = LiteralDialect::kPython)
      : begin_(text.data()),
        end_(text.data() + text.size()),
        next_(text.data()),
        json_(dialect == LiteralDialect::kPythonOrJson) {}

  /// The kind of the next value. Consumes only blanks, never fails.
  LiteralKind Peek();

  /// Enters a dict; then call NextKey() until it returns false.
  bool EnterDict();
  /// Enters a list or tuple; then call NextItem() until it returns false.
  bool EnterSequence();
  /// Returns true if another item follows, which the caller must read or skip. At the closing
  /// bracket, leaves the container and returns false; also false on failure.
  bool NextItem();
  /// Reads the key of a dict item, which must be a string, and the colon.
  bool ReadKey(std::string* storage, std::string_view* key);
  /// Consumes the key and colon if the text continues exactly with `spelling` ("'key':"); otherwise
  /// returns false, which is no failure. Cheaper than ReadKey if the key can be guessed.
  bool TakeKey(std::string_view spelling);
  /// NextItem() and ReadKey().
  bool NextKey(std::string* storage, std::string_view* key);

  /// Reads a string. Without escapes, `*text` is a view of the input. With escapes, the decoded
  /// string is appended to `storage` and `*text` is a view of that: \xHH, \uHHHH, \UHHHHHHHH and
  /// octal escapes are code points and become UTF-8, except that \udc80 to \udcff become one byte
  /// 0x80 to 0xff (Python's surrogateescape) and other surrogates U+FFFD. Unknown escapes stay as
  /// written. The first use reserves space for the whole rest of the text, so views of `storage`
  /// stay valid while the same scanner fills it.
  bool ReadString(std::string* storage, std::string_view* text);
  /// Reads an integer; fails with "integer out of range" if it does not fit.
  bool ReadInteger(int64_t* value);
  /// Reads an integer or a float.
  bool ReadNumber(LiteralNumber* number);
  bool ReadBool(bool* value);
  /// Consumes None (null) if it comes next; otherwise returns false, which is no failure.
  bool TakeNone();
  /// Reads and discards any value, with the same checks as the reading calls.
  bool Skip();
  /// Whether only blanks are left and nothing has failed.
  bool Finish();

  bool failed() const { return what_ != nullptr; }
  /// Fails at the next token on the caller's behalf. `what` must be a string literal. Always
  /// returns false.
  bool Refuse(const char* what);
  /// The failure, e.g. "a string is expected"; nullptr if there is none.
  const char* what() const { return what_; }
  /// The byte column of the failure, from 1; 0 if there is none.
  size_t column() const { return column_; }
  /// "a string is expected, at column 17", with ", where the text ends" if so; "" without a
  /// failure.
  std::string ErrorText() const;

 private:
  // An entered container.
  struct Level {
    char closer = 0;    // ')', ']' or '}'.
    uint8_t items = 0;  // Items begun: 0, 1, or 2 for more.
  };

  bool Fail(const char* what, const char* at);
  void SkipBlanks();
  bool NextIs(char c) const;
  bool Enter(char closer);
  bool Leave();  // Moves past the closing bracket; always false: no item follows.
  bool Colon();
  bool ScanString(std::string* storage, std::string_view* text);
  // Continues a string whose first plain part [run, stop) does not end with its quote.
  bool Decode(const char* run, const char* stop, char quote, std::string* storage);
  // Fast path: at most 19 digits, followed by what ends an item. Otherwise false, and nothing is
  // consumed.
  bool ReadPlainInteger(int64_t* value);
  bool SkipNumber();
  bool SkipDict();
  bool SkipSequence();
  // Whether the word comes next, in Python's or, if the dialect allows, JSON's spelling.
  bool AtBool(bool value) const;
  bool AtNone() const;
  // Decodes the escape at `p` if it means something else in JSON; otherwise nullptr.
  const char* DecodeJsonEscape(const char* p, std::string* storage) const;

  const char* begin_;
  const char* end_;
  const char* next_;
  bool json_;
  size_t depth_ = 0;
  const char* what_ = nullptr;
  size_t column_ = 0;
  std::array<Level, kMaxDepth> levels_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_LITERAL_H_
