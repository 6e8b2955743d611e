#include "nvtx_annotate/marker_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

namespace oplens::markers {
namespace {

constexpr size_t kMaxFrames = 64;
// Reserved after the arguments: facts with the longest numbers, and a name.
constexpr size_t kFactsBytes = 512 + 6 * kMaxStringBytes;
constexpr size_t kArgsEnd = kMaxTextBytes - kFactsBytes;

constexpr char kHexDigits[] = "0123456789abcdef";

bool IsPlain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '\'' && c != '\\'; }
bool IsContinuation(unsigned char c) { return (c & 0xc0) == 0x80; }

/// Length and code point of the UTF-8 sequence at the start of `text`; 0 if invalid.
size_t DecodeUtf8(std::string_view text, uint32_t* code) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t size = 0;
  uint32_t least = 0;
  if (first < 0x80) {
    *code = first;
    return 1;
  }
  if (first >= 0xc2 && first < 0xe0) {
    size = 2;
    least = 0x80;
    *code = first & 0x1fu;
  } else if (first >= 0xe0 && first < 0xf0) {
    size = 3;
    least = 0x800;
    *code = first & 0x0fu;
  } else if (first >= 0xf0 && first < 0xf5) {
    size = 4;
    least = 0x10000;
    *code = first & 0x07u;
  } else {
    return 0;
  }
  if (text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if (!IsContinuation(byte(i))) return 0;
    *code = (*code << 6) | (byte(i) & 0x3fu);
  }
  const bool surrogate = *code >= 0xd800 && *code < 0xe000;
  return *code < least || *code > 0x10ffff || surrogate ? 0 : size;
}

/// The longest prefix of `text` within `limit` bytes that does not split a code point.
std::string_view CutAt(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  // A code point has at most three continuation bytes; more are invalid and may be split.
  for (int i = 0; i < 3 && end > 0 && IsContinuation(static_cast<unsigned char>(text[end])); ++i) {
    --end;
  }
  if (IsContinuation(static_cast<unsigned char>(text[end]))) end = limit;
  return text.substr(0, end);
}

std::string_view View(const char* text) { return text == nullptr ? std::string_view() : text; }

/// Appends to a buffer that must be large enough.
class Writer {
 public:
  explicit Writer(char* buffer) : begin_(buffer), at_(buffer) {}

  size_t size() const { return static_cast<size_t>(at_ - begin_); }
  void Rewind(size_t size) { at_ = begin_ + size; }
  size_t Finish() {
    *at_ = '\0';
    return size();
  }

  template <size_t N>
  void Literal(const char (&text)[N]) {
    std::memcpy(at_, text, N - 1);
    at_ += N - 1;
  }
  void Raw(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void Char(char c) { *at_++ = c; }
  template <typename T>
  void Integer(T value) {
    at_ = std::to_chars(at_, at_ + 24, value).ptr;
  }
  void Hex(uint32_t value, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
      Char(kHexDigits[(value >> shift) & 0xf]);
    }
  }

  /// The shortest text that reads back exactly and does not look like an integer.
  void Float(double value) {
    if (std::isnan(value)) {
      Literal("'nan'");
    } else if (std::isinf(value)) {
      value < 0 ? Literal("'-inf'") : Literal("'inf'");
    } else {
      FiniteFloat(value);
    }
  }
  void FiniteFloat(double value) {
    char* const start = at_;
    at_ = std::to_chars(at_, at_ + 32, value).ptr;
    for (const char* c = start; c != at_; ++c) {
      if (*c == '.' || *c == 'e') return;
    }
    Literal(".0");
  }

  /// Writes a quoted string; returns whether it was truncated.
  bool Quoted(std::string_view text) {
    const std::string_view kept = CutAt(text, kMaxStringBytes);
    const bool cut = kept.size() != text.size();
    Char('\'');
    for (size_t i = 0; i < kept.size();) {
      const auto c = static_cast<unsigned char>(kept[i]);
      if (IsPlain(c)) {
        Char(kept[i++]);
      } else {
        i += Escaped(kept.substr(i));
      }
    }
    if (cut) Literal("...");
    Char('\'');
    return cut;
  }

