#include "prof/run/block_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ops/kernels/kernel_family.h"
#include "parse/join/surroundings.h"
#include "parse/model/trace.h"
#include "prof/run/streams.h"

namespace oplens::prof {

namespace {

/// What a kernel is in a block, as far as its name says.
enum class Token : char {
  kOther = 'o',  ///< Copies and arithmetic, which belong to what comes before them.
  kNorm = 'n',
  kProduct = 'g',
  kAttention = 'a',  ///< Forward.
  kRotary = 'r',
  kActivation = 'x',
  kExperts = 'e',  ///< Routing and products of experts.
  kBreak = '|',    ///< Never inside a block.
};

constexpr size_t kMostProducts = 3;  // For queries, keys and values.
constexpr size_t kMostOfMlp = 64;    // Kernels, without kOther.
constexpr size_t kLeastBlocks = 3;   // Otherwise the sequence proves little.
constexpr size_t kMostBlocks = 4096;

bool IsAttentionLike(std::string_view name) {
  for (const std::string_view word :
       {"attn", "ttention", "flash", "Flash", "fmha", "Fmha", "mha_", "sdpa", "_mla_"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool IsActivation(std::string_view op) {
  for (const std::string_view word : {"silu", "gelu", "relu", "swiglu"}) {
    if (op.find(word) != std::string_view::npos) return true;
  }
  return false;
}

Token TokenOf(std::string_view name, NameReader* names) {
  using ops::KernelFamily;
  switch (names->FamilyOf(name).family) {
    case KernelFamily::kNorm:
      return Token::kNorm;
    case KernelFamily::kGemm:
      return Token::kProduct;
    case KernelFamily::kGroupedGemm:
    case KernelFamily::kRouting:
      return Token::kExperts;
    case KernelFamily::kAttention: {
      const std::string op = names->OpOf(name);
      if (op.find("backward") != std::string::npos) return Token::kBreak;
      // Reads or writes tables of pages.
      return IsAttentionLike(name) && op != "attention_metadata" ? Token::kAttention
                                                                 : Token::kOther;
    }
    case KernelFamily::kElementwise: {
      const std::string op = names->OpOf(name);
      if (op == "rotary_embedding") return Token::kRotary;
      return IsActivation(name) || IsActivation(op) ? Token::kActivation : Token::kOther;
    }
    case KernelFamily::kLayout:
    case KernelFamily::kReduction:
    case KernelFamily::kFill:
    case KernelFamily::kQuantise:
    case KernelFamily::kCollective:
      return Token::kOther;
    default:
      return Token::kBreak;
  }
}

/// One kernel of a stream that is not kOther.
struct Mark {
  Token token;
  uint32_t kernel;  ///< Its position on the stream.
};

/// Where the parts of a block are among the marks of a stream.
struct Block {
  size_t norm = 0;      ///< First mark.
  size_t products = 0;  ///< For queries, keys and values.
  size_t core = 0;      ///< First mark of attention;
  size_t core_end = 0;  ///< after it comes the product of its output.
  size_t second_norm = 0;
  size_t mlp = 0;
  size_t end = 0;  ///< After the last mark.
};

}  // namespace

class BlockFinder {
 public:
  BlockFinder(const parse::Joined& joined, NameReader* names, BlockOrder* order)
      : joined_(joined),
        names_(names),
        order_(order),
        tokens_(joined.trace().strings.size(), Token{}) {}

  void Find() {
    if (!HasAttention()) return;
    for (const std::vector<uint32_t>& stream : KernelsOfStreams(joined_.trace())) FindOn(stream);
  }

 private:
  bool HasAttention() const {
    const auto& strings = joined_.trace().strings;
    std::vector<bool> seen(strings.size(), false);
    for (const Kernel& kernel : joined_.trace().kernels) {
      if (seen[kernel.name]) continue;
      seen[kernel.name] = true;
      if (IsAttentionLike(strings.View(kernel.name))) return true;
    }
    return false;
  }

  Token TokenOfKernel(uint32_t kernel) {
    const StringId name = joined_.trace().kernels[kernel].name;
    if (tokens_[name] == Token{}) {
      tokens_[name] = TokenOf(joined_.trace().strings.View(name), names_);
    }
    return tokens_[name];
  }

  bool HasLayer(uint32_t kernel) const {
    const parse::Surroundings* around = joined_.SurroundingsOf(kernel);
    return around != nullptr && !joined_.RangesOf(*around, parse::Around::kLayers).empty();
  }

  void FindOn(const std::vector<uint32_t>& stream) {
    marks_.clear();
    for (uint32_t i = 0; i < stream.size(); ++i) {
      const Token token = TokenOfKernel(stream[i]);
      if (token != Token::kOther) marks_.push_back({token, i});
    }
    // Runs of blocks that follow each other. A run after attention that is in no block misses some.
    std::vector<std::vector<Block>> runs;
    bool missed = false;
    for (size_t i = 0; i < marks_.size(); ++i) {
      if (marks_[i].token != Token::kAttention) continue;
      const std::optional<Block> block = BlockAround(i);
      if (!block) {
        while (Is(i + 1, Token::kAttention)) ++i;
        missed = true;
        continue;
      }
      const bool follows = !missed && !runs.empty() && runs.back().back().end == block->norm;
      if (!follows) runs.emplace_back();
      if (missed) runs.back().push_back({});
      missed = false;
      runs.back().push_back(*block);
      i = block->core_end - 1;
    }
    std::erase_if(runs, [](const std::vector<Block>& run) { return run.front().end == 0; });
    const size_t depth = DepthOf(runs);
    for (const std::vector<Block>& run : runs) {
      if (depth == 0 || run.size() != depth || HasLayers(run, stream)) continue;
      for (size_t i = 0; i < run.size(); ++i) Give(run[i], i, stream);
    }
  }

  /// The number of blocks of a run that most blocks are in, 0 if there is none: a run of another
  /// length began before the recording, or is of another network. So may the only one, if it is
  /// what the stream begins with.
  static size_t DepthOf(const std::vector<std::vector<Block>>& runs) {
    std::map<size_t, size_t> counts;
    size_t all = 0;
    for (const std::vector<Block>& run : runs) {
      if (run.size() >= kLeastBlocks) counts[run.size()] += run.size();
      all += run.size();
    }
    size_t depth = 0;
    for (const auto& [size, blocks] : counts) {
      const bool alone =
          blocks == size && runs.front().size() == size && runs.front().front().norm == 0;
      if (2 * blocks > all && size <= kMostBlocks && !alone) depth = size;
    }
    return depth;
  }

  bool HasLayers(const std::vector<Block>& run, const std::vector<uint32_t>& stream) const {
    for (uint32_t i = marks_[run.front().norm].kernel; i < EndOf(run.back(), stream); ++i) {
      if (HasLayer(stream[i])) return true;
    }
    return false;
  }

  /// The position on the stream after the block's kernels.
  uint32_t EndOf(const Block& block, const std::vector<uint32_t>& stream) const {
    return block.end < marks_.size()
               ? marks_[block.end].kernel
               : std::min(marks_[block.end - 1].kernel + 1, static_cast<uint32_t>(stream.size()));
  }

  bool Is(size_t mark, Token token) const {
    return mark < marks_.size() && marks_[mark].token == token;
  }

  /// The block whose attention begins at a mark: norms, one to three products, norms of heads and
  /// rotary embedding, attention, a product, norms, and all up to the next norm.
  std::optional<Block> BlockAround(size_t core) const {
    Block block;
    block.core = core;
    size_t i = core;
    while (i > 0 && (Is(i - 1, Token::kNorm) || Is(i - 1, Token::kRotary))) --i;
    block.products = i;
    while (block.products > 0 && Is(block.products - 1, Token::kProduct)) --block.products;
    if (block.products == i || i - block.products > kMostProducts) return std::nullopt;
    block.norm = block.products;
    while (block.norm > 0 && Is(block.norm - 1, Token::kNorm)) --block.norm;
    if (block.norm == block.products) return std::nullopt;
    block.core_end = core;
    while (Is(block.core_end, Token::kAttention)) ++block.core_end;
    if (!Is(block.core_end, Token::kProduct)) return std::nullopt;
    block.second_norm = block.core_end + 1;
    block.mlp = block.second_norm;
    while (Is(block.mlp, Token::kNorm)) ++block.mlp;
    if (block.mlp == block.second_norm) return std::nullopt;
    block.end = block.mlp;
    bool products = false;
    while (block.end < marks_.size() && !Is(block.end, Token::kNorm)) {
      const Token token = marks_[block.end].token;
      if (token == Token::kBreak || token == Token::kAttention || token == Token::kRotary) break;
      products |= token == Token::kProduct || token == Token::kExperts;
      if (++block.end - block.mlp > kMostOfMlp) return std::nullopt;
    }
    // It ends with a norm: of the next block, or the last.
    if (!products || !Is(block.end, Token::kNorm)) return std::nullopt;
    return block;
  }

  void Give(const Block& block, size_t number, const std::vector<uint32_t>& stream) {
    if (order_->paths_of_kernels_.empty()) {
      order_->paths_of_kernels_.assign(joined_.trace().kernels.size(), 0);
    }
    const uint32_t end = EndOf(block, stream);
    size_t mark = block.norm;
    std::string_view part = "norm";
    for (uint32_t i = marks_[block.norm].kernel; i < end; ++i) {
      if (mark < block.end && marks_[mark].kernel == i) part = PartOf(block, mark++);
      order_->paths_of_kernels_[stream[i]] = order_->PathOf(number, part);
    }
  }

  std::string_view PartOf(const Block& block, size_t mark) const {
    if (mark < block.products) return "norm";
    if (mark < block.core) {
      return Is(mark, Token::kProduct) ? "qkv" : Is(mark, Token::kNorm) ? "qk_norm" : "rope";
    }
    if (mark < block.core_end) return "attention";
    if (mark < block.second_norm) return "o";
    if (mark < block.mlp) return "norm2";
    return PartOfMlp(block, mark);
  }

  /// Products, an activation, a product; anything else is not told apart.
  std::string_view PartOfMlp(const Block& block, size_t mark) const {
    size_t act = block.mlp;
    while (act < block.end && Is(act, Token::kProduct)) ++act;
    size_t down = act;
    while (down < block.end && Is(down, Token::kActivation)) ++down;
    const bool simple = act > block.mlp && act - block.mlp <= 2 && down > act &&
                        down + 1 == block.end && Is(down, Token::kProduct);
    if (!simple) return "mlp";
    return mark < act ? "up" : mark < down ? "act" : "down";
  }

  const parse::Joined& joined_;
  NameReader* names_;
  BlockOrder* order_;
  std::vector<Token> tokens_;  // By StringId.
  std::vector<Mark> marks_;    // Of a stream.
};

BlockOrder::BlockOrder(const parse::KernelRecords& profile, NameReader* names) {
  BlockFinder(profile.joined(), names, this).Find();
}

uint32_t BlockOrder::PathOf(size_t block, std::string_view part) {
  uint32_t& number = numbers_[{block, part}];
  if (number != 0) return number;
  auto path = std::make_unique<Path>();
  path->block = fmt::format("block[{}]", block);
  path->part = part;
  path->views[0] = path->block;
  path->views[1] = path->part;
  paths_.push_back(std::move(path));
  number = static_cast<uint32_t>(paths_.size());
  return number;
}

std::span<const std::string_view> BlockOrder::LayerOf(uint32_t kernel) const {
  if (kernel >= paths_of_kernels_.size() || paths_of_kernels_[kernel] == 0) return {};
  return paths_[paths_of_kernels_[kernel] - 1]->views;
}

}  // namespace oplens::prof
