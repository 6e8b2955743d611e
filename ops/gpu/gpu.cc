#include "ops/gpu/gpu.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/parse_number.h"
#include "ops/gpu/gpu_table.h"

namespace oplens::ops {
namespace {

constexpr double kTera = 1e12;
constexpr double kKibibyte = 1024;

bool SumsInFp32(size_t unit) {
  switch (static_cast<MathUnit>(unit)) {
    case MathUnit::kTensorTf32:
    case MathUnit::kTensorFp16:
    case MathUnit::kTensorFp8:
      return true;
    default:
      return false;
  }
}

/// Peaks are multiprocessors x FMAs per clock x 2 x clock; unchanged if the rates are unknown.
void DerivePeaks(bool half_rate, Gpu* gpu) {
  const GpuRates* rates = RatesOf(gpu->compute_capability);
  if (rates == nullptr || gpu->multiprocessors == 0 || gpu->clock_hz == 0) return;
  for (size_t i = 0; i < kMathUnitCount; ++i) {
    const double rate = rates->fma_per_clock[i] * (half_rate && SumsInFp32(i) ? 0.5 : 1);
    gpu->peaks_per_s[i] =
        static_cast<double>(gpu->multiprocessors) * rate * 2 * static_cast<double>(gpu->clock_hz);
  }
  gpu->source = PeakSource::kRecord;
}

/// Facts in the recorded text `gpu`.
struct Facts {
  int compute_capability = 0;
  int64_t multiprocessors = 0;
  int64_t clock_hz = 0;
  int64_t dram_bytes_per_s = 0;
  int64_t memory_bytes = 0;
  int64_t warp_threads = 0;
};

// Above any real device: larger numbers are broken.
constexpr int64_t kMostMultiprocessors = 100'000;
constexpr int64_t kMostHertz = 100'000'000'000;
constexpr int64_t kMostBytesPerS = 1'000'000'000'000'000;
constexpr int64_t kMostBytes = 1'000'000'000'000'000;

int64_t ReadNumber(std::string_view text, int64_t most) {
  int64_t value = 0;
  return ParseNumber(text, &value) && value > 0 && value <= most ? value : 0;
}

int ReadComputeCapability(std::string_view text) {
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return 0;
  const int64_t major = ReadNumber(text.substr(0, point), 99);
  const std::string_view minor = text.substr(point + 1);
  if (major == 0 || minor.size() != 1 || minor[0] < '0' || minor[0] > '9') return 0;
  return static_cast<int>(major * 10) + (minor[0] - '0');
}

Facts ReadFacts(std::string_view text) {
  Facts facts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = item.substr(0, equals);
    const std::string_view value = item.substr(equals + 1);
    if (key == "cc") facts.compute_capability = ReadComputeCapability(value);
    if (key == "sms") facts.multiprocessors = ReadNumber(value, kMostMultiprocessors);
    if (key == "clock") facts.clock_hz = ReadNumber(value, kMostHertz);
    if (key == "dram") facts.dram_bytes_per_s = ReadNumber(value, kMostBytesPerS);
    if (key == "mem") facts.memory_bytes = ReadNumber(value, kMostBytes);
    if (key == "warp") facts.warp_threads = ReadNumber(value, 1024);
  }
  return facts;
}

/// Ratio of the recorded figure to the table's; 1 if either is unknown.
double TimesOf(int64_t recorded, const GpuCell& cell) {
  return recorded > 0 && cell.value > 0 ? static_cast<double>(recorded) / cell.value : 1;
}

/// The table's figures adjusted to the recorded facts: other multiprocessors (a part of a GPU) or
/// another clock scale the peaks. Without the name.
Gpu FromEntry(const GpuEntry& entry, const Facts& facts) {
  constexpr double kHertz = 1e6;
  constexpr double kGiga = 1e9;
  const GpuFigures& figures = entry.figures;
  const auto whole = [](const GpuCell& cell, double unit) {
    return static_cast<int64_t>(cell.value * unit);
  };
  const auto recorded_or = [](int64_t recorded, int64_t own) {
    return recorded > 0 ? recorded : own;
  };
  Gpu gpu;
  gpu.maker = entry.maker;
  if (gpu.IsNvidia()) gpu.compute_capability = entry.compute_capability;
  gpu.multiprocessors = recorded_or(facts.multiprocessors, whole(figures.multiprocessors, 1));
  gpu.clock_hz = recorded_or(facts.clock_hz, whole(figures.clock_mhz, kHertz));
  gpu.dram_bytes_per_s = recorded_or(facts.dram_bytes_per_s, whole(figures.dram_gb_per_s, kGiga));
  gpu.l2_bytes = whole(figures.l2_kib, kKibibyte);
  const GpuCell clock_hz{figures.clock_mhz.value * kHertz, figures.clock_mhz.source};
  const double scale =
      TimesOf(facts.multiprocessors, figures.multiprocessors) * TimesOf(facts.clock_hz, clock_hz);
  for (size_t i = 0; i < kMathUnitCount; ++i) {
    gpu.peaks_per_s[i] = entry.peaks_tera_per_s[i].value * kTera * scale;
  }
  gpu.source = PeakSource::kTable;
  return gpu;
}

/// Sets figures that differ to unknown.
void KeepCommon(const Gpu& other, Gpu* gpu) {
  const auto keep = [](auto theirs, auto* ours) {
    if (*ours != theirs) *ours = 0;
  };
  keep(other.compute_capability, &gpu->compute_capability);
  keep(other.multiprocessors, &gpu->multiprocessors);
  keep(other.clock_hz, &gpu->clock_hz);
  keep(other.dram_bytes_per_s, &gpu->dram_bytes_per_s);
  keep(other.l2_bytes, &gpu->l2_bytes);
  for (size_t i = 0; i < kMathUnitCount; ++i) keep(other.peaks_per_s[i], &gpu->peaks_per_s[i]);
}

using Entries = std::vector<const GpuEntry*>;

/// Keeps the rows for which `fits` holds, unless there are none.
template <typename Fits>
void Narrow(Entries* entries, Fits fits) {
  Entries fitting;
  std::copy_if(entries->begin(), entries->end(), std::back_inserter(fitting), fits);
  if (!fitting.empty()) *entries = std::move(fitting);
}

bool HasMultiprocessors(const GpuEntry& entry, int64_t multiprocessors) {
  return static_cast<int64_t>(entry.figures.multiprocessors.value) == multiprocessors;
}

/// Drivers reserve some of the memory.
bool HasMemory(const GpuEntry& entry, int64_t bytes) {
  constexpr double kTolerance = 0.08;
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  const double own = entry.figures.memory_gib.value * kGibibyte;
  return own > 0 && std::abs(static_cast<double>(bytes) - own) <= kTolerance * own;
}

/// Whether a name that is not in the table could be any GPU. AMD's drivers report some without a
/// model ("", "AMD Radeon Graphics"); NVIDIA's report numbers of boards ("PG509-210"), virtual GPUs
/// and models for some countries, beside those of models for games and workstations.
bool HasNoModelName(std::string_view name, Maker maker) {
  if (maker == Maker::kNvidia) return !NamesNvidiaModel(name);
  return maker == Maker::kAmd && name.find_first_of("0123456789") == name.npos;
}

/// GPUs of the same compute capability, multiprocessors and memory. For NVIDIA all three must be
/// recorded; for AMD memory may be missing.
Entries FindBySize(std::string_view name, Maker maker, const Facts& facts) {
  const bool told = facts.compute_capability != 0 && facts.multiprocessors != 0 &&
                    (facts.memory_bytes != 0 || maker == Maker::kAmd);
  if (!told || !HasNoModelName(name, maker)) return {};
  Entries found;
  for (const GpuEntry& entry : GpuEntries()) {
    const bool fits = entry.maker == maker &&
                      entry.compute_capability == facts.compute_capability &&
                      HasMultiprocessors(entry, facts.multiprocessors) &&
                      (facts.memory_bytes == 0 || HasMemory(entry, facts.memory_bytes));
    if (fits) found.push_back(&entry);
  }
  return found;
}

/// The table's rows that the recorded GPU could be; several if the facts do not decide.
Entries FindRecorded(std::string_view name, Maker maker, const Facts& facts) {
  Entries found = FindGpuEntries(name);
  if (found.empty()) found = FindBySize(name, maker, facts);
  std::erase_if(found, [&](const GpuEntry* entry) {
    return entry->maker != maker ||
           (facts.compute_capability != 0 && entry->compute_capability != facts.compute_capability);
  });
  Narrow(&found,
         [&](const GpuEntry* entry) { return HasMultiprocessors(*entry, facts.multiprocessors); });
  Narrow(&found, [&](const GpuEntry* entry) { return HasMemory(*entry, facts.memory_bytes); });
  return found;
}

}  // namespace