  /// Percent-encodes for a layer's text.
  void Percent(std::string_view text) {
    const std::string_view kept = CutAt(text, kMaxStringBytes);
    for (const char c : kept) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte < 0x7f && c != '%' && c != ':') {
        Char(c);
      } else {
        Char('%');
        Char("0123456789ABCDEF"[byte >> 4]);
        Char("0123456789ABCDEF"[byte & 0xf]);
      }
    }
    if (kept.size() != text.size()) Literal("...");
  }

  /// Old parsers take any text with these four words for an op. Respells "args" if all occur.
  void Guard(const char* first_letter) {
    *at_ = '\0';
    for (const char* word : {"mod", "op", "args", "type"}) {
      if (std::strstr(begin_, word) == nullptr) return;
    }
    const size_t extra = std::strlen(first_letter) - 1;
    for (char* found = std::strstr(begin_, "args"); found != nullptr;
         found = std::strstr(found, "args")) {
      std::memmove(found + extra + 1, found + 1, static_cast<size_t>(at_ - found));
      std::memcpy(found, first_letter, extra + 1);
      at_ += extra;
      found += extra;
    }
  }

 private:
  /// Escapes the first character of `text`; returns its number of bytes.
  size_t Escaped(std::string_view text) {
    const auto c = static_cast<unsigned char>(text[0]);
    switch (c) {
      case '\\':
      case '\'':
        Char('\\');
        Char(text[0]);
        return 1;
      case '\n':
        Literal("\\n");
        return 1;
      case '\r':
        Literal("\\r");
        return 1;
      case '\t':
        Literal("\\t");
        return 1;
      default:
        return CodePoint(text);
    }
  }

  size_t CodePoint(std::string_view text) {
    uint32_t code = 0;
    const size_t size = DecodeUtf8(text, &code);
    if (size == 0) {
      Literal("\\udc");
      Hex(static_cast<unsigned char>(text[0]), 2);
      return 1;
    }
    if (code <= 0xff) {
      Literal("\\x");
      Hex(code, 2);
    } else if (code <= 0xffff) {
      Literal("\\u");
      Hex(code, 4);
    } else {
      Literal("\\U");
      Hex(code, 8);
    }
    return size;
  }

  char* const begin_;
  char* at_;
};

class ArgWriter {
 public:
  explicit ArgWriter(Writer* out) : out_(*out) {}

