#include "prof/views/memory/memory_notes.h"

#include <fmt/format.h>

#include "parse/model/recording_advice.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

struct Oddity {
  Count MemoryLife::Counts::*count;
  std::string_view words;  ///< After the number.
};

constexpr Oddity kOddities[] = {
    {&MemoryLife::Counts::only_freed, "releases of memory allocated before the recording"},
    {&MemoryLife::Counts::lost, "addresses allocated again without a release"},
    {&MemoryLife::Counts::other_size, "releases of another size than was allocated"},
    {&MemoryLife::Counts::without_size, "events without a size"},
    {&MemoryLife::Counts::without_address, "events without an address, which pair with none"},
    {&MemoryLife::Counts::same_time, "events at the time of the one before"},
    {&MemoryLife::Counts::out_of_order, "events earlier than the one in front of them in the file"},
    {&MemoryLife::Counts::over_reserved, "events with more allocated than reserved"},
};

}  // namespace

void MemoryNotes::Begin(const Run* run) {
  if (run == nullptr) {
    records_ |= true;
  } else if (run->trace().memory_events.empty()) {
    lacking_[static_cast<size_t>(run->trace().family)] |= true;
  }
}

void MemoryNotes::Count(const MemoryLife& memory) {
  for (const MemoryLife::Pool& pool : memory.pools()) {
    unknown_sizes_ |= !pool.told;
    MergeInto(&counts_, pool.counts);
  }
  left_out_ += memory.left_out();
}

std::string MemoryNotes::OddEvents() const {
  std::string text;
  const auto append = [&](int64_t count, std::string_view words) {
    if (count == 0) return;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", count, words);
  };
  for (const Oddity& oddity : kOddities) append(counts_.*oddity.count, oddity.words);
  append(left_out_, "events of devices beyond the first, left out");
  return text;
}

std::vector<std::string> MemoryNotes::Sentences() const {
  std::vector<std::string> sentences;
  if (records_) {
    sentences.push_back(
        fmt::format("{}: records do not hold this: give the profile itself", view_));
  }
  for (size_t i = 0; i < kFamilyCount; ++i) {
    if (!lacking_[i]) continue;
    const std::string_view flag = RecordingFlag(MissingFact::kMemoryEvents, static_cast<Family>(i));
    sentences.push_back(fmt::format("{}: the profile holds no allocations{}{}", view_,
                                    flag.empty() ? "" : "; to record them: ", flag));
  }
  if (unknown_sizes_) {
    sentences.push_back(
        fmt::format("{}: where the file records no totals, allocated bytes are those whose "
                    "allocation or release it holds (total: sizes)",
                    view_));
  }
  if (const std::string odd = OddEvents(); !odd.empty()) {
    sentences.push_back(fmt::format("{}: {}", view_, odd));
  }
  return sentences;
}

}  // namespace oplens::prof
