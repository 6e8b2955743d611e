#include "nvtx_annotate/payload.h"

#include <charconv>
#include <cstring>
#include <vector>

namespace oplens::markers {
namespace {

size_t Length(const char* text) { return text == nullptr ? 0 : std::strlen(text); }

/// Strings keep a few bytes more than their text shows, so that rendering truncates them and marks
/// the cut.
size_t KeptLength(size_t whole) {
  constexpr size_t kKept = kMaxStringBytes + 4;
  return whole < kKept ? whole : kKept;
}

/// Writes consecutive arguments up to `limit`. The buffer must have space for one more argument
/// after it.
class Encoder {
 public:
  Encoder(unsigned char* at, const unsigned char* limit) : at_(at), limit_(limit) {}

  unsigned char* at() const { return at_; }
  uint64_t cut() const { return cut_; }

  /// Returns false and writes nothing if there is no space.
  bool Write(const oplens_arg& arg) {
    unsigned char* const before = at_;
    const uint64_t cut_before = cut_;
    if (arg.kind == OPLENS_TENSOR && arg.name == nullptr && arg.list == 0 &&
        arg.count <= kFewDimensions && (arg.value.ints != nullptr || arg.count == 0)) {
      WriteTensor(OPLENS_TENSOR, arg, arg.count);
    } else {
      WriteAny(arg);
    }
    if (at_ <= limit_) return true;
    at_ = before;
    cut_ = cut_before;
    return false;
  }

 private:
  // Most tensors: copied inline.
  static constexpr size_t kFewDimensions = 8;

  template <typename T>
  void Number(T value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void Bytes(const void* data, size_t size) {
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }

  void WriteTensor(uint8_t tag, const oplens_arg& arg, size_t rank) {
    at_[0] = tag;
    TensorValue(arg, rank, 1);
  }

  void TensorValue(const oplens_arg& arg, size_t rank, size_t tag_bytes) {
    at_ = PlainArgs::PutTensor(arg.dtype, arg.value.ints, rank, at_ + tag_bytes);
  }

  void WriteAny(const oplens_arg& arg) {
    WriteHead(arg);
    switch (arg.kind) {
      case OPLENS_TENSOR:
        return WriteRankedTensor(arg);
      case OPLENS_INT:
        return Number(arg.value.integer);
      case OPLENS_FLOAT:
        return Number(arg.value.number);
      case OPLENS_BOOLEAN:
        return Number(static_cast<uint8_t>(arg.value.integer != 0));
      case OPLENS_COMPLEX:
        return WriteComplex(arg);
      case OPLENS_STRING:
      case OPLENS_OTHER:
        return WriteText(arg);
      case OPLENS_INT_LIST:
      case OPLENS_INT_TUPLE:
        return WriteList(arg, arg.value.ints, sizeof(int64_t));
      case OPLENS_FLOAT_LIST:
        return WriteList(arg, arg.value.numbers, sizeof(double));
      case OPLENS_BOOL_LIST:
        return WriteList(arg, arg.value.bytes, 1);
      default:
        return;
    }
  }

  static bool IsUndefined(const oplens_arg& arg) {
    return arg.kind == OPLENS_TENSOR && arg.value.ints == nullptr && arg.count > 0;
  }

  void WriteHead(const oplens_arg& arg) {
    const bool known = arg.kind <= OPLENS_OTHER && !IsUndefined(arg);
    auto tag = static_cast<uint8_t>(known ? arg.kind : uint16_t{OPLENS_NONE});
    const bool named = arg.name != nullptr && *arg.name != '\0';
    const bool listed = IsListed(arg);
    if (named) tag |= kNamedTag;
    if (listed) tag |= kListTag;
    if (listed && arg.more > 0) tag |= kMoreTag;
    Number(tag);
    if (named) {
      WriteBytes(arg.name, std::strlen(arg.name));
    }
    if (listed) Number(static_cast<uint8_t>(arg.list < UINT8_MAX ? arg.list : UINT8_MAX));
    if (listed && arg.more > 0) Number(arg.more);
  }

  void WriteRankedTensor(const oplens_arg& arg) {
    if (IsUndefined(arg)) return;
    const size_t rank = arg.count < kMaxDimensions ? arg.count : kMaxDimensions;
    cut_ += arg.count - rank;
    TensorValue(arg, rank, 0);
  }

  void WriteComplex(const oplens_arg& arg) {
    const double zero[2] = {};
    Bytes(arg.value.numbers == nullptr ? zero : arg.value.numbers, sizeof zero);
  }

  void WriteText(const oplens_arg& arg) {
    WriteBytes(arg.value.text, arg.value.text == nullptr ? 0 : arg.count);
  }
  void WriteBytes(const char* text, size_t whole) {
    const size_t size = KeptLength(whole);
    Number(static_cast<uint16_t>(size));
    Bytes(text, size);
  }

  void WriteList(const oplens_arg& arg, const void* items, size_t item_bytes) {
    const size_t count = items == nullptr ? 0 : arg.count;
    const size_t kept = count < kMaxListItems ? count : kMaxListItems;
    cut_ += count - kept;
    Number(static_cast<uint16_t>(kept));
    Bytes(items, kept * item_bytes);
  }

  unsigned char* at_;
  const unsigned char* const limit_;
  uint64_t cut_ = 0;
};

/// The part of an argument list that fits into a payload.
struct Encoded {
  unsigned char* end;
  size_t args;
  uint64_t cut;
};

Encoded EncodeArgs(const oplens_arg* args, size_t count, unsigned char* begin,
                   const unsigned char* limit) {
  Encoder out(begin, limit);
  size_t i = 0;
  while (i < count && i < UINT16_MAX && out.Write(args[i])) ++i;
  return {out.at(), i, out.cut() + CountValues(args + i, count - i)};
}

/// Reads the output of an Encoder from untrusted memory.
class Decoder {
 public:
  Decoder(const unsigned char* data, size_t size) : at_(data), end_(data + size) {}

