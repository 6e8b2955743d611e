#include "parse/join/vocabulary_ranges.h"

#include <optional>
#include <string>

#include "base/free_memory.h"
#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"
#include "parse/model/range_vocabulary.h"

namespace oplens::parse {
namespace {

constexpr uint32_t kUnread = UINT32_MAX;

}  // namespace

VocabularyRanges::VocabularyRanges(Trace* trace, RangeTexts* texts, bool enabled)
    : trace_(*trace), texts_(*texts), domains_(1), words_(1) {
  if (!enabled) return;
  std::vector<bool> named(trace->strings.size(), false);
  for (const Label& label : trace->labels) {
    if (label.domain == 0 || named[label.domain]) continue;
    named[label.domain] = true;
    const std::string_view domain = trace->strings.View(label.domain);
    if (!domain.empty() && HasVocabulary(domain)) domains_.push_back({label.domain, {}});
  }
  const size_t text_count = trace->strings.size();
  for (const Range& range : trace->ranges) {
    const size_t index = DomainOf(range);
    if (index == kNoDomain) continue;
    std::vector<uint32_t>& known = domains_[index].words;
    if (known.empty()) known.assign(text_count, kUnread);
    if (known[range.text] != kUnread) continue;
    known[range.text] = Read(trace->strings.View(domains_[index].name), range.text);
  }
  for (Domain& domain : domains_) {
    for (uint32_t& index : domain.words) {
      if (index == kUnread) index = 0;
    }
    if (empty()) FreeMemory(&domain.words);
  }
}

size_t VocabularyRanges::DomainOf(const Range& range) const {
  if (range.kind == RangeKind::kMarker) {
    return texts_.Of(range.text).kind == MarkerKind::kFree ? 0 : kNoDomain;
  }
  if (range.kind != RangeKind::kAnnotation) return kNoDomain;
  const Label* const label = trace_.LabelOf(range);
  const StringId name = label == nullptr ? StringId{0} : label->domain;
  for (size_t i = 0; i < domains_.size(); ++i) {
    if (domains_[i].name == name) return i;
  }
  return kNoDomain;
}

uint32_t VocabularyRanges::IndexOf(const Range& range) const {
  const size_t domain = DomainOf(range);
  if (domain == kNoDomain) return 0;
  const std::vector<uint32_t>& known = domains_[domain].words;
  return range.text < known.size() ? known[range.text] : 0;
}

uint32_t VocabularyRanges::Read(std::string_view domain, StringId text) {
  const std::optional<FoundWords> found = WordsOfRange(domain, trace_.strings.View(text));
  if (!found) return 0;
  Words words;
  if (!found->words.op.empty()) {
    OpCall call;
    call.mod = found->vocabulary->product;
    call.op = found->words.op;
    std::string canonical;
    AppendOpCall(call, &canonical);
    words.call = trace_.strings.Intern(canonical);
    texts_.Classify(words.call);
  }
  if (!found->words.layer.empty()) words.layer = trace_.strings.Intern(found->words.layer);
  words.module = words.layer != 0 && found->vocabulary->modules;
  words_.push_back(words);
  return static_cast<uint32_t>(words_.size() - 1);
}

}  // namespace oplens::parse
