#include "prof/views/straggler_ranks.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/views/straggler_bytes.h"

namespace oplens::prof {
namespace {

/// By all that is kept, so that the order of merging has no effect.
bool StragglerRanksBefore(const StragglerWork* a, const StragglerWork* b) {
  const auto steps = [](const StragglerWork& work) {
    std::vector<std::tuple<int64_t, bool, int64_t, int64_t, int64_t, int64_t>> all;
    for (const StragglerWork::Step& step : work.steps) {
      all.emplace_back(step.number, step.whole, step.total_ns, step.wait_ns, step.calls,
                       step.unmatched);
    }
    return all;
  };
  if (a->origin_ns != b->origin_ns) return a->origin_ns < b->origin_ns;
  return std::pair(steps(*a), a->times_ns) < std::pair(steps(*b), b->times_ns);
}

/// Whether a call is of those that are found on other ranks, if these are there and did not do
/// otherwise.
bool MightBeMatched(const CollectiveRow& row) {
  if (row.share.match == CollectiveMatch::kAlone) return false;
  if (IsPointToPoint(row.call.kind)) return row.group->size == 2;
  return row.call.kind != CollectiveKind::kUnknown || row.call.sequence >= 0;
}

double MeanStep(const StragglerWork& work) {
  double sum_ns = 0;
  size_t count = 0;
  for (const StragglerWork::Step& step : work.steps) {
    if (!step.whole) continue;
    sum_ns += static_cast<double>(step.total_ns);
    ++count;
  }
  return count == 0 ? 0 : sum_ns / static_cast<double>(count);
}

}  // namespace

std::optional<WorkPlace> StragglerRanks::Sums::MostBefore(const TextNumbers& texts) const {
  std::optional<WorkPlace> most;
  int64_t count = 0;
  const auto texts_of = [&](WorkPlace place) {
    return std::pair(texts.TextOf(place.op), texts.TextOf(place.layer));
  };
  for (const auto& [place, times] : before) {
    if (most && (times < count || (times == count && texts_of(*most) < texts_of(place)))) continue;
    most = place;
    count = times;
  }
  return most;
}

void StragglerRanks::Add(const Run& run, StragglerWork work) {
  Rank& rank = ranks_[std::string(run.rank())];
  rank.groups.Add(run.trace());
  rank.works.push_back(std::move(work));
}

bool StragglerRanks::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return false;
  const auto at = ranks_.find(*calls.front().rank);
  if (at == ranks_.end()) return false;
  Rank& rank = at->second;
  rank.groups.AddCalls(calls);
  std::set<int64_t> origins;  // Calls of two profiles that begin alike are of the first.
  for (StragglerWork& work : rank.works) {
    if (origins.insert(work.origin_ns).second) AddWaits(calls, &work, &rank.sums);
  }
  return true;
}

void StragglerRanks::AddWaits(std::span<const CollectiveRow> calls, StragglerWork* work,
                              Sums* sums) {
  std::map<int64_t, StragglerWork::Step*> steps;
  for (StragglerWork::Step& step : work->steps) steps.try_emplace(step.number, &step);
  std::map<const CollectiveGroup*, uint32_t> groups;
  const auto number_of = [&](const CollectiveGroup* group) {
    const auto [at, fresh] = groups.try_emplace(group, 0);
    if (fresh) at->second = texts_.NumberOf(GroupIdentity(*group));
    return at->second;
  };
  for (const CollectiveRow& row : calls) {
    if (row.recording->origin_ns != work->origin_ns) continue;
    AddLast(row, sums);
    const int64_t wait_ns = row.wait_ns();
    const auto number = row.step();
    const auto step = number ? steps.find(*number) : steps.end();
    if (row.share.ranks < 2 || wait_ns < 0) {
      if (step != steps.end() && MightBeMatched(row)) ++step->second->unmatched;
      continue;
    }
    ++sums->calls;
    SaturatingAdd(&sums->wait_ns, wait_ns);
    if (step == steps.end()) continue;
    ++step->second->calls;
    SaturatingAdd(&step->second->wait_ns, wait_ns);
    int64_t& group_ns = work->group_waits_ns[{
        number_of(row.group), static_cast<uint32_t>(step->second - work->steps.data())}];
    SaturatingAdd(&group_ns, wait_ns);
  }
}

void StragglerRanks::AddLast(const CollectiveRow& row, Sums* sums) {
  if (row.share.last_rank == nullptr) return;
  ++sums->placed_calls;
  if (!row.came_last()) {
    int64_t& caused_ns = caused_ns_[*row.share.last_rank];
    SaturatingAdd(&caused_ns, std::max<int64_t>(0, row.wait_ns()));
    return;
  }
  ++sums->last_calls;
  if (row.call.before.idle_permille < 0) return;
  SaturatingAdd(&sums->idle_permille, row.call.before.idle_permille);
  // Where it computed nothing: what has no name.
  WorkPlace place;
  if (row.work != nullptr) {
    place = {texts_.NumberOf(row.work->op), texts_.NumberOf(row.work->layer)};
  }
  ++sums->before[place];
}

WorkPlace StragglerRanks::Renumber(const TextNumbers& from, WorkPlace place) {
  return {texts_.NumberOf(from.TextOf(place.op)), texts_.NumberOf(from.TextOf(place.layer))};
}