  bool ok() const { return ok_; }
  const unsigned char* Take(size_t size) {
    if (size > static_cast<size_t>(end_ - at_)) {
      ok_ = false;
      at_ = end_;
      return nullptr;
    }
    const unsigned char* const taken = at_;
    at_ += size;
    return taken;
  }
  template <typename T>
  T Number() {
    T value{};
    if (const unsigned char* const data = Take(sizeof value))
      std::memcpy(&value, data, sizeof value);
    return value;
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
  bool ok_ = true;
};

/// Arguments decoded from a payload, with their own memory.
struct DecodedArgs {
  /// Reserves for the largest payload of this size: each argument, number and name takes at least
  /// as many bytes in it.
  explicit DecodedArgs(size_t payload_bytes)
      : args(payload_bytes), numbers(payload_bytes / sizeof(int64_t)), names(payload_bytes) {}

  std::vector<oplens_arg> args;
  // Aligned copies of numbers, and zero-terminated names.
  std::vector<int64_t> numbers;
  std::vector<char> names;
};

class ArgDecoder {
 public:
  ArgDecoder(Decoder* in, DecodedArgs* out) : in_(*in), out_(*out) {}

  bool Read(oplens_arg* arg) {
    *arg = oplens_arg{};
    const auto tag = in_.Number<uint8_t>();
    arg->kind = tag & kKindMask;
    if ((tag & kNamedTag) != 0) ReadName(arg);
    if ((tag & kListTag) != 0) arg->list = in_.Number<uint8_t>();
    if ((tag & kMoreTag) != 0) arg->more = in_.Number<uint16_t>();
    ReadValue(arg);
    return in_.ok() && arg->kind <= OPLENS_OTHER;
  }

 private:
  void ReadName(oplens_arg* arg) {
    const size_t size = in_.Number<uint16_t>();
    const unsigned char* const name = in_.Take(size);
    if (name == nullptr) return;
    char* const copy = &out_.names[names_];
    std::memcpy(copy, name, size);
    copy[size] = '\0';
    names_ += size + 1;
    arg->name = copy;
  }

  const int64_t* TakeNumbers(size_t count) {
    const unsigned char* const data = in_.Take(count * sizeof(int64_t));
    if (data == nullptr) return nullptr;
    int64_t* const copy = out_.numbers.data() + numbers_;
    if (count > 0) std::memcpy(copy, data, count * sizeof(int64_t));
    numbers_ += count;
    return copy;
  }

