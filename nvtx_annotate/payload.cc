#include "nvtx_annotate/payload.h"

#include <charconv>
#include <cstring>

namespace oplens::markers {
namespace {

size_t Length(const char* text) { return text == nullptr ? 0 : std::strlen(text); }

/// The first `limit` bytes at most, no code point cut in two.
size_t CutLength(const char* text, size_t size, size_t limit) {
  if (size <= limit) return size;
  size_t end = limit;
  while (end > 0 && limit - end < 3 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return end;
}

/// Writes arguments one behind the other, into a buffer that has room for one more than is kept.
class Encoder {
 public:
  explicit Encoder(unsigned char* at) : at_(at) {}

  unsigned char* at() const { return at_; }
  unsigned cut() const { return cut_; }

  void Write(const oplens_arg& arg, size_t list_limit) {
    if (arg.kind == OPLENS_TENSOR && arg.name == nullptr && arg.list == 0 &&
        arg.count <= kFewDimensions && (arg.value.ints != nullptr || arg.count == 0)) {
      return WriteTensor(OPLENS_TENSOR, arg, arg.count);
    }
    WriteAny(arg, list_limit);
  }

 private:
  // Most tensors: copied without a call.
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
    at_ += tag_bytes;
    at_[0] = static_cast<uint8_t>(arg.dtype <= OPLENS_UINT4 ? arg.dtype
                                                            : uint16_t{OPLENS_DTYPE_UNKNOWN});
    at_[1] = static_cast<uint8_t>(rank);
    at_ += 2;
    for (size_t i = 0; i < rank; ++i) Number(arg.value.ints[i]);
  }

  void WriteAny(const oplens_arg& arg, size_t list_limit) {
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
        return WriteList(arg, arg.value.ints, sizeof(int64_t), list_limit);
      case OPLENS_FLOAT_LIST:
        return WriteList(arg, arg.value.numbers, sizeof(double), list_limit);
      case OPLENS_BOOL_LIST:
        return WriteList(arg, arg.value.bytes, 1, list_limit);
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
    const bool listed = arg.list != 0 && arg.kind == OPLENS_TENSOR && known;
    if (named) tag |= kNamedTag;
    if (listed) tag |= kListTag;
    Number(tag);
    if (named) {
      const size_t whole = std::strlen(arg.name);
      const size_t size = CutLength(arg.name, whole, UINT8_MAX);
      if (size != whole) ++cut_;
      Number(static_cast<uint8_t>(size));
      Bytes(arg.name, size);
    }
    if (listed) Number(static_cast<uint8_t>(arg.list < UINT8_MAX ? arg.list : UINT8_MAX));
  }

  void WriteRankedTensor(const oplens_arg& arg) {
    if (IsUndefined(arg)) return;
    const size_t rank = arg.count < kMaxDimensions ? arg.count : kMaxDimensions;
    if (rank != arg.count) ++cut_;
    TensorValue(arg, rank, 0);
  }

  void WriteComplex(const oplens_arg& arg) {
    const double zero[2] = {};
    Bytes(arg.value.numbers == nullptr ? zero : arg.value.numbers, sizeof zero);
  }

  /// A few bytes more than a text may show are kept, so that the cut is told when it is rendered.
  void WriteText(const oplens_arg& arg) {
    const size_t whole = arg.value.text == nullptr ? 0 : arg.count;
    const size_t kept = whole <= kMaxStringBytes ? whole : kMaxStringBytes + 4;
    const size_t size = kept < whole ? kept : whole;
    Number(static_cast<uint16_t>(size));
    Bytes(arg.value.text, size);
  }

  void WriteList(const oplens_arg& arg, const void* items, size_t item_bytes, size_t limit) {
    const size_t whole = items == nullptr ? 0 : arg.count;
    const size_t kept = whole < limit ? whole : limit;
    if (kept != whole) ++cut_;
    Number(static_cast<uint8_t>(kept));
    Bytes(items, kept * item_bytes);
  }

  unsigned char* at_;
  unsigned cut_ = 0;
};

/// What of a list of arguments a payload holds.
struct Encoded {
  unsigned char* end;
  size_t args;
  unsigned cut;
};

Encoded EncodeArgs(const oplens_arg* args, size_t count, size_t list_limit, unsigned char* begin,
                   const unsigned char* limit) {
  const size_t most = count < UINT8_MAX ? count : UINT8_MAX;
  Encoder out(begin);
  for (size_t i = 0; i < most; ++i) {
    unsigned char* const before = out.at();
    const unsigned cut_before = out.cut();
    out.Write(args[i], list_limit);
    if (out.at() > limit) return {before, i, cut_before + static_cast<unsigned>(count - i)};
  }
  return {out.at(), most, out.cut() + static_cast<unsigned>(count - most)};
}

/// Reads what an Encoder wrote, from memory that may hold anything.
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

/// Arguments rebuilt from a payload, in memory of their own.
struct DecodedArgs {
  oplens_arg args[UINT8_MAX];
  // Aligned copies of numbers and names with a zero at the end; a payload cannot hold more.
  int64_t numbers[kMaxPayloadBytes / sizeof(int64_t)];
  char names[2 * kMaxPayloadBytes];
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
    ReadValue(arg);
    return in_.ok() && arg->kind <= OPLENS_OTHER;
  }

