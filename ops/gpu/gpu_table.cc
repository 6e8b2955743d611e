#include "ops/gpu/gpu_table.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"

namespace oplens::ops {
namespace {

using enum SourceId;

// In the order of MathUnit; 0: no such unit, or unknown.
constexpr GpuRates kRates[] = {
    // clang-format off
    {30, kCudaGuide, kCudaGuide, {8, 192}},
    {35, kCudaGuide, kCudaGuide, {64, 192}},
    {37, kCudaGuide, kCudaGuide, {64, 192}},
    {50, kCudaGuide, kCudaGuide, {4, 128}},
    {52, kCudaGuide, kCudaGuide, {4, 128}},
    {53, kCudaGuide, kCudaGuide, {4, 128, 256}},
    {60, kCudaGuide, kCudaGuide, {32, 64, 128}},
    {61, kCudaGuide, kCudaGuide, {4, 128, 2}},
    {62, kCudaGuide, kCudaGuide, {4, 128, 256}},
    {70, kCudaGuide, kVoltaPaper, {32, 64, 128, 0, 0, 0, 512, 512}},
    {72, kCudaGuide, kXavierPage, {2, 64, 128, 0, 0, 0, 512, 512, 0, 0, 0, 1024}},
    {75, kCudaGuide, kTuringPaper, {2, 64, 128, 0, 0, 0, 512, 512, 0, 0, 0, 1024, 2048}},
    {80, kCudaGuide, kAmperePaper, {32, 64, 256, 64, 0, 512, 1024, 1024, 0, 0, 0, 2048, 4096}},
    {86, kCudaGuide, kGa102Paper, {2, 128, 128, 0, 0, 256, 512, 512, 0, 0, 0, 1024, 2048}},
    {87, kCudaGuide, kOrinBrief, {2, 128, 256, 0, 0, 512, 1024, 1024, 0, 0, 0, 2048, 4096}},
    {89, kCudaGuide, kAdaPaper, {2, 128, 128, 0, 0, 256, 512, 512, 1024, 0, 0, 1024, 2048}},
    {90, kCudaGuide, kHopperPaper, {64, 128, 256, 128, 0, 1024, 2048, 2048, 4096, 0, 0, 4096}},
    {100, kCudaGuide, kBlackwellBrief, {64, 128, 256, 64, 0, 2048, 4096, 4096, 8192, 8192, 16384, 8192}},
    // From the figures of the B300, Jetson Thor T5000 and GB10; 0 where these leave it open.
    {103, kDerived, kHgxPage, {2, 128, 0, 2, 0, 2048, 4096, 4096, 8192, 8192, 24576}},
    {110, kDerived, kThorSheet, {0, 128, 0, 0, 0, 0, 0, 0, 8192, 0, 16384}},
    {120, kCudaGuide, kRtxBlackwellPaper, {2, 128, 128, 0, 0, 256, 512, 512, 1024, 0, 2048, 1024}},
    {121, kDerived, kSparkArticles, {0, 128, 0, 0, 0, 0, 0, 0, 0, 0, 2048}},
    // clang-format on
};

// Words that do not identify a model.
constexpr std::string_view kFillers[] = {"nvidia", "tesla", "geforce", "gpu",      "graphics",
                                         "card",   "hbm2",  "amd",     "instinct", "accelerator"};

// Longer names are cut.
constexpr size_t kLongestName = 256;

/// Splits words often written together: "rtx3090", "2080ti".
void AppendWord(std::string_view word, std::vector<std::string>* words) {
  for (const std::string_view prefix : {"rtx", "gtx"}) {
    if (word.size() > prefix.size() && word.starts_with(prefix)) {
      words->emplace_back(prefix);
      word.remove_prefix(prefix.size());
    }
  }
  for (const std::string_view suffix : {"ti", "super", "ada"}) {
    if (word.size() > suffix.size() && word.ends_with(suffix) &&
        IsDigit(word[word.size() - suffix.size() - 1])) {
      words->emplace_back(word.substr(0, word.size() - suffix.size()));
      words->emplace_back(suffix);
      return;
    }
  }
  words->emplace_back(word);
}

std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words;
  const std::string lower = ToLowerText(name.substr(0, kLongestName));
  size_t begin = 0;
  for (size_t i = 0; i <= lower.size(); ++i) {
    if (i < lower.size() && (IsDigit(lower[i]) || IsLetter(lower[i]))) continue;
    if (i > begin) AppendWord(std::string_view(lower).substr(begin, i - begin), &words);
    begin = i + 1;
  }
  const auto is_filler = [](const std::string& word) {
    return std::find(std::begin(kFillers), std::end(kFillers), word) != std::end(kFillers);
  };
  words.erase(std::remove_if(words.begin(), words.end(), is_filler), words.end());
  return words;
}

bool HasGpuTable(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t blank = words.find(' ');
    if (words.substr(0, blank) == word) return true;
    words.remove_prefix(blank == std::string_view::npos ? words.size() : blank + 1);
  }
  return false;
}