  void ReadValue(oplens_arg* arg) {
    switch (arg->kind) {
      case OPLENS_TENSOR:
        arg->dtype = in_.Number<uint8_t>();
        arg->count = in_.Number<uint8_t>();
        arg->value.ints = TakeNumbers(arg->count);
        break;
      case OPLENS_INT:
        arg->value.integer = in_.Number<int64_t>();
        break;
      case OPLENS_FLOAT:
        arg->value.number = in_.Number<double>();
        break;
      case OPLENS_BOOLEAN:
        arg->value.integer = in_.Number<uint8_t>();
        break;
      case OPLENS_COMPLEX:
        arg->value.numbers = Doubles(TakeNumbers(2));
        break;
      case OPLENS_STRING:
      case OPLENS_OTHER:
        arg->count = in_.Number<uint16_t>();
        arg->value.bytes = in_.Take(arg->count);
        if (arg->value.bytes == nullptr) arg->count = 0;
        arg->value.text = reinterpret_cast<const char*>(arg->value.bytes);
        break;
      case OPLENS_INT_LIST:
      case OPLENS_INT_TUPLE:
        arg->count = in_.Number<uint16_t>();
        arg->value.ints = TakeNumbers(arg->count);
        break;
      case OPLENS_FLOAT_LIST:
        arg->count = in_.Number<uint16_t>();
        arg->value.numbers = Doubles(TakeNumbers(arg->count));
        break;
      case OPLENS_BOOL_LIST:
        arg->count = in_.Number<uint16_t>();
        arg->value.bytes = in_.Take(arg->count);
        break;
      default:
        break;
    }
  }

  /// The bytes at `numbers` were written as doubles and are never read as integers.
  static const double* Doubles(const int64_t* numbers) {
    return static_cast<const double*>(static_cast<const void*>(numbers));
  }

  Decoder& in_;
  DecodedArgs& out_;
  size_t names_ = 0;
  size_t numbers_ = 0;
};

char HexDigit(unsigned value) {
  return static_cast<char>(value < 10 ? '0' + value : 'A' + value - 10);
}

/// Percent-encodes '%', '|' and control bytes, and with `dots` also '.'.
size_t AppendEncoded(const char* text, bool dots, char* out) {
  const size_t size = KeptLength(Length(text));
  size_t at = 0;
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '%' || byte == '|' || byte < 0x20 || (dots && byte == '.')) {
      out[at++] = '%';
      out[at++] = HexDigit(byte >> 4);
      out[at++] = HexDigit(byte & 0xf);
    } else {
      out[at++] = text[i];
    }
  }
  return at;
}

unsigned HexValue(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 16;
}

/// Reverses AppendEncoded into zero-terminated `out`.
char* Decoded(std::string_view text, char* out) {
  size_t at = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexValue(text[i + 1]) < 16 &&
        HexValue(text[i + 2]) < 16) {
      out[at++] = static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
      i += 2;
    } else {
      out[at++] = text[i];
    }
  }
  out[at] = '\0';
  return out;
}

/// The names of an op, parsed from the message of its range.
struct MessageNames {
  explicit MessageNames(std::string_view message) {
    message = message.substr(0, kMessageBufferBytes);
    const std::string_view call = NextPart(&message);
    const std::string_view framework_name = NextPart(&message);
    if (!framework_name.empty()) names.aten = Decoded(framework_name, aten);
    Decoded(message, site);
    const size_t dot = call.rfind('.');
    if (dot != call.npos) names.mod = Decoded(call.substr(0, dot), mod);
    names.op = Decoded(dot == call.npos ? call : call.substr(dot + 1), op);
  }
  /// Removes and returns the part before the next bar, which is dropped.
  static std::string_view NextPart(std::string_view* text) {
    const size_t bar = text->find('|');
    const std::string_view part = text->substr(0, bar);
    text->remove_prefix(bar == text->npos ? text->size() : bar + 1);
    return part;
  }
  char mod[kMessageBufferBytes + 1];
  char op[kMessageBufferBytes + 1];
  char aten[kMessageBufferBytes + 1];
  char site[kMessageBufferBytes + 1];  ///< "FILE:LINE" or nothing.
  OpNames names;
};

}  // namespace

