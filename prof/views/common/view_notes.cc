#include "prof/views/common/view_notes.h"

#include <fmt/format.h>

#include "parse/join/call_tree.h"
#include "parse/model/recording_advice.h"
#include "parse/model/trace.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"

namespace oplens::prof {

void ViewNotes::Begin(const Run* run) {
  if (run == nullptr) {
    records_ |= true;
  } else if (run->work().events().empty()) {
    if (run->selects_all()) {
      idle_[static_cast<size_t>(run->trace().family)] |= true;
    } else {
      nothing_selected_ |= true;
    }
  }
}

std::vector<std::string> ViewNotes::Sentences() const {
  std::vector<std::string> sentences;
  if (records_) {
    sentences.push_back(
        fmt::format("{}: records do not hold this: give the profile itself", view_));
  }
  if (nothing_selected_) {
    sentences.push_back(fmt::format("{}: no work of a GPU is in what is selected", view_));
  }
  for (size_t i = 0; i < kFamilyCount; ++i) {
    if (!idle_[i]) continue;
    const std::string_view flag = RecordingFlag(MissingFact::kKernels, static_cast<Family>(i));
    sentences.push_back(fmt::format("{}: the profile holds no timed work of a GPU{}{}", view_,
                                    flag.empty() ? "" : "; to record it: ", flag));
  }
  return sentences;
}

void CallNotes::Begin(const Run* run) {
  if (run == nullptr) {
    ++ranks_without_trace_;
  } else if (run->calls().all().empty()) {
    ++ranks_without_calls_[run->trace().family];
  }
}

std::vector<std::string> CallNotes::Sentences() const {
  std::vector<std::string> sentences;
  if (ranks_without_trace_ > 0) {
    sentences.push_back(fmt::format(
        "{}: records say nothing of the calls of operators; give the profile itself", view_));
  }
  for (const auto& [family, count] : ranks_without_calls_) {
    sentences.push_back(fmt::format("{}: {} recorded no calls of operators; to record them: {}",
                                    view_, count == 1 ? "the profile" : "the profiles",
                                    RecordingFlag(MissingFact::kOps, family)));
  }
  return sentences;
}

}  // namespace oplens::prof