void StragglerRanks::Renumber(const TextNumbers& from, StragglerWork* work) {
  for (auto* const places : {&work->ops, &work->layers}) {
    for (WorkPlace& place : *places) place = Renumber(from, place);
  }
  std::map<StragglerWork::GroupStep, int64_t> waits_ns;
  for (const auto& [at, wait_ns] : work->group_waits_ns) {
    waits_ns[{texts_.NumberOf(from.TextOf(at.first)), at.second}] = wait_ns;
  }
  work->group_waits_ns = std::move(waits_ns);
}

void StragglerRanks::AddTo(Sums* sums, const Sums& more, const TextNumbers& from) {
  for (const auto part : {&Sums::calls, &Sums::wait_ns, &Sums::placed_calls, &Sums::last_calls,
                          &Sums::idle_permille}) {
    SaturatingAdd(&(sums->*part), more.*part);
  }
  for (const auto& [place, calls] : more.before) {
    int64_t& own = sums->before[Renumber(from, place)];
    SaturatingAdd(&own, calls);
  }
}

void StragglerRanks::Merge(const StragglerRanks& other) {
  for (const auto& [name, more] : other.ranks_) {
    Rank& rank = ranks_[name];
    rank.groups.Merge(more.groups);
    AddTo(&rank.sums, more.sums, other.texts_);
    for (const StragglerWork& work : more.works) {
      rank.works.push_back(work);
      Renumber(other.texts_, &rank.works.back());
    }
  }
  for (const auto& [name, caused_ns] : other.caused_ns_) {
    int64_t& own_ns = caused_ns_[name];
    SaturatingAdd(&own_ns, caused_ns);
  }
}

void StragglerRanks::Save(ByteWriter* bytes) const {
  bytes->Number(ranks_.size());
  for (const auto& [name, rank] : ranks_) {
    bytes->Values(&name, &rank.groups);
    bytes->Number(rank.works.size());
    for (const StragglerWork& work : rank.works) SaveWork(work, texts_, bytes);
    const Sums& sums = rank.sums;
    bytes->Sums(&sums.calls, &sums.wait_ns, &sums.placed_calls, &sums.last_calls,
                &sums.idle_permille);
    std::map<std::pair<std::string_view, std::string_view>, int64_t> before;  // By text.
    for (const auto& [place, count] : sums.before) {
      before[{texts_.TextOf(place.op), texts_.TextOf(place.layer)}] = count;
    }
    bytes->Number(before.size());
    for (const auto& [place, count] : before) {
      bytes->Text(place.first);
      bytes->Text(place.second);
      bytes->Sums(&count);
    }
  }
  bytes->Number(caused_ns_.size());
  for (const auto& [name, caused_ns] : caused_ns_) {
    bytes->Values(&name);
    bytes->Sums(&caused_ns);
  }
}

void StragglerRanks::Load(ByteReader* bytes) {
  for (size_t left = bytes->Size(); left > 0; --left) {
    std::string name;
    bytes->Values(&name);
    Rank& rank = ranks_[name];
    RankGroups groups;
    bytes->Values(&groups);
    rank.groups.Merge(groups);
    for (size_t works = bytes->Size(); works > 0; --works) {
      LoadWork(&texts_, bytes, &rank.works.emplace_back());
    }
    Sums sums;
    bytes->Sums(&sums.calls, &sums.wait_ns, &sums.placed_calls, &sums.last_calls,
                &sums.idle_permille);
    for (size_t places = bytes->Size(3); places > 0; --places) {
      const WorkPlace place = LoadPlace(&texts_, bytes);
      bytes->Sums(&sums.before[place]);
    }
    AddTo(&rank.sums, sums, texts_);
  }
  for (size_t left = bytes->Size(2); left > 0; --left) {
    std::string name;
    int64_t caused_ns = 0;
    bytes->Values(&name);
    bytes->Sums(&caused_ns);
    SaturatingAdd(&caused_ns_[name], caused_ns);
  }
}

std::vector<StragglerRanks::Row> StragglerRanks::Rows() const {
  std::vector<StragglerRank> judged;
  std::vector<Row> rows;
  std::vector<size_t> row_of;  // By judged.
  for (const auto& [name, rank] : ranks_) {
    std::vector<const StragglerWork*> works;
    for (const StragglerWork& work : rank.works) works.push_back(&work);
    std::sort(works.begin(), works.end(), StragglerRanksBefore);
    for (const StragglerWork* work : works) {
      judged.push_back({work, rank.groups.Stage().value_or(-1)});
      row_of.push_back(rows.size());
    }
    Row& row = rows.emplace_back();
    row.rank = &name;
    row.sums = &rank.sums;
    const auto caused = caused_ns_.find(name);
    if (caused != caused_ns_.end()) row.caused_ns = caused->second;
  }
  const std::vector<StragglerFinding> findings = JudgeStragglers(judged);
  for (size_t i = 0; i < findings.size(); ++i) {
    Row& row = rows[row_of[i]];
    const bool first = row.step_ns == 0;
    if (!first && findings[i].verdict <= row.finding.verdict) continue;
    row.finding = findings[i];
    row.step_ns = MeanStep(*judged[i].work);
  }
  return rows;
}

}  // namespace oplens::prof