 private:
  void ReadName(oplens_arg* arg) {
    const size_t size = in_.Number<uint8_t>();
    const unsigned char* const name = in_.Take(size);
    if (name == nullptr || size + 1 > sizeof out_.names - names_) return;
    char* const copy = out_.names + names_;
    std::memcpy(copy, name, size);
    copy[size] = '\0';
    names_ += size + 1;
    arg->name = copy;
  }

  const int64_t* TakeNumbers(size_t count) {
    const unsigned char* const data = in_.Take(count * sizeof(int64_t));
    if (data == nullptr || count > sizeof out_.numbers / sizeof(int64_t) - numbers_) return nullptr;
    int64_t* const copy = out_.numbers + numbers_;
    std::memcpy(copy, data, count * sizeof(int64_t));
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
        arg->count = in_.Number<uint8_t>();
        arg->value.ints = TakeNumbers(arg->count);
        break;
      case OPLENS_FLOAT_LIST:
        arg->count = in_.Number<uint8_t>();
        arg->value.numbers = Doubles(TakeNumbers(arg->count));
        break;
      case OPLENS_BOOL_LIST:
        arg->count = in_.Number<uint8_t>();
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

/// Percent-encodes '%', '|' and control bytes, and '.' too if `dots`.
size_t AppendEncoded(const char* text, bool dots, char* out) {
  const size_t whole = Length(text);
  const size_t size = CutLength(text, whole, kMaxStringBytes / 2);
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

/// Undoes AppendEncoded, into `out` with a zero at the end.
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

/// The names of an op from the message of its range, in `memory`.
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
  /// What stands before the next bar, which is dropped with it.
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

size_t EncodePayload(const CallFacts& facts, uint16_t flags, const oplens_arg* args, size_t count,
                     unsigned char* buffer) noexcept {
  if (args == nullptr) count = 0;
  unsigned char* const first = buffer + sizeof(PayloadHead);
  const unsigned char* const limit = buffer + kMaxPayloadBytes;
  Encoded encoded = EncodeArgs(args, count, UINT8_MAX, first, limit);
  if (encoded.args < count) encoded = EncodeArgs(args, count, kShortList, first, limit);
  const unsigned cut = encoded.cut < UINT8_MAX ? encoded.cut : UINT8_MAX;
  // Field by field to where it belongs: a head that is built elsewhere and copied waits for its own
  // stores.
  auto* const head = reinterpret_cast<PayloadHead*>(buffer);
  head->seq = facts.seq;
  head->tid = facts.tid;
  head->ftid = facts.ftid;
  head->h = facts.h;
  head->dir = static_cast<char>(facts.dir);
  head->arg_count = static_cast<uint8_t>(encoded.args);
  head->flags = static_cast<uint16_t>(flags | cut << kCutShift);
  head->bytes = static_cast<uint32_t>(encoded.end - buffer);
  return head->bytes;
}

bool RenderPayload(const char* message, const unsigned char* data, size_t size,
                   RenderedMarker* out) noexcept {
  out->trace_size = out->main_size = out->sequence_size = 0;
  if (data == nullptr || size < sizeof(PayloadHead)) return false;
  PayloadHead head;
  std::memcpy(&head, data, sizeof head);
  if (head.bytes > size || head.bytes < sizeof head) return false;

  static thread_local DecodedArgs decoded;
  Decoder in(data + sizeof head, head.bytes - sizeof head);
  ArgDecoder arg_decoder(&in, &decoded);
  for (size_t i = 0; i < head.arg_count; ++i) {
    if (!arg_decoder.Read(&decoded.args[i])) return false;
  }
  CallFacts facts;
  facts.seq = head.seq;
  facts.tid = head.tid;
  facts.ftid = head.ftid;
  facts.h = head.h;
  constexpr std::string_view kDirections = "fbrgon";
  facts.dir = kDirections.find(head.dir) == kDirections.npos ? Direction::kNone
                                                             : static_cast<Direction>(head.dir);
  const bool node = (head.flags & kNodeFlag) != 0;
  const MessageNames parsed(message == nullptr ? "" : message);
  if (parsed.site[0] != '\0') {
    const char* const frames[] = {parsed.site};
    out->trace_size = FormatTrace(frames, 1, 0, out->trace);
  }
  const char* const name = parsed.names.op;
  if (node) {
    out->main_size = FormatNode(name, facts, out->main);
  } else if ((head.flags & kSeqOnlyFlag) == 0) {
    out->main_size = FormatOp(parsed.names, facts, decoded.args, head.arg_count,
                              head.flags >> kCutShift, out->main);
  }
  if (facts.seq >= 0) {
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
