#ifndef OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
#define OPLENS_NVTX_ANNOTATE_PAYLOAD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

// The binary payload of an op's range, which recorders that know it use instead of a text:
// docs/markers.md.

namespace oplens::markers {

/// Required size of a payload buffer: space for one argument beyond the limit of a payload.
inline constexpr size_t kPayloadBufferBytes = kMaxPayloadBytes + 16 * 1024;

/// Writes the payload of a call and returns its length, at most kMaxPayloadBytes. Arguments that do
/// not fit are dropped from the end and counted, long texts truncated. `buffer` must be aligned for
/// a PayloadHead. Neither allocates nor throws.
size_t EncodePayload(const CallFacts& facts, uint8_t flags, const oplens_arg* args, size_t count,
                     unsigned char* buffer) noexcept;

/// Writes arguments of the common kinds as EncodePayload() does, at most kMaxArgs of them into a
/// buffer of kPayloadBufferBytes: no checks of space, no cut values.
class PlainArgs {
 public:
  static constexpr size_t kMaxArgs = 64;
  static constexpr size_t kMaxNameBytes = 64;
  static constexpr size_t kMaxDimensions = 8;
  static constexpr size_t kMaxListItems = 16;
  /// Kind and name of an argument, and the larger of a list and a tensor.
  static constexpr size_t kMaxArgBytes = 3 + kMaxNameBytes + 2 + 8 * kMaxListItems;
  static_assert(sizeof(PayloadHead) + kMaxArgs * kMaxArgBytes <= kPayloadBufferBytes);
  static_assert(kMaxDimensions <= kMaxListItems);

  /// An empty name: by position.
  using Name = std::string_view;

  explicit PlainArgs(unsigned char* buffer) noexcept
      : at_(buffer + sizeof(PayloadHead)), kept_(at_) {}

  void None() noexcept {
    Tag(OPLENS_NONE, {});
    ++count_;
  }
  void Int(Name name, int64_t value) noexcept {
    Tag(OPLENS_INT, name);
    Put(value);
    Keep();
  }
  void Float(Name name, double value) noexcept {
    Tag(OPLENS_FLOAT, name);
    Put(value);
    Keep();
  }
  void Boolean(Name name, bool value) noexcept {
    Tag(OPLENS_BOOLEAN, name);
    Put(static_cast<uint8_t>(value ? 1 : 0));
    Keep();
  }
  /// `dtype`: OPLENS_*. At most kMaxDimensions.
  void Tensor(Name name, uint16_t dtype, const int64_t* sizes, size_t dimensions) noexcept {
    Tag(OPLENS_TENSOR, name);
    at_ = PutTensor(dtype, sizes, dimensions, at_);
    Keep();
  }
  /// The head of a tuple, followed by Item() as often. At most kMaxListItems.
  void IntTuple(Name name, size_t items) noexcept {
    Tag(OPLENS_INT_TUPLE, name);
    Put(static_cast<uint16_t>(items));
  }
  void Item(int64_t value) noexcept { Put(value); }
  void EndTuple() noexcept { Keep(); }

  /// Adds an argument, not None, that stands from end() to `end`.
  void Add(unsigned char* end) noexcept {
    at_ = end;
    Keep();
  }
  /// Writes one argument at `at`, to be added: only its end() is of use.
  static PlainArgs One(unsigned char* at) noexcept { return PlainArgs(at - sizeof(PayloadHead)); }

  /// Removes the None that came last.
  void DropNone() noexcept {
    at_ = kept_;
    count_ = kept_count_;
  }

  size_t count() const noexcept { return count_; }
  unsigned char* end() const noexcept { return at_; }

  /// The value of a tensor; returns its end.
  static unsigned char* PutTensor(uint16_t dtype, const int64_t* sizes, size_t dimensions,
                                  unsigned char* at) noexcept {
    at[0] = static_cast<uint8_t>(dtype <= OPLENS_UINT4 ? dtype : uint16_t{OPLENS_DTYPE_UNKNOWN});
    at[1] = static_cast<uint8_t>(dimensions);
    at += 2;
    for (size_t i = 0; i < dimensions; ++i, at += sizeof *sizes)
      std::memcpy(at, sizes + i, sizeof *sizes);
    return at;
  }

