#include "nvtx_annotate/payload.h"

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

/// Appends to a buffer of kMaxPayloadBytes; what does not fit is refused.
class Encoder {
 public:
  explicit Encoder(unsigned char* buffer) : begin_(buffer), at_(buffer + sizeof(PayloadHead)) {}

  size_t size() const { return static_cast<size_t>(at_ - begin_); }
  void Rewind(size_t size) {
    at_ = begin_ + size;
    full_ = false;
  }
  bool full() const { return full_; }

  void Bytes(const void* data, size_t size) {
    if (size > kMaxPayloadBytes - this->size()) {
      full_ = true;
      return;
    }
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }
  template <typename T>
  void Number(T value) {
    Bytes(&value, sizeof value);
  }

 private:
  unsigned char* const begin_;
  unsigned char* at_;
  bool full_ = false;
};

/// Writes one argument; counts what it cut.
class ArgEncoder {
 public:
  ArgEncoder(Encoder* out, size_t list_limit) : out_(*out), list_limit_(list_limit) {}

  unsigned cut() const { return cut_; }

  void Write(const oplens_arg& arg) {
    WriteHead(arg);
    switch (arg.kind) {
      case OPLENS_TENSOR:
        WriteTensor(arg);
        break;
      case OPLENS_INT:
        out_.Number(arg.value.integer);
        break;
      case OPLENS_FLOAT:
        out_.Number(arg.value.number);
        break;
      case OPLENS_BOOLEAN:
        out_.Number(static_cast<uint8_t>(arg.value.integer != 0));
        break;
      case OPLENS_COMPLEX:
        WriteComplex(arg);
        break;
      case OPLENS_STRING:
      case OPLENS_OTHER:
        WriteText(arg);
        break;
      case OPLENS_INT_LIST:
      case OPLENS_INT_TUPLE:
        WriteList(arg, arg.value.ints, sizeof(int64_t));
        break;
      case OPLENS_FLOAT_LIST:
        WriteList(arg, arg.value.numbers, sizeof(double));
        break;
      case OPLENS_BOOL_LIST:
        WriteList(arg, arg.value.bytes, 1);
        break;
      default:
        break;
    }
  }

 private:
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
    out_.Number(tag);
    if (named) {
      const size_t whole = std::strlen(arg.name);
      const size_t size = CutLength(arg.name, whole, UINT8_MAX);
      if (size != whole) ++cut_;
      out_.Number(static_cast<uint8_t>(size));
      out_.Bytes(arg.name, size);
    }
    if (listed) out_.Number(static_cast<uint8_t>(arg.list < UINT8_MAX ? arg.list : UINT8_MAX));
  }

  void WriteTensor(const oplens_arg& arg) {
    if (IsUndefined(arg)) return;
    const size_t rank = arg.count < kMaxDimensions ? arg.count : kMaxDimensions;
    if (rank != arg.count) ++cut_;
    out_.Number(static_cast<uint8_t>(arg.dtype <= OPLENS_UINT4 ? arg.dtype
                                                               : uint16_t{OPLENS_DTYPE_UNKNOWN}));
    out_.Number(static_cast<uint8_t>(rank));
    out_.Bytes(arg.value.ints, rank * sizeof(int64_t));
  }

  void WriteComplex(const oplens_arg& arg) {
    const double zero[2] = {};
    out_.Bytes(arg.value.numbers == nullptr ? zero : arg.value.numbers, sizeof zero);
  }

  /// One byte more than a text may show is kept, so that the cut can be told when it is rendered.
  void WriteText(const oplens_arg& arg) {
    const size_t whole = arg.value.text == nullptr ? 0 : arg.count;
    const size_t size = whole <= kMaxStringBytes ? whole : kMaxStringBytes + 4;
    const size_t kept = size < whole ? size : whole;
    out_.Number(static_cast<uint16_t>(kept));
    out_.Bytes(arg.value.text, kept);
  }

  void WriteList(const oplens_arg& arg, const void* items, size_t item_bytes) {
    const size_t whole = items == nullptr ? 0 : arg.count;
    const size_t kept = whole < list_limit_ ? whole : list_limit_;
    if (kept != whole) ++cut_;
    out_.Number(static_cast<uint8_t>(kept));
    out_.Bytes(items, kept * item_bytes);
  }

  Encoder& out_;
  const size_t list_limit_;
  unsigned cut_ = 0;
};

