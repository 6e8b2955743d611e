#include "ops/gpu/gpu_table.h"

#include <algorithm>
#include <string>

namespace oplens::ops {
namespace {

// Figures of the makers' datasheets and architecture papers, dense, at boost clock; GB/s of DRAM,
// KiB of L2 cache (as profiles record it of P100, V100, Titan V, 2080 Ti, Titan RTX, RTX 6000, A40,
// A100 and H100; of B100 to GB300 by measurements of others), TFLOP/s in the order fp64, fp32, fp16
// (vector), then Tensor Cores: fp64, tf32, fp16 with fp32 sums, fp16 with fp16 sums, fp8, fp4,
// int8, int4. Where a listing is a range there is no figure.
constexpr GpuEntry kEntries[] = {
    // clang-format off
    {"Tesla P100 SXM2", "p100", "sxm2 sxm 16gb", 60, 56, 1480, 732, 4096, PeakSource::kDatasheet, Rates::kUsual,
     {5.3, 10.6, 21.2, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"V100 SXM2", "v100", "sxm2 sxm dgxs 16gb 32gb", 70, 80, 1530, 900, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {7.8, 15.7, 31.3, 0, 0, 125, 125, 0, 0, 0, 0}},
    {"V100 PCIe", "v100", "pcie 16gb 32gb", 70, 80, 1380, 900, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {7.0, 14.0, 28.3, 0, 0, 112, 112, 0, 0, 0, 0}},
    {"Titan V", "titan v", "12gb", 70, 80, 1455, 653, 4608, PeakSource::kDerived, Rates::kUsual,
     {7.4, 14.9, 29.8, 0, 0, 119, 119, 0, 0, 0, 0}},
    {"Jetson AGX Xavier", "xavier", "jetson agx", 72, 8, 1377, 137, 512, PeakSource::kDerived, Rates::kUsual,
     {0, 1.4, 0, 0, 0, 11.3, 11.3, 0, 0, 22.6, 0}},
    {"T4", "t4", "16gb", 75, 40, 1590, 320, 4096, PeakSource::kDatasheet, Rates::kUsual,
     {0.25, 8.1, 16.3, 0, 0, 65, 65, 0, 0, 130, 260}},
    {"RTX 2080 Ti", "2080 ti", "rtx 11gb", 75, 68, 1545, 616, 5632, PeakSource::kDatasheet, Rates::kUsual,
     {0.42, 13.4, 26.9, 0, 0, 53.8, 107.6, 0, 0, 215, 0}},
    {"Titan RTX", "titan rtx", "24gb", 75, 72, 1770, 672, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {0.51, 16.3, 32.6, 0, 0, 130.5, 130.5, 0, 0, 261, 0}},
    {"Quadro RTX 6000", "rtx 6000", "quadro 24gb", 75, 72, 1770, 672, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {0.51, 16.3, 32.6, 0, 0, 130.5, 130.5, 0, 0, 261, 0}},
    {"A100 40GB", "a100", "sxm4 sxm pcie 40gb pg509 200", 80, 108, 1410, 1555, 40960, PeakSource::kDatasheet, Rates::kUsual,
     {9.7, 19.5, 78, 19.5, 156, 312, 312, 0, 0, 624, 1248}},
    {"A100 80GB SXM", "a100", "sxm4 sxm 80gb", 80, 108, 1410, 2039, 40960, PeakSource::kDatasheet, Rates::kUsual,
     {9.7, 19.5, 78, 19.5, 156, 312, 312, 0, 0, 624, 1248}},
    {"A100 80GB PCIe", "a100", "pcie 80gb", 80, 108, 1410, 1935, 40960, PeakSource::kDatasheet, Rates::kUsual,
     {9.7, 19.5, 78, 19.5, 156, 312, 312, 0, 0, 624, 1248}},
    {"A30", "a30", "24gb pcie", 80, 56, 1440, 933, 24576, PeakSource::kDatasheet, Rates::kUsual,
     {5.2, 10.3, 41.3, 10.3, 82, 165, 165, 0, 0, 330, 661}},
    {"A10", "a10", "24gb pcie", 86, 72, 1695, 600, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {0.49, 31.2, 31.2, 0, 62.5, 125, 125, 0, 0, 250, 500}},
    {"A40", "a40", "48gb pcie", 86, 84, 1740, 696, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {0.585, 37.4, 37.4, 0, 74.8, 149.7, 149.7, 0, 0, 299, 598}},
    {"RTX A6000", "a6000", "rtx 48gb", 86, 84, 1800, 768, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {0.605, 38.7, 38.7, 0, 77.4, 154.8, 154.8, 0, 0, 310, 619}},
    {"RTX 3090", "3090", "rtx 24gb", 86, 82, 1695, 936, 6144, PeakSource::kDatasheet, Rates::kUsual,
     {0.56, 35.6, 35.6, 0, 35.6, 71, 142, 0, 0, 284, 568}},
    {"RTX 3080 10GB", "3080", "rtx 10gb", 86, 68, 1710, 760, 5120, PeakSource::kDatasheet, Rates::kUsual,
     {0.47, 29.8, 29.8, 0, 29.8, 59.5, 119, 0, 0, 238, 476}},
    {"Jetson AGX Orin 64GB", "orin", "jetson agx 64gb", 87, 16, 1300, 204.8, 4096, PeakSource::kDerived, Rates::kUsual,
     {0, 5.3, 0, 0, 21.3, 42.6, 42.6, 0, 0, 85, 0}},
    {"L4", "l4", "24gb pcie", 89, 58, 2040, 300, 49152, PeakSource::kDatasheet, Rates::kUsual,
     {0.47, 30.3, 30.3, 0, 60, 121, 121, 242, 0, 242, 0}},
    {"L40", "l40", "48gb pcie", 89, 142, 2490, 864, 98304, PeakSource::kDatasheet, Rates::kOwn,
     {1.41, 90.5, 90.5, 0, 90.5, 181, 181, 362, 0, 362, 0}},
    {"L40S", "l40s", "48gb pcie", 89, 142, 2520, 864, 98304, PeakSource::kDatasheet, Rates::kUsual,
     {1.43, 91.6, 91.6, 0, 183, 362, 362, 733, 0, 733, 0}},
    {"RTX 4090", "4090", "rtx 24gb", 89, 128, 2520, 1008, 73728, PeakSource::kDatasheet, Rates::kUsual,
     {1.29, 82.6, 82.6, 0, 82.6, 165, 330, 330, 0, 661, 0}},
    {"RTX 6000 Ada", "rtx 6000", "ada generation 48gb", 89, 142, 2505, 960, 98304, PeakSource::kDatasheet, Rates::kUsual,
     {1.42, 91.1, 91.1, 0, 182, 364, 364, 729, 0, 729, 0}},
    {"H100 SXM5 80GB", "h100", "sxm5 sxm 80gb hbm3", 90, 132, 1980, 3350, 51200, PeakSource::kDatasheet, Rates::kUsual,
     {33.5, 66.9, 133.8, 66.9, 495, 989, 989, 1979, 0, 1979, 0}},
    {"H100 PCIe", "h100", "pcie 80gb hbm2e", 90, 114, 1755, 2039, 51200, PeakSource::kDatasheet, Rates::kUsual,
     {25.6, 51.2, 102.4, 51.2, 378, 756, 756, 1513, 0, 1513, 0}},
    {"H100 NVL", "h100", "nvl 94gb hbm3", 90, 132, 1785, 3900, 51200, PeakSource::kDatasheet, Rates::kUsual,
     {30, 60, 120, 60, 418, 835, 835, 1671, 0, 1671, 0}},
    {"H200 SXM", "h200", "sxm5 sxm 141gb hbm3e", 90, 132, 1980, 4800, 51200, PeakSource::kDatasheet, Rates::kUsual,
     {33.5, 66.9, 133.8, 66.9, 495, 989, 989, 1979, 0, 1979, 0}},
    {"GH200 96GB", "gh200", "96gb 480gb 120gb hbm3 grace hopper superchip", 90, 132, 1980, 4000, 51200, PeakSource::kDatasheet, Rates::kUsual,
     {33.5, 66.9, 133.8, 66.9, 495, 990, 990, 1979, 0, 1979, 0}},
    {"GH200 144GB", "gh200", "144gb 144g hbm3e grace hopper superchip", 90, 132, 1980, 4900, 51200, PeakSource::kDatasheet, Rates::kUsual,
     {33.5, 66.9, 133.8, 66.9, 495, 990, 990, 1979, 0, 1979, 0}},
    {"H20", "h20", "sxm5 sxm 96gb hbm3", 90, 78, 1980, 4000, 51200, PeakSource::kDisputed, Rates::kOwn,
     {1, 44, 0, 1, 74, 148, 148, 296, 0, 296, 0}},
    {"H800 SXM", "h800", "sxm5 sxm 80gb hbm3", 90, 132, 1980, 3350, 51200, PeakSource::kDerived, Rates::kOwn,
     {1, 66.9, 133.8, 1, 495, 989, 989, 1979, 0, 1979, 0}},
    {"B100", "b100", "hgx sxm", 100, 148, 1700, 8000, 129024, PeakSource::kDisputed, Rates::kUsual,
     {30, 60, 0, 30, 890, 1770, 1770, 3500, 7000, 3500, 0}},
    {"B200", "b200", "hgx sxm 180gb 192gb hbm3e", 100, 148, 1965, 7700, 129024, PeakSource::kDatasheet, Rates::kUsual,
     {37, 75, 0, 37, 1100, 2250, 2250, 4500, 9000, 4500, 0}},
    {"GB200", "gb200", "nvl 192gb hbm3e", 100, 148, 2060, 8000, 129024, PeakSource::kDatasheet, Rates::kUsual,
     {40, 80, 0, 40, 1250, 2500, 2500, 5000, 10000, 5000, 0}},
    {"B300", "b300", "hgx sxm6 sxm ac hbm3e", 103, 148, 2030, 8000, 129024, PeakSource::kDisputed, Rates::kUsual,
     {1.3, 76, 0, 1.3, 1250, 2500, 2500, 5000, 15000, 0, 0}},
    {"GB300", "gb300", "nvl hbm3e", 103, 148, 2030, 8000, 129024, PeakSource::kDisputed, Rates::kUsual,
     {1.3, 76, 0, 1.3, 1250, 2500, 2500, 5000, 15000, 0, 0}},
    {"Jetson Thor T5000", "thor", "jetson agx t5000", 110, 20, 1575, 273, 0, PeakSource::kDisputed, Rates::kUsual,
     {0, 8.1, 0, 0, 0, 0, 0, 517, 1035, 0, 0}},
    {"RTX 5090", "5090", "rtx 32gb", 120, 170, 2407, 1792, 98304, PeakSource::kDatasheet, Rates::kUsual,
     {1.64, 104.8, 104.8, 0, 104.8, 209.5, 419, 419, 1676, 838, 0}},
    {"RTX PRO 6000 Blackwell", "rtx pro 6000", "blackwell workstation server edition 96gb", 120, 188, 2617, 1792, 131072, PeakSource::kDerived, Rates::kUsual,
     {1.97, 125, 125, 0, 251, 503, 503, 1007, 2015, 1007, 0}},
    // clang-format on
};

// From NVIDIA's architecture papers and the table of arithmetic throughput in the CUDA programming
// guide, in the same order.
constexpr GpuRates kRates[] = {
    {30, {8, 192}},
    {35, {64, 192}},
    {37, {64, 192}},
    {50, {4, 128}},
    {52, {4, 128}},
    {53, {4, 128, 256}},
    {60, {32, 64, 128}},
    {61, {4, 128, 2}},
    {62, {4, 128, 256}},
    {70, {32, 64, 128, 0, 0, 512, 512}},
    {72, {2, 64, 128, 0, 0, 512, 512, 0, 0, 1024}},
    {75, {2, 64, 128, 0, 0, 512, 512, 0, 0, 1024, 2048}},
    {80, {32, 64, 256, 64, 512, 1024, 1024, 0, 0, 2048, 4096}},
    {86, {2, 128, 128, 0, 256, 512, 512, 0, 0, 1024, 2048}},
    {87, {2, 128, 256, 0, 512, 1024, 1024, 0, 0, 2048, 4096}},
    {89, {2, 128, 128, 0, 256, 512, 512, 1024, 0, 1024, 2048}},
    {90, {64, 128, 256, 128, 1024, 2048, 2048, 4096, 0, 4096}},
    {100, {64, 128, 256, 64, 2048, 4096, 4096, 8192, 16384, 8192}},
    {120, {2, 128, 128, 0, 256, 512, 512, 1024, 2048, 1024}},
};

// Words that say nothing about the model.
constexpr std::string_view kFillers[] = {"nvidia",   "tesla", "geforce", "gpu",
                                         "graphics", "card",  "hbm2"};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

// Longer texts are no names.
constexpr size_t kLongestName = 256;

/// Words people write together: "rtx3090", "2080ti".
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
  const std::string lower = ToLower(name.substr(0, kLongestName));
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

bool Has(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t blank = words.find(' ');
    if (words.substr(0, blank) == word) return true;
    words.remove_prefix(blank == std::string_view::npos ? words.size() : blank + 1);
  }
  return false;
}

bool Fits(const GpuEntry& entry, const std::vector<std::string>& words) {
  const auto known = [&](const std::string& word) {
    return Has(entry.required, word) || Has(entry.accepted, word);
  };
  if (!std::all_of(words.begin(), words.end(), known)) return false;
  for (std::string_view left = entry.required; !left.empty();) {
    const size_t blank = left.find(' ');
    if (std::find(words.begin(), words.end(), left.substr(0, blank)) == words.end()) return false;
    left.remove_prefix(blank == std::string_view::npos ? left.size() : blank + 1);
  }
  return true;
}

}  // namespace

std::span<const GpuEntry> GpuEntries() { return kEntries; }

std::vector<const GpuEntry*> FindGpuEntries(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  std::vector<const GpuEntry*> found;
  for (const GpuEntry& entry : kEntries) {
    if (Fits(entry, words)) found.push_back(&entry);
  }
  // A name as the table has it is meant, though it fits others too.
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
  return ToLower(name.substr(0, kLongestName)).find("geforce") != std::string::npos;
}

bool IsOfAnotherMaker(std::string_view name) {
  const std::string lower = ToLower(name.substr(0, kLongestName));
  for (const std::string_view maker : {"amd", "radeon", "instinct", "intel", "artemis", "mtia"}) {
    if (lower.find(maker) != std::string::npos) return true;
  }
  return false;
}

}  // namespace oplens::ops