 private:
  void Tag(uint8_t kind, Name name) noexcept {
    *at_++ = static_cast<uint8_t>(name.empty() ? kind : kind | kNamedTag);
    if (name.empty()) return;
    Put(static_cast<uint16_t>(name.size()));
    std::memcpy(at_, name.data(), name.size());
    at_ += name.size();
  }
  template <typename T>
  void Put(T value) noexcept {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void Keep() noexcept {
    kept_ = at_;
    kept_count_ = ++count_;
  }

  unsigned char* at_;
  unsigned char* kept_;  ///< After the last argument that is not None.
  size_t count_ = 0;
  size_t kept_count_ = 0;
};

/// Writes the head of a payload that ends at `end`; returns its length.
inline size_t PutHead(const CallFacts& facts, uint8_t flags, size_t args, const unsigned char* end,
                      unsigned char* buffer) noexcept {
  // Written field by field in place: copying a separately built head would stall on its stores.
  auto* const head = reinterpret_cast<PayloadHead*>(buffer);
  head->seq = facts.seq;
  head->h = facts.h;
  head->tid = static_cast<uint32_t>(facts.tid);
  head->dir = static_cast<char>(facts.dir);
  head->flags = flags;
  head->arg_count = static_cast<uint16_t>(args);
  head->reserved = 0;
  const auto bytes = static_cast<uint32_t>(end - buffer);
  head->bytes = bytes;
  return bytes;
}

/// Writes the ForwardPart, if there is one, and its flag; returns its end.
inline unsigned char* PutForward(const CallFacts& facts, uint8_t* flags,
                                 unsigned char* at) noexcept {
  if ((facts.ftid | facts.fh) == 0) return at;
  const ForwardPart part = {facts.ftid, facts.fh};
  std::memcpy(at, &part, sizeof part);
  *flags |= kForwardFlag;
  return at + sizeof part;
}

/// EncodePayload() for arguments that are in `buffer` already, without ForwardPart.
inline size_t FinishPayload(const CallFacts& facts, const PlainArgs& args,
                            unsigned char* buffer) noexcept {
  return PutHead(facts, 0, args.count(), args.end(), buffer);
}
inline constexpr size_t kMostNodeBytes = sizeof(PayloadHead) + sizeof(ForwardPart);
/// EncodePayload() of a node.
inline size_t EncodeNode(const CallFacts& facts, unsigned char* buffer) noexcept {
  uint8_t flags = kNodeFlag;
  unsigned char* const end = PutForward(facts, &flags, buffer + sizeof(PayloadHead));
  return PutHead(facts, flags, 0, end, buffer);
}

/// The texts rendered from a payload; length 0: none.
struct RenderedMarker {
  char* trace = nullptr;  ///< T
  size_t trace_size = 0;
  char* main = nullptr;  ///< O or N
  size_t main_size = 0;
  char* sequence = nullptr;  ///< S
  size_t sequence_size = 0;
};

/// The payload before its arguments.
struct PayloadFacts {
  CallFacts facts;
  uint8_t flags = 0;
  uint16_t arg_count = 0;
  size_t args_at = 0;  ///< Start of the arguments; with kCutFlag, of the number of cut values.
  size_t end = 0;      ///< End of the arguments.
};

/// Returns false if `data` is not a payload.
bool ReadFacts(const unsigned char* data, size_t size, PayloadFacts* out) noexcept;

/// Where the per-call facts go.
enum class Facts : uint8_t {
  kInText,  ///< Into O and N; also as S if there is a sequence number.
  kApart,   ///< Only into PayloadFacts, so that equal calls have equal texts.
};

/// Renders the texts of a payload, outermost first: T, O or N, S. `message`: the range's registered
/// string, see FormatMessage. The three buffers of `out` need kTextBufferBytes each. Returns false
/// if `data` is not such a payload; never reads beyond it.
bool RenderPayload(const char* message, const unsigned char* data, size_t size, Facts place,
                   RenderedMarker* out);

/// Whether an argument is a member of a list of tensors.
inline bool IsListed(const oplens_arg& arg) noexcept {
  const bool undefined = arg.value.ints == nullptr && arg.count > 0;
  return arg.list != 0 && arg.kind == OPLENS_TENSOR && !undefined;
}

inline constexpr size_t kMessageBufferBytes = 13 * kMaxStringBytes;

/// The message of the range of an op or node, with what is the same in every call:
/// "MOD.OP|ATEN|FILE:LINE" without unknown trailing parts; for a node "MmBackward0".
/// Percent-encodes '%', '|' and control bytes, in OP also '.'. Returns the length.
size_t FormatMessage(const OpNames& names, char* buffer) noexcept;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
