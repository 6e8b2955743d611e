#ifndef OPLENS_NVTX_ANNOTATE_ANNOTATE_H_
#define OPLENS_NVTX_ANNOTATE_ANNOTATE_H_

// Public header: installed, docs/library.md.

#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "nvtx_annotate/oplens_annotate.h"

// Annotates a C++ program with NVTX ranges that carry ops, shapes, data types and sequence numbers.
//
//   using namespace oplens::annotate;
//   ScopedLayer layer("encoder.2");
//   ScopedForward op({"torch", "addmm"}, Tensor({n}, DType::kFloat32), Tensor({m, k}, ...), ...);
//   Gemm(...);
//   saved.link = op.link();
//   ...
//   ScopedBackward node("AddmmBackward", saved.link);
//
// Without a profiler that listens to NVTX, a range formats nothing and costs less than a
// nanosecond; arguments are not even collected. Nothing here throws, locks, allocates in steady
// state, or can leave a range open: the objects must be local variables. C++17.

// Arguments must be optimised away without a listener; that needs a single function.
#define OPLENS_INLINE [[gnu::always_inline]] inline

namespace oplens::annotate {

/// Element types of tensors.
enum class DType : uint8_t {
  kUnknown = OPLENS_DTYPE_UNKNOWN,
  kBool = OPLENS_BOOL,
  kUInt8 = OPLENS_UINT8,
  kInt8 = OPLENS_INT8,
  kUInt16 = OPLENS_UINT16,
  kInt16 = OPLENS_INT16,
  kUInt32 = OPLENS_UINT32,
  kInt32 = OPLENS_INT32,
  kUInt64 = OPLENS_UINT64,
  kInt64 = OPLENS_INT64,
  kFloat16 = OPLENS_FLOAT16,
  kBFloat16 = OPLENS_BFLOAT16,
  kFloat32 = OPLENS_FLOAT32,
  kFloat64 = OPLENS_FLOAT64,
  kComplex32 = OPLENS_COMPLEX32,
  kComplex64 = OPLENS_COMPLEX64,
  kComplex128 = OPLENS_COMPLEX128,
  kFloat8E4m3fn = OPLENS_FLOAT8_E4M3FN,
  kFloat8E5m2 = OPLENS_FLOAT8_E5M2,
  kFloat8E4m3fnuz = OPLENS_FLOAT8_E4M3FNUZ,
  kFloat8E5m2fnuz = OPLENS_FLOAT8_E5M2FNUZ,
  kFloat8E8m0fnu = OPLENS_FLOAT8_E8M0FNU,
  kFloat4E2m1fnX2 = OPLENS_FLOAT4_E2M1FN_X2,
  kQInt8 = OPLENS_QINT8,
  kQUInt8 = OPLENS_QUINT8,
  kQInt32 = OPLENS_QINT32,
  kQUInt4x2 = OPLENS_QUINT4X2,
  kQUInt2x4 = OPLENS_QUINT2X4,
  kInt4 = OPLENS_INT4,
  kUInt4 = OPLENS_UINT4,
};

/// One argument of an op. It borrows its data, so create it in the call. Numbers, booleans, texts
/// and nullptr (None) convert implicitly.
class Arg {
 public:
  template <typename T,
            std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  OPLENS_INLINE Arg(T value) noexcept : Arg(Field(), OPLENS_INT, 0, static_cast<uint64_t>(value)) {}
  template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  OPLENS_INLINE Arg(T value) noexcept
      : Arg(Field(), OPLENS_FLOAT, 0, Bits(static_cast<double>(value))) {}
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  OPLENS_INLINE Arg(T value) noexcept : Arg(Field(), OPLENS_BOOLEAN, 0, value ? 1 : 0) {}
  OPLENS_INLINE Arg(std::nullptr_t) noexcept : Arg(Field(), OPLENS_NONE, 0, 0) {}
  OPLENS_INLINE Arg(std::string_view value) noexcept
      : Arg(Field(), OPLENS_STRING, value.size(), Address(value.data())) {}
  OPLENS_INLINE Arg(const char* value) noexcept
      : Arg(value == nullptr ? std::string_view() : std::string_view(value)) {}
  OPLENS_INLINE Arg(const std::complex<double>& value) noexcept
      : Arg(Field(), OPLENS_COMPLEX, 0, Address(&value)) {}
  /// `data`: as oplens_arg requires for the kind; `count` numbers or extents.
  OPLENS_INLINE Arg(uint16_t kind, const void* data, size_t count,
                    DType dtype = DType::kUnknown) noexcept
      : Arg(Field(), kind, count, Address(data)) {
    dtype_ = static_cast<uint16_t>(dtype);
  }
  OPLENS_INLINE explicit Arg(const oplens_arg& arg) noexcept
      : Arg(Field(), arg.kind, arg.count, static_cast<uint64_t>(arg.value.integer)) {
    name_ = arg.name;
    dtype_ = arg.dtype;
    list_ = arg.list;
    more_ = arg.more;
  }