/// Writes the arguments that fit and answers how many; false where lists are to be shortened first.
bool EncodeArgs(const oplens_arg* args, size_t count, size_t list_limit, Encoder* out,
                size_t* written, unsigned* cut) {
  *cut = 0;
  for (*written = 0; *written < count; ++*written) {
    const size_t before = out->size();
    ArgEncoder arg(out, list_limit);
    if (*written < UINT8_MAX) arg.Write(args[*written]);
    if (out->full() || *written == UINT8_MAX) {
      out->Rewind(before);
      *cut += static_cast<unsigned>(count - *written);
      return list_limit == kShortList;
    }
    *cut += arg.cut();
  }
  return true;
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
    message = message.substr(0, 4 * kMaxStringBytes);
    std::string_view call = message;
    const size_t bar = message.find('|');
    if (bar != message.npos) {
      names.aten = Decoded(message.substr(bar + 1), aten);
      call = message.substr(0, bar);
    }
    const size_t dot = call.rfind('.');
    if (dot != call.npos) names.mod = Decoded(call.substr(0, dot), mod);
    names.op = Decoded(dot == call.npos ? call : call.substr(dot + 1), op);
  }
  char mod[4 * kMaxStringBytes + 1];
  char op[4 * kMaxStringBytes + 1];
  char aten[4 * kMaxStringBytes + 1];
  OpNames names;
};

}  // namespace

size_t EncodePayload(const CallFacts& facts, uint16_t flags, const oplens_arg* args, size_t count,
                     const CallSite& site, unsigned char* buffer) noexcept {
  if (args == nullptr) count = 0;
  Encoder out(buffer);
  size_t written = 0;
  unsigned cut = 0;
  if (!EncodeArgs(args, count, UINT8_MAX, &out, &written, &cut)) {
    out.Rewind(sizeof(PayloadHead));
    EncodeArgs(args, count, kShortList, &out, &written, &cut);
  }
  if (site.file != nullptr) {
    const size_t before = out.size();
    const size_t size = CutLength(site.file, Length(site.file), kMaxStringBytes);
    out.Number(static_cast<uint32_t>(site.line));
    out.Number(static_cast<uint16_t>(size));
    out.Bytes(site.file, size);
    if (out.full()) {
      out.Rewind(before);
    } else {
      flags |= kSiteFlag;
    }
  }
  PayloadHead head = {};
  head.seq = facts.seq;
  head.tid = facts.tid;
  head.ftid = facts.ftid;
  head.h = facts.h;
  head.dir = static_cast<char>(facts.dir);
  head.arg_count = static_cast<uint8_t>(written);
  head.flags = static_cast<uint16_t>(flags | (cut < UINT8_MAX ? cut : UINT8_MAX) << kCutShift);
  head.bytes = static_cast<uint32_t>(out.size());
  std::memcpy(buffer, &head, sizeof head);
  return out.size();
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
  if ((head.flags & kSiteFlag) != 0) {
    const auto line = in.Number<uint32_t>();
    const size_t length = in.Number<uint16_t>();
    const unsigned char* const file = in.Take(length);
    if (file == nullptr) return false;
    char copy[UINT16_MAX + 1];
    std::memcpy(copy, file, length);
    copy[length] = '\0';
    const char* const frames[] = {copy};
    out->trace_size = FormatTrace(frames, 1, line, out->trace);
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
  if (Length(names.aten) > 0) {
    buffer[size++] = '|';
    size += AppendEncoded(names.aten, false, buffer + size);
  }
  buffer[size] = '\0';
  return size;
}

}  // namespace oplens::markers
