#include "prof/views/straggler_bytes.h"

#include <map>
#include <string_view>
#include <utility>

#include "prof/run/step.h"

namespace oplens::prof {

WorkPlace LoadPlace(TextNumbers* texts, ByteReader* bytes) {
  WorkPlace place;
  place.op = texts->NumberOf(bytes->Text());
  place.layer = texts->NumberOf(bytes->Text());
  return place;
}

namespace {

void SavePlaces(const std::vector<WorkPlace>& places, const TextNumbers& texts, ByteWriter* bytes) {
  bytes->Number(places.size());
  for (const WorkPlace& place : places) {
    bytes->Text(texts.TextOf(place.op));
    bytes->Text(texts.TextOf(place.layer));
  }
}

void LoadPlaces(TextNumbers* texts, ByteReader* bytes, std::vector<WorkPlace>* places) {
  for (size_t left = bytes->Size(2); left > 0; --left) places->push_back(LoadPlace(texts, bytes));
}

void LoadTimes(ByteReader* bytes, StragglerWork* work) {
  const size_t places = work->ops.size() + work->layers.size();
  bytes->Check(places <= 2 * StragglerWork::kMostPlaces, "there are more ops than are kept");
  const size_t times = places * work->steps.size();
  bytes->Check(times <= bytes->left(), "there are more times than the bytes can hold");
  for (size_t left = times; left > 0; --left) bytes->Sums(&work->times_ns.emplace_back());
}

}  // namespace

void SaveWork(const StragglerWork& work, const TextNumbers& texts, ByteWriter* bytes) {
  bytes->Values(&work.origin_ns);
  bytes->Number(work.steps.size());
  for (const StragglerWork::Step& step : work.steps) {
    bytes->Values(&step.number, &step.whole);
    bytes->Sums(&step.total_ns, &step.wait_ns, &step.calls, &step.unmatched);
  }
  SavePlaces(work.ops, texts, bytes);
  SavePlaces(work.layers, texts, bytes);
  for (const int64_t time_ns : work.times_ns) bytes->Sums(&time_ns);
  // In the order of texts: that of their numbers is that in which they came.
  std::map<std::pair<std::string_view, uint32_t>, int64_t> waits_ns;
  for (const auto& [at, wait_ns] : work.group_waits_ns) {
    waits_ns[{texts.TextOf(at.first), at.second}] = wait_ns;
  }
  bytes->Number(waits_ns.size());
  for (const auto& [at, wait_ns] : waits_ns) {
    bytes->Text(at.first);
    bytes->Number(at.second);
    bytes->Sums(&wait_ns);
  }
}

void LoadWork(TextNumbers* texts, ByteReader* bytes, StragglerWork* work) {
  bytes->Values(&work->origin_ns);
  for (size_t left = bytes->Size(6); left > 0; --left) {
    StragglerWork::Step& step = work->steps.emplace_back();
    bytes->Values(&step.number, &step.whole);
    bytes->Sums(&step.total_ns, &step.wait_ns, &step.calls, &step.unmatched);
  }
  LoadPlaces(texts, bytes, &work->ops);
  LoadPlaces(texts, bytes, &work->layers);
  LoadTimes(bytes, work);
  for (size_t left = bytes->Size(3); left > 0; --left) {
    const uint32_t group = texts->NumberOf(bytes->Text());
    const uint64_t step = bytes->Number();
    bytes->Check(step < work->steps.size(), "a group waits in a step that none is");
    bytes->Sums(&work->group_waits_ns[{group, static_cast<uint32_t>(step)}]);
  }
}

}  // namespace oplens::prof