  /// As a keyword argument. `name` must live until the call.
  OPLENS_INLINE Arg Named(const char* name) const noexcept {
    Arg named = *this;
    named.name_ = name;
    return named;
  }
  /// As a member of the n-th list of tensors of the call, from 1; `more`: number of equal members
  /// that follow.
  OPLENS_INLINE Arg InList(uint16_t n, uint16_t more = 0) const noexcept {
    Arg member = *this;
    member.list_ = n;
    member.more_ = more;
    return member;
  }
  /// Converts to the C interface.
  OPLENS_INLINE void Fill(oplens_arg* arg) const noexcept {
    arg->name = name_;
    arg->kind = kind_;
    arg->dtype = dtype_;
    arg->list = list_;
    arg->more = more_;
    arg->count = count_;
    arg->value.integer = static_cast<int64_t>(value_);
  }

 private:
  struct Field {};
  // Each field is written once and none overlaps: otherwise the compiler does not drop unread
  // arguments.
  OPLENS_INLINE Arg(Field, uint16_t kind, uint64_t count, uint64_t value) noexcept
      : name_(nullptr), count_(count), value_(value), kind_(kind), dtype_(0), list_(0), more_(0) {}

  OPLENS_INLINE static uint64_t Bits(double value) noexcept {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  OPLENS_INLINE static uint64_t Address(const void* data) noexcept {
    return reinterpret_cast<uintptr_t>(data);
  }

  const char* name_;
  uint64_t count_;
  uint64_t value_;  ///< The bits of oplens_arg::value.
  uint16_t kind_;
  uint16_t dtype_;
  uint16_t list_;
  uint16_t more_;
};

/// A number in a list, of any integral type.
class Extent {
 public:
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  OPLENS_INLINE constexpr Extent(T value) noexcept : value_(static_cast<int64_t>(value)) {}
  OPLENS_INLINE static const int64_t* Values(std::initializer_list<Extent> list) noexcept {
    return list.size() == 0 ? nullptr : &list.begin()->value_;
  }

 private:
  int64_t value_;
};
static_assert(sizeof(Extent) == sizeof(int64_t) && std::is_standard_layout_v<Extent>);

/// A tensor: `rank` extents, outermost first. Null extents with rank > 0: undefined (None).
OPLENS_INLINE Arg Tensor(const int64_t* extents, size_t rank, DType dtype) noexcept {
  return Arg(OPLENS_TENSOR, extents, rank, dtype);
}
/// The list must live until the call; a list in the call does.
OPLENS_INLINE Arg Tensor(std::initializer_list<Extent> extents, DType dtype) noexcept {
  return Tensor(Extent::Values(extents), extents.size(), dtype);
}
OPLENS_INLINE Arg IntList(const int64_t* values, size_t count) noexcept {
  return Arg(OPLENS_INT_LIST, values, count);
}
OPLENS_INLINE Arg IntList(std::initializer_list<Extent> values) noexcept {
  return IntList(Extent::Values(values), values.size());
}
OPLENS_INLINE Arg IntTuple(const int64_t* values, size_t count) noexcept {
  return Arg(OPLENS_INT_TUPLE, values, count);
}
OPLENS_INLINE Arg IntTuple(std::initializer_list<Extent> values) noexcept {
  return IntTuple(Extent::Values(values), values.size());
}
OPLENS_INLINE Arg FloatList(const double* values, size_t count) noexcept {
  return Arg(OPLENS_FLOAT_LIST, values, count);
}
OPLENS_INLINE Arg FloatList(std::initializer_list<double> values) noexcept {
  return FloatList(values.begin(), values.size());
}

/// Module, name and call site of an op.
struct OpName {
  constexpr OpName(const char* mod_text, const char* op_text,
                   const char* file_text = __builtin_FILE(),
                   int line_number = __builtin_LINE()) noexcept
      : mod(mod_text), op(op_text), file(file_text), line(line_number) {}
  const char* mod;
  const char* op;
  const char* file;  ///< Null: no call site. Must live until the process ends, as literals do.
  int line;
};

/// Connects a backward node to the op that created it.
using ForwardLink = oplens_link;
inline constexpr ForwardLink kNoLink = {-1, 0};

enum class Phase : uint8_t {
  kForward = OPLENS_FORWARD,
  kBackward = OPLENS_BACKWARD,
  kOptimizer = OPLENS_OPTIMIZER,
  kData = OPLENS_DATA,
  kCommunication = OPLENS_COMMUNICATION,
};

namespace detail {

enum State : uint8_t { kUnknown, kOff, kOn };
extern std::atomic<uint8_t> g_state;
bool DecideState() noexcept;

// Separate by-value parameters: an object passed by address would be built before checking whether
// anybody listens.
uint64_t BeginOp(const char* mod, const char* op, const char* file, int line,
                 const oplens_arg* args, size_t count, ForwardLink* link) noexcept;
uint64_t BeginBackward(const char* node, const ForwardLink& link) noexcept;
uint64_t BeginLayer(const char* name) noexcept;
uint64_t BeginTrace(const char* const* frames, size_t count) noexcept;
uint64_t BeginIteration(int64_t number) noexcept;
uint64_t BeginPhase(Phase phase) noexcept;
uint64_t BeginRange(std::string_view text) noexcept;
void End(uint64_t token) noexcept;

template <typename... Args>
OPLENS_INLINE void FillArgs(oplens_arg* list, const Args&... args) noexcept {
  size_t i = 0;
  (Arg(args).Fill(&list[i++]), ...);
  static_cast<void>(i);
}

/// Common base of ranges, which end with their scope and can only be local variables.
class ScopedToken {
 public:
  ScopedToken(const ScopedToken&) = delete;
  ScopedToken& operator=(const ScopedToken&) = delete;
  static void* operator new(size_t) = delete;
  static void* operator new[](size_t) = delete;