  /// Returns how many values were cut.
  uint64_t WriteAll(const oplens_arg* args, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const size_t before = out_.size();
      if (i > 0) out_.Literal(", ");
      const uint64_t cut_before = cut_;
      Write(args[i]);
      if (out_.size() <= kArgsEnd) continue;
      out_.Rewind(before);
      return cut_before + CountValues(args + i, count - i);
    }
    return cut_;
  }

 private:
  void Write(const oplens_arg& arg) {
    out_.Literal("{'name': ");
    if (arg.name == nullptr || *arg.name == '\0') {
      out_.Literal("''");
    } else {
      Quoted(arg.name);
    }
    switch (arg.kind) {
      case OPLENS_TENSOR:
        WriteTensor(arg);
        break;
      case OPLENS_INT:
        out_.Literal(", 'type': 'int', 'value': ");
        out_.Integer(arg.value.integer);
        break;
      case OPLENS_FLOAT:
        out_.Literal(", 'type': 'float', 'value': ");
        out_.Float(arg.value.number);
        break;
      case OPLENS_BOOLEAN:
        out_.Literal(", 'type': 'bool', 'value': ");
        WriteBool(arg.value.integer != 0);
        break;
      case OPLENS_STRING:
        out_.Literal(", 'type': 'str', 'value': ");
        Quoted(TextOf(arg));
        break;
      case OPLENS_INT_LIST:
        out_.Literal(", 'type': 'list', 'value': ");
        WriteList(arg, arg.value.ints, '[', ']', [&](int64_t value) { out_.Integer(value); });
        break;
      case OPLENS_INT_TUPLE:
        out_.Literal(", 'type': 'tuple', 'value': ");
        WriteList(arg, arg.value.ints, '(', ')', [&](int64_t value) { out_.Integer(value); });
        break;
      case OPLENS_FLOAT_LIST:
        out_.Literal(", 'type': 'list', 'value': ");
        WriteList(arg, arg.value.numbers, '[', ']', [&](double value) { out_.Float(value); });
        break;
      case OPLENS_BOOL_LIST:
        out_.Literal(", 'type': 'list', 'value': ");
        WriteList(arg, arg.value.bytes, '[', ']', [&](uint8_t value) { WriteBool(value != 0); });
        break;
      case OPLENS_COMPLEX:
        out_.Literal(", 'type': 'complex', 'value': ");
        WriteComplex(arg.value.numbers);
        break;
      case OPLENS_OTHER:
        out_.Literal(", 'type': ");
        Quoted(TextOf(arg).empty() ? "object" : TextOf(arg));
        out_.Literal(", 'value': None");
        break;
      default:
        out_.Literal(", 'type': 'NoneType', 'value': None");
    }
    out_.Char('}');
  }

  void WriteTensor(const oplens_arg& arg) {
    if (arg.value.ints == nullptr && arg.count > 0) {  // Undefined.
      out_.Literal(", 'type': 'NoneType', 'value': None");
      return;
    }
    out_.Literal(", 'type': 'tensor', 'shape': (");
    const size_t rank = arg.count < kMaxDimensions ? arg.count : kMaxDimensions;
    cut_ += arg.count - rank;
    for (size_t i = 0; i < rank; ++i) {
      if (i > 0) out_.Literal(", ");
      out_.Integer(arg.value.ints[i]);
    }
    if (rank == 1) out_.Char(',');
    out_.Literal("), 'dtype': '");
    out_.Raw(DTypeName(arg.dtype));
    out_.Char('\'');
    if (arg.list == 0) return;
    out_.Literal(", 'list': ");
    out_.Integer(arg.list);
    if (arg.more == 0) return;
    out_.Literal(", 'times': ");
    out_.Integer(arg.more + 1);
  }

  template <typename T, typename WriteItem>
  void WriteList(const oplens_arg& arg, const T* items, char open, char close,
                 const WriteItem& write) {
    const size_t count = items == nullptr ? 0 : arg.count;
    out_.Char(open);
    const size_t kept = count < kMaxListItems ? count : kMaxListItems;
    cut_ += count - kept;
    for (size_t i = 0; i < kept && out_.size() <= kArgsEnd; ++i) {
      if (i > 0) out_.Literal(", ");
      write(items[i]);
    }
    if (open == '(' && count == 1) out_.Char(',');
    out_.Char(close);
  }

  void WriteBool(bool value) { value ? out_.Literal("True") : out_.Literal("False"); }

  /// As in Python: '(1.5+2j)'.
  void WriteComplex(const double* parts) {
    const double zero[2] = {};
    if (parts == nullptr) parts = zero;
    out_.Literal("'(");
    WritePart(parts[0]);
    if (!std::signbit(parts[1]) || std::isnan(parts[1])) out_.Char('+');
    WritePart(parts[1]);
    out_.Literal("j)'");
  }
  void WritePart(double value) {
    if (std::isnan(value)) {
      out_.Literal("nan");
    } else if (std::isinf(value)) {
      value < 0 ? out_.Literal("-inf") : out_.Literal("inf");
    } else {
      out_.FiniteFloat(value);
    }
  }

  static std::string_view TextOf(const oplens_arg& arg) {
    return arg.value.text == nullptr ? std::string_view()
                                     : std::string_view(arg.value.text, arg.count);
  }
  void Quoted(std::string_view text) { cut_ += out_.Quoted(text) ? 1u : 0u; }

  Writer& out_;
  uint64_t cut_ = 0;
};

void WriteFacts(const CallFacts& facts, Writer* out) {
  out->Literal(", 'seq': ");
  out->Integer(facts.seq < 0 ? int64_t{-1} : facts.seq);
  out->Literal(", 'tid': ");
  out->Integer(facts.tid);
  out->Literal(", 'ftid': ");
  out->Integer(facts.ftid);
  out->Literal(", 'dir': '");
  out->Char(static_cast<char>(facts.dir));
  out->Char('\'');
}

