#ifndef OPLENS_PARSE_MODEL_RANGE_VOCABULARY_H_
#define OPLENS_PARSE_MODEL_RANGE_VOCABULARY_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace oplens {

/// What a range says that is an op or a layer in all but form. At least one is not empty.
struct RangeWords {
  std::string op;     ///< In the words of recorded ops, fused ones joined: "convolution+relu".
  std::string layer;  ///< "layer1.1.conv1"
};

/// A product that writes such ranges.
struct RangeVocabulary {
  std::string_view product;  ///< Also the `mod` of its ops.
  std::string_view domain;   ///< The NVTX domain; "": the default one.
  std::string_view seen;     ///< The versions whose texts are known.
  std::string_view source;   ///< What writes them, or the recording that has them.
  std::string_view example;
  bool modules;  ///< Its layers are calls of modules, each around those of its members.
  /// Reads a text of the domain; nullopt if the product does not write such texts. Any bytes, in
  /// time linear in their number.
  std::optional<RangeWords> (*read)(std::string_view text);
};

/// Goes up when texts are read otherwise.
inline constexpr int kRangeVocabularyVersion = 1;

/// All, in the order of precedence.
std::span<const RangeVocabulary> RangeVocabularies();

/// Whether some product writes into that NVTX domain ("": the default one).
bool HasVocabulary(std::string_view domain);

struct FoundWords {
  const RangeVocabulary* vocabulary = nullptr;
  RangeWords words;
};

/// What a text of that domain says; nullopt: nothing. Free texts say nothing: the domain, or the
/// form of the whole text, must be a product's own.
std::optional<FoundWords> WordsOfRange(std::string_view domain, std::string_view text);

/// The name of the module in a label of PyTorch Lightning, "[pl][module]CLASS: NAME"; nullopt for
/// any other text.
std::optional<std::string_view> LightningModule(std::string_view text);

// The readers that have files of their own.
std::optional<RangeWords> ReadTensorRtRange(std::string_view text);
std::optional<RangeWords> ReadXlaRange(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_RANGE_VOCABULARY_H_