 protected:
  ScopedToken() noexcept = default;
  ~ScopedToken() {
    if (token_ != 0) End(token_);
  }
  uint64_t token_ = 0;
};

}  // namespace detail

/// Whether a profiler would see a range now.
OPLENS_INLINE bool Enabled() noexcept {
  const uint8_t state = detail::g_state.load(std::memory_order_relaxed);
  return state == detail::kOn || (state == detail::kUnknown && detail::DecideState());
}

/// Open and close the capture window, see oplens_annotate.h.
inline void Start() noexcept { oplens_start(); }
inline void Stop() noexcept { oplens_stop(); }

/// A range for the call of an op. Arguments in the order of the call, named ones last.
class [[nodiscard]] ScopedOp : detail::ScopedToken {
 public:
  template <typename... Args>
  OPLENS_INLINE explicit ScopedOp(OpName name, const Args&... args) noexcept {
    if (__builtin_expect(!Enabled(), 1)) return;
    oplens_arg list[sizeof...(Args) + 1];
    detail::FillArgs(list, args...);
    token_ =
        detail::BeginOp(name.mod, name.op, name.file, name.line, list, sizeof...(Args), nullptr);
  }
};

/// An op that a backward node will refer to; takes the thread's next sequence number.
class [[nodiscard]] ScopedForward : detail::ScopedToken {
 public:
  template <typename... Args>
  OPLENS_INLINE explicit ScopedForward(OpName name, const Args&... args) noexcept {
    if (__builtin_expect(!Enabled(), 1)) return;
    oplens_arg list[sizeof...(Args) + 1];
    detail::FillArgs(list, args...);
    ForwardLink link;
    token_ = detail::BeginOp(name.mod, name.op, name.file, name.line, list, sizeof...(Args), &link);
    link_ = link;
  }
  /// Keep it until the backward pass; kNoLink if nothing was emitted.
  const ForwardLink& link() const noexcept { return link_; }

 private:
  ForwardLink link_ = kNoLink;
};

/// A node of the backward pass, such as "AddmmBackward", for the op with `link`.
class [[nodiscard]] ScopedBackward : detail::ScopedToken {
 public:
  explicit ScopedBackward(const char* node, const ForwardLink& link = kNoLink) noexcept {
    if (Enabled()) token_ = detail::BeginBackward(node, link);
  }
};

/// A layer of the network. Its name is appended to the enclosing layer's: "encoder", then
/// "encoder.attn".
class [[nodiscard]] ScopedLayer : detail::ScopedToken {
 public:
  explicit ScopedLayer(const char* name) noexcept {
    if (Enabled()) token_ = detail::BeginLayer(name);
  }
  explicit ScopedLayer(const std::string& name) noexcept : ScopedLayer(name.c_str()) {}
};

/// An iteration of the training loop.
class [[nodiscard]] ScopedIteration : detail::ScopedToken {
 public:
  explicit ScopedIteration(int64_t number) noexcept {
    if (Enabled()) token_ = detail::BeginIteration(number);
  }
};

/// A phase of an iteration.
class [[nodiscard]] ScopedPhase : detail::ScopedToken {
 public:
  explicit ScopedPhase(Phase phase) noexcept {
    if (Enabled()) token_ = detail::BeginPhase(phase);
  }
};

/// A call stack for the ops inside: "file:line" per frame, outermost first.
class [[nodiscard]] ScopedTrace : detail::ScopedToken {
 public:
  ScopedTrace(const char* const* frames, size_t count) noexcept {
    if (Enabled()) token_ = detail::BeginTrace(frames, count);
  }
};

/// A range with any text.
class [[nodiscard]] ScopedRange : detail::ScopedToken {
 public:
  explicit ScopedRange(std::string_view text) noexcept {
    if (Enabled()) token_ = detail::BeginRange(text);
  }
};

}  // namespace oplens::annotate

#undef OPLENS_INLINE

#endif  // OPLENS_NVTX_ANNOTATE_ANNOTATE_H_
