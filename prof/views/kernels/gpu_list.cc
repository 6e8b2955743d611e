#include "prof/views/kernels/gpu_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "parse/model/recording_advice.h"

namespace oplens::prof {
namespace {

auto GpuListFactsOf(const ops::Gpu& gpu) {
  return std::tie(gpu.name, gpu.dram_bytes_per_s, gpu.peaks_per_s);
}

}  // namespace

uint32_t GpuList::NumberOf(const ops::Gpu* gpu) {
  if (gpu == nullptr) return kNone;
  if (last_ != kNone && GpuListFactsOf(gpus_[last_ - 1]) == GpuListFactsOf(*gpu)) return last_;
  const auto at = std::find_if(gpus_.begin(), gpus_.end(), [&](const ops::Gpu& known) {
    return GpuListFactsOf(known) == GpuListFactsOf(*gpu);
  });
  last_ = static_cast<uint32_t>(at - gpus_.begin()) + 1;
  if (at == gpus_.end()) gpus_.push_back(*gpu);
  return last_;
}

bool GpuBefore(const ops::Gpu* a, const ops::Gpu* b) {
  static const ops::Gpu kWithoutFacts;
  return GpuListFactsOf(a == nullptr ? kWithoutFacts : *a) <
         GpuListFactsOf(b == nullptr ? kWithoutFacts : *b);
}

std::vector<std::string> RoofNotes(std::string_view view, int64_t kernels, int64_t priced,
                                   const GpuList& gpus, Family family) {
  std::vector<std::string> notes;
  const std::vector<ops::Gpu>& all = gpus.all();
  if (kernels > 0 && priced == 0) {
    notes.push_back(
        fmt::format("{}: no kernel has a known cost; to record what ops are called with: {}", view,
                    RecordingRemedy(MissingFact::kArguments, family)));
  } else if (priced > 0 && std::none_of(all.begin(), all.end(), [](const ops::Gpu& gpu) {
               return gpu.dram_bytes_per_s > 0;
             })) {
    const bool in_table = std::any_of(all.begin(), all.end(), [](const ops::Gpu& gpu) {
      return gpu.maker != ops::Maker::kOther;
    });
    const bool peaks = std::any_of(all.begin(), all.end(), [](const ops::Gpu& gpu) {
      return std::any_of(gpu.peaks_per_s.begin(), gpu.peaks_per_s.end(),
                         [](double peak) { return peak > 0; });
    });
    notes.push_back(fmt::format("{}: the {} of the GPU {} not known{}", view,
                                peaks ? "DRAM bandwidth" : "peaks", peaks ? "is" : "are",
                                in_table || all.empty() ? "; name it: --gpu NAME" : ""));
  }
  return notes;
}

}  // namespace oplens::prof
