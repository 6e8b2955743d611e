#ifndef OPLENS_BASE_LITERAL_H_
#define OPLENS_BASE_LITERAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oplens {

/// What a value is, told from how it begins.
enum class LiteralKind : uint8_t {
  kDict,
  kList,
  kTuple,
  kString,
  kInteger,  ///< Of any length; see LiteralNumber::fits.
  kFloat,    ///< Has a point or an exponent, or is one of the words inf, -inf, nan.
  kBool,
  kNone,
  kNothing,  ///< The text ends here, or goes on with something that begins no value.
};

/// A number as written.
struct LiteralNumber {
  bool is_integer = false;  ///< Neither point nor exponent.
  bool fits = false;        ///< is_integer, and int_value holds it.
  int64_t int_value = 0;    ///< 0 unless `fits`.
  double float_value = 0;   ///< The nearest double; beyond its range inf or 0, as in Python.
};

/// What a text may be written in.
enum class LiteralDialect : uint8_t {
  kPython,
  kPythonOrJson,  ///< Also null, true and false, and JSON's escapes "\/" and pairs of surrogates.
};

/// Reads a Python literal piece by piece, in the order in which the caller asks. Nothing is
/// evaluated.
///
/// The grammar is Python's, cut down to what a program prints: dict, list, tuple, str in ' or ",
/// int, float, True, False, None, and the bare words inf, -inf and nan that some emitters write.
/// Trailing commas and blanks between tokens are fine. Refused: prefixes (b''), adjacent strings,
/// triple quotes, hexadecimal and underscored numbers, sets, dict keys that are containers, and a
/// line break or NUL inside quotes. Nesting is limited to kMaxDepth.
///
/// Every call skips blanks first. The first failure sticks: all later calls return false at once,
/// so a caller may check only at the end. Nothing is allocated but what `storage` needs.
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

  /// Borrows `text`; it must outlive the scanner and the views that it gives.
  explicit LiteralScanner(std::string_view text, LiteralDialect dialect = LiteralDialect::kPython)
      : begin_(text.data()),
        end_(text.data() + text.size()),
        next_(text.data()),
        json_(dialect == LiteralDialect::kPythonOrJson) {}

  /// The kind of the value that comes next. Consumes blanks only, never fails.
  LiteralKind Peek();

  /// Steps into a dict: then NextKey() until it returns false.
  bool EnterDict();
  /// Steps into a list or a tuple: then NextItem() until it returns false.
  bool EnterSequence();
  /// Whether a further item follows, which the caller must then read or skip. At the closing
  /// bracket it steps out and returns false, as it does on failure.
  bool NextItem();
  /// Reads the key of an item of a dict, which must be a string, and the colon.
  bool ReadKey(std::string* storage, std::string_view* key);
  /// Takes the key and its colon if they stand there exactly as `spelling` has them, "'key':";
  /// otherwise returns false, which is no failure. Spares ReadKey where the next key can be
  /// guessed.
  bool TakeKey(std::string_view spelling);
  /// NextItem() and ReadKey().
  bool NextKey(std::string* storage, std::string_view* key);

  /// Reads a string. One without escapes is a view into the input. One with escapes is appended to
  /// `storage`, decoded, and is a view into that: \xHH, \uHHHH, \UHHHHHHHH and octal escapes name
  /// code points and become UTF-8, except \udc80 to \udcff, which become the one byte 0x80 to 0xff
  /// (Python's surrogateescape); other surrogates become U+FFFD. Unknown escapes stay as written.
  /// The first use reserves room for all the rest of the text, so no view into `storage` moves
  /// while the same scanner fills it.
  bool ReadString(std::string* storage, std::string_view* text);
  /// Reads an integer that fits; "integer out of range" otherwise.
  bool ReadInteger(int64_t* value);
  /// Reads an integer or a float.
  bool ReadNumber(LiteralNumber* number);
  bool ReadBool(bool* value);
  /// Reads None (null) if that comes next; otherwise returns false, which is no failure.
  bool TakeNone();
  /// Reads any value and forgets it. It is checked as strictly as one that is kept.
  bool Skip();
  /// Whether nothing but blanks is left, and nothing failed before.
  bool Finish();

  bool failed() const { return what_ != nullptr; }
  /// Refuses the text on the caller's account, at the next token: a value the caller cannot take.
  /// `what` must be a literal. Always returns false.
  bool Refuse(const char* what);
  /// What went wrong, e.g. "a string is expected"; nullptr while nothing did.
  const char* what() const { return what_; }
  /// Where: byte column of the input, the first is 1; 0 while nothing failed.
  size_t column() const { return column_; }
  /// "a string is expected, at column 17", with ", where the text ends" if so; "" while nothing
  /// failed.
  std::string ErrorText() const;

 private:
  // A container that has been entered.
  struct Level {
    char closer = 0;    // ')', ']' or '}'.
    uint8_t items = 0;  // How many were begun: 0, 1, or 2 for more.
  };

  bool Fail(const char* what, const char* at);
  void SkipBlanks();
  bool NextIs(char c) const;
  bool Enter(char closer);
  bool Leave();  // Past the closing bracket; always false: no item follows.
  bool Colon();
  bool ScanString(std::string* storage, std::string_view* text);
  // Goes on with a string whose first plain part [run, stop) does not end with its quote.
  bool Decode(const char* run, const char* stop, char quote, std::string* storage);
  // Reads the usual form of an integer: at most 19 digits, then what ends an item. False, and
  // nothing consumed, for others.
  bool ReadPlainInteger(int64_t* value);
  bool SkipNumber();
  bool SkipDict();
  bool SkipSequence();
  // Whether the word comes next, as Python spells it, or as JSON does where that may be.
  bool AtBool(bool value) const;
  bool AtNone() const;
  // Decodes the escape at `p` where JSON has another meaning of it; nullptr where it has none.
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