/// Maximum size of a trace frame. `scratch`: an empty writer.
size_t FrameBytes(std::string_view frame, Writer* scratch) {
  scratch->Quoted(frame);
  const size_t size = scratch->size();
  scratch->Rewind(0);
  size_t guarded = 0;  // Growth by Writer::Guard.
  for (size_t at = frame.find("args"); at != frame.npos; at = frame.find("args", at + 4)) {
    guarded += 3;
  }
  return size + guarded + 2;
}

void WriteHandles(const CallFacts& facts, Writer* out) {
  if (facts.h != 0) {
    out->Literal(", 'h': ");
    out->Integer(facts.h);
  }
  if (facts.fh != 0) {
    out->Literal(", 'fh': ");
    out->Integer(facts.fh);
  }
}

}  // namespace

const char* DTypeName(unsigned dtype) noexcept {
  // By OPLENS_* dtype.
  static constexpr const char* kNames[] = {"",
                                           "bool",
                                           "uint8",
                                           "int8",
                                           "uint16",
                                           "int16",
                                           "uint32",
                                           "int32",
                                           "uint64",
                                           "int64",
                                           "float16",
                                           "bfloat16",
                                           "float32",
                                           "float64",
                                           "complex32",
                                           "complex64",
                                           "complex128",
                                           "float8_e4m3fn",
                                           "float8_e5m2",
                                           "float8_e4m3fnuz",
                                           "float8_e5m2fnuz",
                                           "float8_e8m0fnu",
                                           "float4_e2m1fn_x2",
                                           "qint8",
                                           "quint8",
                                           "qint32",
                                           "quint4x2",
                                           "quint2x4",
                                           "int4",
                                           "uint4"};
  static_assert(sizeof(kNames) / sizeof(*kNames) == OPLENS_UINT4 + 1);
  return dtype <= OPLENS_UINT4 ? kNames[dtype] : "";
}

uint64_t CountValues(const oplens_arg* args, size_t count) noexcept {
  uint64_t values = 0;
  for (size_t i = 0; i < count; ++i) {
    switch (args[i].kind) {
      case OPLENS_INT_LIST:
      case OPLENS_INT_TUPLE:
      case OPLENS_FLOAT_LIST:
      case OPLENS_BOOL_LIST:
        values += args[i].count > 0 ? args[i].count : 1;
        break;
      default:
        values += args[i].list == 0 ? 1 : uint64_t{args[i].more} + 1;
    }
  }
  return values;
}

size_t FormatOp(const OpNames& names, const CallFacts* facts, const oplens_arg* args, size_t count,
                uint64_t cut, char* buffer) noexcept {
  Writer out(buffer);
  out.Literal("{'mod': ");
  cut += out.Quoted(View(names.mod)) ? 1u : 0u;
  out.Literal(", 'op': ");
  cut += out.Quoted(View(names.op)) ? 1u : 0u;
  out.Literal(", 'args': [");
  cut += ArgWriter(&out).WriteAll(args, args == nullptr ? 0 : count);
  out.Literal("], 'oplens': {'v': 1, 'type': 'op'");
  if (facts != nullptr) WriteFacts(*facts, &out);
  if (!View(names.aten).empty()) {
    out.Literal(", 'aten': ");
    cut += out.Quoted(names.aten) ? 1u : 0u;
  }
  if (facts != nullptr) WriteHandles(*facts, &out);
  if (cut > 0) {
    out.Literal(", 'cut': ");
    out.Integer(cut);
  }
  out.Literal("}}");
  return out.Finish();
}

size_t FormatNode(const char* node, const CallFacts* facts, char* buffer) noexcept {
  Writer out(buffer);
  out.Literal("{'oplens': {'v': 1");
  if (facts != nullptr) WriteFacts(*facts, &out);
  out.Literal(", 'node': ");
  const bool cut = out.Quoted(View(node));
  if (facts != nullptr) WriteHandles(*facts, &out);
  if (cut) out.Literal(", 'cut': 1");
  out.Literal("}}");
  out.Guard("\\x61");
  return out.Finish();
}