bool GpuTableFits(const GpuEntry& entry, const std::vector<std::string>& words) {
  const auto known = [&](const std::string& word) {
    return HasGpuTable(entry.required, word) || HasGpuTable(entry.accepted, word);
  };
  if (!std::all_of(words.begin(), words.end(), known)) return false;
  for (std::string_view left = entry.required; !left.empty();) {
    const size_t blank = left.find(' ');
    if (std::find(words.begin(), words.end(), left.substr(0, blank)) == words.end()) return false;
    left.remove_prefix(blank == std::string_view::npos ? left.size() : blank + 1);
  }
  return true;
}

bool IsSource(SourceId id) { return id > SourceId::kNotFound && id <= SourceId::kRocmSpecs; }

}  // namespace

CellState StateOf(const GpuCell& cell) {
  const bool sourced = IsSource(cell.source);
  const bool two = cell.against != SourceId::kNone;
  if (cell.source == SourceId::kNotFound) {
    return cell.value == 0 && !two ? CellState::kNotFound : CellState::kBad;
  }
  if (!sourced || cell.value < 0) return CellState::kBad;
  if (!two) return cell.value > 0 ? CellState::kFigure : CellState::kNoSuchUnit;
  const bool other = IsSource(cell.against) && cell.against != cell.source;
  return cell.value == 0 && other ? CellState::kDisputed : CellState::kBad;
}

std::span<const GpuRates> AllGpuRates() { return kRates; }

std::vector<const GpuEntry*> FindGpuEntries(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  std::vector<const GpuEntry*> found;
  for (const GpuEntry& entry : GpuEntries()) {
    if (GpuTableFits(entry, words)) found.push_back(&entry);
  }
  // An exact name of the table wins over partial matches.
  for (const GpuEntry* entry : found) {
    if (WordsOf(entry->name) == words) return {entry};
  }
  return found;
}

const GpuRates* RatesOf(int compute_capability) {
  for (const GpuRates& rates : kRates) {
    if (rates.compute_capability == compute_capability) return &rates;
  }
  return nullptr;
}

bool IsGeForce(std::string_view name) {
  return ToLowerText(name.substr(0, kLongestName)).find("geforce") != std::string::npos;
}

bool NamesNvidiaModel(std::string_view name) {
  const std::string lower = ToLowerText(name.substr(0, kLongestName));
  constexpr std::string_view kMarkets[] = {"geforce", "rtx",    "gtx",    "quadro", "titan",
                                           "jetson",  "laptop", "mobile", "max-q",  "mig "};
  return std::any_of(std::begin(kMarkets), std::end(kMarkets),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool HasNoTensorCores(std::string_view name, int compute_capability) {
  constexpr int kTuring = 75;
  const std::string lower = ToLowerText(name.substr(0, kLongestName));
  return compute_capability == kTuring && lower.find("gtx") != std::string::npos;
}

Maker MakerOf(std::string_view name) {
  const std::string lower = ToLowerText(name.substr(0, kLongestName));
  const auto has_any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return lower.find(word) != lower.npos; });
  };
  if (has_any({"amd", "radeon", "instinct"})) return Maker::kAmd;
  if (has_any({"intel", "artemis", "mtia"})) return Maker::kOther;
  const std::vector<const GpuEntry*> found = FindGpuEntries(name);
  return found.empty() ? Maker::kNvidia : found.front()->maker;
}

}  // namespace oplens::ops