size_t EncodePayload(const CallFacts& facts, uint8_t flags, const oplens_arg* args, size_t count,
                     unsigned char* buffer) noexcept {
  if (args == nullptr) count = 0;
  unsigned char* const first = PutForward(facts, &flags, buffer + sizeof(PayloadHead));
  const unsigned char* const limit = buffer + kMaxPayloadBytes;
  Encoded encoded = EncodeArgs(args, count, first, limit);
  if (encoded.cut > 0) {
    // Again, with the number before the arguments.
    uint32_t cut = 0;
    encoded = EncodeArgs(args, count, first + sizeof cut, limit);
    cut = static_cast<uint32_t>(encoded.cut < UINT32_MAX ? encoded.cut : UINT32_MAX);
    std::memcpy(first, &cut, sizeof cut);
    flags |= kCutFlag;
  }
  return PutHead(facts, flags, encoded.args, encoded.end, buffer);
}

bool ReadFacts(const unsigned char* data, size_t size, PayloadFacts* out) noexcept {
  if (data == nullptr || size < sizeof(PayloadHead)) return false;
  PayloadHead head;
  std::memcpy(&head, data, sizeof head);
  if (head.bytes > size || head.bytes < sizeof head) return false;
  *out = PayloadFacts();
  out->facts.seq = head.seq;
  out->facts.h = head.h;
  out->facts.tid = head.tid;
  constexpr std::string_view kDirections = "fbrgon";
  out->facts.dir = kDirections.find(head.dir) == kDirections.npos
                       ? Direction::kNone
                       : static_cast<Direction>(head.dir);
  out->flags = head.flags;
  out->arg_count = head.arg_count;
  out->args_at = sizeof head;
  out->end = head.bytes;
  if ((head.flags & kForwardFlag) == 0) return true;
  ForwardPart part;
  if (out->end - out->args_at < sizeof part) return false;
  std::memcpy(&part, data + out->args_at, sizeof part);
  out->facts.ftid = part.ftid;
  out->facts.fh = part.fh;
  out->args_at += sizeof part;
  return true;
}

bool RenderPayload(const char* message, const unsigned char* data, size_t size, Facts place,
                   RenderedMarker* out) {
  out->trace_size = out->main_size = out->sequence_size = 0;
  PayloadFacts head;
  if (!ReadFacts(data, size, &head)) return false;
  const size_t arg_bytes = head.end - head.args_at;
  Decoder in(data + head.args_at, arg_bytes);
  const uint64_t cut = (head.flags & kCutFlag) != 0 ? in.Number<uint32_t>() : 0;
  if (head.arg_count > arg_bytes) return false;
  DecodedArgs decoded(arg_bytes);
  ArgDecoder arg_decoder(&in, &decoded);
  for (size_t i = 0; i < head.arg_count; ++i) {
    if (!arg_decoder.Read(&decoded.args[i])) return false;
  }
  if (!in.ok()) return false;
  const CallFacts& facts = head.facts;
  const bool node = (head.flags & kNodeFlag) != 0;
  const bool seq_only = (head.flags & kSeqOnlyFlag) != 0;
  const CallFacts* const told = place == Facts::kInText ? &facts : nullptr;
  const MessageNames parsed(message == nullptr ? "" : message);
  if (parsed.site[0] != '\0') {
    const char* const frames[] = {parsed.site};
    out->trace_size = FormatTrace(frames, 1, 0, out->trace);
  }
  const char* const name = parsed.names.op;
  if (node) {
    out->main_size = FormatNode(name, told, out->main);
  } else if (!seq_only) {
    out->main_size =
        FormatOp(parsed.names, told, decoded.args.data(), head.arg_count, cut, out->main);
  }
  if (facts.seq >= 0 && (told != nullptr || seq_only)) {
    const char* const shown = parsed.names.aten != nullptr ? parsed.names.aten : name;
    out->sequence_size = FormatSequence(shown, facts.seq, node, out->sequence);
  }
  return true;
}

size_t FormatMessage(const OpNames& names, char* buffer) noexcept {
  size_t size = 0;
  if (Length(names.mod) > 0) {
    size += AppendEncoded(names.mod, false, buffer);
    buffer[size++] = '.';
  }
  size += AppendEncoded(names.op, true, buffer + size);
  const bool site = Length(names.file) > 0;
  if (Length(names.aten) > 0 || site) {
    buffer[size++] = '|';
    size += AppendEncoded(names.aten, false, buffer + size);
  }
  if (site) {
    buffer[size++] = '|';
    size += AppendEncoded(names.file, false, buffer + size);
    buffer[size++] = ':';
    size = static_cast<size_t>(std::to_chars(buffer + size, buffer + size + 12, names.line).ptr -
                               buffer);
  }
  buffer[size] = '\0';
  return size;
}

}  // namespace oplens::markers
