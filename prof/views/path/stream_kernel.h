#ifndef OPLENS_PROF_VIEWS_PATH_STREAM_KERNEL_H_
#define OPLENS_PROF_VIEWS_PATH_STREAM_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "ops/kernels/kernel_family.h"
#include "parse/model/phase.h"
#include "prof/advice/facts.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

using TextId = uint32_t;  ///< 0: no text.

/// What the name of a kernel or op tells of it.
struct NameWords {
  bool hadamard = false;
  bool rope = false;
  bool cache = false;
};

/// Numbers texts; equal texts have equal numbers.
class TextIds {
 public:
  /// Found once for most texts, which get no number.
  NameWords WordsOf(std::string_view text);
  TextId Of(std::string_view text);
  std::string_view View(TextId id) const { return views_[id]; }
  size_t size() const { return views_.size(); }
  void Clear();

 private:
  TextMap<TextId> ids_;
  std::vector<std::string_view> views_ = {std::string_view()};
  TextMap<NameWords> words_;
};

/// What decides with which neighbours a kernel can be one.
enum class StreamWork : uint8_t {
  kOther,     ///< Ends every group.
  kMemory,    ///< Elementwise, norm, reduction, softmax, copy or fill that no compiler fused.
  kQuantise,  ///< To few bits and back, and rotations before it (Hadamard).
  kProduct,   ///< Product or convolution.
  kAttention,
};

/// A kernel among its neighbours on a stream. -1, and 0 for peaks and ids: unknown.
struct StreamKernel {
  uint32_t index = PricedKernel::kNoWork;  ///< PricedKernel::work.
  StreamWork work = StreamWork::kOther;
  ops::KernelFamily family = ops::KernelFamily::kOther;
  Phase phase = Phase::kUnknown;
  bool claimed = false;   ///< A rule has its time.
  bool is_main = false;   ///< Not a helper beside its op's main kernel.
  bool few_bits = false;  ///< A factor has at most 8 bits.
  bool is_core = false;   ///< Of attention: its one kernel, or its softmax.
  bool is_copy = false;   ///< Only moves elements, perhaps to another type; no KV cache.
  bool is_rope = false;   ///< Rotary embedding by name.
  bool is_complex = false;
  TextId op = 0;         ///< Normalised op, otherwise the kernel.
  TextId name = 0;       ///< Of the kernel.
  TextId place = 0;      ///< The op with its sizes, otherwise the kernel.
  TextId params = 0;     ///< Sizes of the op.
  TextId layer = 0;      ///< Enclosing layers, outermost first, after each ':'.
  TextId outer = 0;      ///< The outermost op of its call.
  int64_t instance = 0;  ///< PricedKernel::instance.
  int64_t time_ns = 0;
  int64_t roof_ns = -1;  ///< Time at the nearer roof; needs FLOPs and bytes.
  int64_t math_ns = 0;   ///< Time of its FLOPs at the peak.
  int64_t read_bytes = -1;
  int64_t written_bytes = -1;
  double dram_bytes_per_s = 0;
  std::vector<int64_t> sizes;  ///< Elements of each tensor of its call.
  int64_t largest = -1;        ///< Of `sizes`.
  int64_t written = -1;        ///< Elements written.
  // Main kernels of products:
  int64_t batch = 0, m = 0, n = 0, k = 0;
  int64_t mma_flops = 0;
  double peak_per_s = 0;
  double tensor_peak_per_s = 0;  ///< Of Tensor Cores, if they can do it; fp32 as TF32.
  int element_bits = 0;
  bool could_flash = false;  ///< Attention that FlashAttention computes as well.
  // Who takes it unless a group does:
  advice::Topic offer = advice::Topic::kNone;
  int64_t offer_gain_ns = 0;
  TextId offer_place = 0;
};

/// Reads what StreamKernel holds; texts go to `texts`.
StreamKernel StreamKernelOf(const PricedKernel& kernel, int64_t time_ns, TextIds* texts);

/// Whether one layer is the other or encloses it; both texts as StreamKernel::layer.
bool EnclosesLayer(std::string_view outer, std::string_view inner);
/// The innermost layer that is attention as a whole: the outermost of those named so at the end of
/// `layer`; without one, `layer`.
std::string_view AttentionLayerOf(std::string_view layer);
/// "LlamaRMSNorm" of ":Model_0:LlamaRMSNorm_3"; "" of "".
std::string_view LayerName(std::string_view layer);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_PATH_STREAM_KERNEL_H_