GpuMatch FindGpu(std::string_view name) {
  GpuMatch match;
  const Entries found = FindGpuEntries(name);
  if (found.size() == 1) {
    match.gpu = FromEntry(*found.front(), {});
    match.gpu->name = found.front()->name;
    return match;
  }
  match.ambiguous = found.size() > 1;
  for (const GpuEntry* entry : found) match.choices.push_back(entry->name);
  if (found.empty()) match.choices = GpuNames();
  return match;
}

std::vector<std::string_view> GpuNames() {
  std::vector<std::string_view> names;
  for (const GpuEntry& entry : GpuEntries()) names.push_back(entry.name);
  return names;
}

Gpu ParseGpu(std::string_view device_name, std::string_view text) {
  const Facts facts = ReadFacts(text);
  Maker maker = MakerOf(device_name);
  // AMD's warps have 64 threads, except on GPUs for games.
  constexpr int64_t kNvidiaWarp = 32;
  if (maker == Maker::kNvidia && facts.warp_threads != 0 && facts.warp_threads != kNvidiaWarp) {
    maker = Maker::kAmd;
  }
  const Entries found = FindRecorded(device_name, maker, facts);
  Gpu gpu;
  if (found.empty()) {
    gpu.maker = maker;
    gpu.multiprocessors = facts.multiprocessors;
    gpu.clock_hz = facts.clock_hz;
    gpu.dram_bytes_per_s = facts.dram_bytes_per_s;
  } else {
    gpu = FromEntry(*found.front(), facts);
    for (const GpuEntry* entry : found) KeepCommon(FromEntry(*entry, facts), &gpu);
  }
  // If the driver gives no name, the name of the only matching row.
  gpu.name = device_name.empty() && found.size() == 1 ? found.front()->name : device_name;
  // Other makers number their capabilities differently.
  if (!gpu.IsNvidia()) return gpu;
  if (facts.compute_capability != 0) gpu.compute_capability = facts.compute_capability;
  const bool own_rates = std::any_of(found.begin(), found.end(), [](const GpuEntry* entry) {
    return entry->rates == Rates::kOwn;
  });
  const bool has_clock = facts.clock_hz != 0 && facts.multiprocessors != 0;
  if (has_clock && !own_rates) DerivePeaks(IsGeForce(device_name), &gpu);
  if (HasNoTensorCores(device_name, gpu.compute_capability)) {
    std::fill(gpu.peaks_per_s.begin() + static_cast<size_t>(MathUnit::kTensorFp64),
              gpu.peaks_per_s.end(), 0);
  }
  return gpu;
}

}  // namespace oplens::ops