size_t FormatSequence(const char* name, int64_t seq, bool node, char* buffer) noexcept {
  std::string_view text = View(name);
  const size_t colon = text.rfind("::");
  if (colon != text.npos && colon + 2 < text.size()) {
    text.remove_prefix(colon + 2);
    if (!node && text.front() != '.') text = text.substr(0, text.find('.'));
  }
  if (node) {
    std::string_view bare = text;
    while (!bare.empty() && bare.back() >= '0' && bare.back() <= '9') bare.remove_suffix(1);
    if (!bare.empty()) text = bare;
  }
  Writer out(buffer);
  for (const char c : CutAt(text, kMaxStringBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    // Readers search for these characters, and take a leading '{' or "layer:" for other texts.
    const bool special = c == ',' || c == '=' || c == ':' || c == '{';
    out.Char(byte < 0x20 || byte >= 0x7f || special ? '_' : c);
  }
  out.Literal(", seq = ");
  out.Integer(seq);
  out.Guard("_");
  return out.Finish();
}

size_t FormatTrace(const char* const* frames, size_t count, int64_t line, char* buffer) noexcept {
  constexpr char kBegin[] = "{'traceMarker': [";
  constexpr size_t kLineBytes = 24;
  Writer out(buffer);
  // The innermost frames that fit.
  size_t first = count;
  size_t bytes = sizeof kBegin + kLineBytes + 4;
  while (first > 0 && count - first < kMaxFrames) {
    bytes += FrameBytes(View(frames[first - 1]), &out);
    if (bytes > kMaxTextBytes && first < count) break;
    --first;
  }
  out.Literal(kBegin);
  for (size_t i = first; i < count; ++i) {
    if (i > first) out.Literal(", ");
    out.Quoted(View(frames[i]));
    if (line <= 0 || i + 1 != count) continue;
    out.Rewind(out.size() - 1);
    out.Char(':');
    out.Integer(line);
    out.Char('\'');
  }
  out.Literal("]}");
  out.Guard("\\x61");
  return out.Finish();
}

size_t FormatLayer(std::string_view path, char* buffer) noexcept {
  Writer out(buffer);
  out.Raw(kLayerPrefix);
  out.Percent(path);
  out.Guard("%61");
  return out.Finish();
}

size_t FormatFree(std::string_view text, char* buffer) noexcept {
  // Readers take such texts for PyTorch's or oplens'.
  constexpr std::string_view kStarts[] = {"{", kLayerPrefix, "aten:"};
  constexpr std::string_view kKeys[] = {"seq", "op_id", "sizes", "input_op_ids"};
  const auto ends_with_key = [&](size_t end) {
    if (end > 0 && text[end - 1] == ' ') --end;
    return std::any_of(std::begin(kKeys), std::end(kKeys), [&](std::string_view key) {
      return end >= key.size() && text.substr(end - key.size(), key.size()) == key;
    });
  };
  size_t special = text.npos;  // Last character of such a prefix.
  for (const std::string_view start : kStarts) {
    if (text.substr(0, start.size()) == start) special = start.size() - 1;
  }
  Writer out(buffer);
  size_t i = 0;
  for (; i < text.size() && out.size() + 4 <= kMaxTextBytes; ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out.Literal("\\n");
    } else if (c == '\r') {
      out.Literal("\\r");
    } else if (c == '\t') {
      out.Literal("\\t");
    } else if (byte < 0x20 || byte == 0x7f) {
      out.Literal("\\x");
      out.Hex(byte, 2);
    } else if (i == special || (c == '=' && ends_with_key(i))) {
      out.Char('%');
      out.Hex(byte, 2);
    } else {
      out.Char(c);
    }
  }
  if (i < text.size()) out.Rewind(CutAt({buffer, out.size()}, out.size() - 1).size());
  return out.Finish();
}

size_t FormatPlain(std::string_view prefix, std::string_view text, char* buffer) noexcept {
  Writer out(buffer);
  out.Raw(prefix);
  out.Raw(text);
  return out.Finish();
}

}  // namespace oplens::markers
