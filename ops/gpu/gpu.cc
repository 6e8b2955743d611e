#include "ops/gpu/gpu.h"

#include <charconv>

#include "ops/gpu/gpu_table.h"

namespace oplens::ops {
namespace {

constexpr double kTera = 1e12;
constexpr int64_t kKibibyte = 1024;

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

/// The peaks of a row for a GPU of that name with other multiprocessors (a part of it) or another
/// clock.
void TakePeaks(const GpuEntry& entry, Gpu* gpu) {
  const double scale = static_cast<double>(gpu->multiprocessors) / entry.multiprocessors *
                       static_cast<double>(gpu->clock_hz) / (entry.clock_mhz * 1e6);
  for (size_t i = 0; i < kMathUnitCount; ++i) {
    gpu->peaks_per_s[i] = entry.peaks_tera_per_s[i] * kTera * scale;
  }
  gpu->source = entry.source;
}

/// Multiprocessors x FMAs a clock x 2 x clock; leaves the peaks as they are when the rates of the
/// compute capability are not known.
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

Gpu FromEntry(const GpuEntry& entry) {
  Gpu gpu;
  gpu.name = entry.name;
  gpu.compute_capability = entry.compute_capability;
  gpu.multiprocessors = entry.multiprocessors;
  gpu.clock_hz = int64_t{entry.clock_mhz} * 1'000'000;
  gpu.dram_bytes_per_s = static_cast<int64_t>(entry.dram_gb_per_s * 1e9);
  gpu.l2_bytes = entry.l2_kib * kKibibyte;
  TakePeaks(entry, &gpu);
  return gpu;
}

/// What the text `gpu` of a record says.
struct Facts {
  int compute_capability = 0;
  int64_t multiprocessors = 0;
  int64_t clock_hz = 0;
  int64_t dram_bytes_per_s = 0;
  int64_t warp_threads = 0;
};

// No device is near these; a larger number is a broken one.
constexpr int64_t kMostMultiprocessors = 100'000;
constexpr int64_t kMostHertz = 100'000'000'000;
constexpr int64_t kMostBytesPerS = 1'000'000'000'000'000;

int64_t ReadNumber(std::string_view text, int64_t most) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value > 0 && value <= most ? value : 0;
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
    if (key == "warp") facts.warp_threads = ReadNumber(value, 1024);
  }
  return facts;
}

}  // namespace

GpuMatch FindGpu(std::string_view name) {
  GpuMatch match;
  const std::vector<const GpuEntry*> found = FindGpuEntries(name);
  if (found.size() == 1) {
    match.gpu = FromEntry(*found.front());
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
  Gpu gpu;
  if (facts.warp_threads != 0 && facts.warp_threads != 32) gpu.nvidia = false;
  if (IsOfAnotherMaker(device_name)) gpu.nvidia = false;
  gpu.name = device_name;
  gpu.multiprocessors = facts.multiprocessors;
  gpu.clock_hz = facts.clock_hz;
  gpu.dram_bytes_per_s = facts.dram_bytes_per_s;
  // The numbers of other makers' capabilities mean something else.
  if (!gpu.nvidia) return gpu;
  gpu.compute_capability = facts.compute_capability;

  const std::vector<const GpuEntry*> found = FindGpuEntries(device_name);
  const GpuEntry* entry = found.size() == 1 ? found.front() : nullptr;
  if (entry != nullptr && gpu.compute_capability != 0 &&
      entry->compute_capability != gpu.compute_capability) {
    entry = nullptr;
  }
  const bool has_clock = gpu.clock_hz != 0 && gpu.multiprocessors != 0;
  if (entry != nullptr) {
    if (gpu.compute_capability == 0) gpu.compute_capability = entry->compute_capability;
    if (gpu.multiprocessors == 0) gpu.multiprocessors = entry->multiprocessors;
    if (gpu.clock_hz == 0) gpu.clock_hz = int64_t{entry->clock_mhz} * 1'000'000;
    if (gpu.dram_bytes_per_s == 0) {
      gpu.dram_bytes_per_s = static_cast<int64_t>(entry->dram_gb_per_s * 1e9);
    }
    gpu.l2_bytes = entry->l2_kib * kKibibyte;
    TakePeaks(*entry, &gpu);
    if (entry->rates == Rates::kOwn) return gpu;
  }
  if (has_clock) DerivePeaks(IsGeForce(device_name), &gpu);
  return gpu;
}

}  // namespace oplens::ops
