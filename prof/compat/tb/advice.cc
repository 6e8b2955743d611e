#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "prof/compat/tb/rules.h"
#include "prof/compat/tb/steps.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step_times.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/streams/gpu_rows.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

using advice::TbFacts;

void AddTbAdviceSteps(const Run& run, TbFacts* facts) {
  const std::vector<Step> steps = TensorBoardSteps(run.trace(), run.work());
  if (steps.empty()) return;
  const auto times = TbTimesOf(steps, TbClassesOf(run));
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto part = [&](TimeClass of) {
      return times[i].parts[static_cast<size_t>(of)].value_or(0);
    };
    SaturatingAdd(&facts->total_ns, LengthOf(steps[i].span));
    SaturatingAdd(&facts->dataloader_ns, part(TimeClass::kDataLoader));
    SaturatingAdd(&facts->comm_ns, part(TimeClass::kComm));
  }
}

void AddDevices(const Run& run, TbFacts* facts) {
  const Trace& trace = run.trace();
  for (const Device& device : trace.devices) {
    TbFacts::Device& known = facts->devices.emplace_back();
    known.id = device.id;
    known.compute_capability =
        10 * device.compute_capability_major + device.compute_capability_minor;
    known.memory_bytes = device.memory_bytes;
    for (const MemoryEvent& event : trace.memory_events) {
      if (event.source != MemorySource::kFramework || event.device_id != device.id) continue;
      known.peak_allocated_bytes =
          std::max(known.peak_allocated_bytes, event.total_allocated_bytes);
    }
  }
  std::sort(facts->devices.begin(), facts->devices.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  std::set<int32_t> used;
  for (const DeviceEvent& event : run.work().events()) used.insert(event.device_id);
  facts->used_devices = static_cast<int64_t>(used.size());
}

void AddNames(const Trace& trace, TbFacts* facts) {
  std::vector<bool> seen(trace.strings.size(), false);
  for (const TorchEvent& event : trace.torch_events) {
    if (event.kind > TorchEvent::Kind::kAnnotation || seen[event.name]) continue;
    seen[event.name] = true;
    const std::string_view name = trace.strings.View(event.name);
    facts->data_parallel |= name == "DataParallel.forward";
    facts->distributed_data_parallel |= name == "DistributedDataParallel.forward";
    facts->nccl |= name.starts_with("nccl:");
    facts->gloo |= name.starts_with("gloo:");
  }
}

class TbAdvice : public Partial {
 public:
  void Begin(const Run* run) override {
    gpu_ = MakeTbGpu({});
    gpu_->Begin(run);
    if (run == nullptr) notes_.insert("advice: --compat tb needs the profile itself");
  }
  void Add(const PricedKernel& kernel) override { gpu_->Add(kernel); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const TbAdvice&>(other);
    // A rank with two files counts as two: the plugin looks at files.
    for (const auto& [rank, facts] : more.ranks_) {
      auto& own = ranks_[rank];
      own.insert(own.end(), facts.begin(), facts.end());
    }
    notes_.insert(more.notes_.begin(), more.notes_.end());
  }
  std::vector<Field> Fields() const override {
    return {kAdviceView.fields().begin(), kAdviceView.fields().end()};
  }
  void Emit(Sink* sink) const override;
  bool IsDocument() const override { return true; }
  std::string Document() const override;
  std::vector<std::string> Notes() const override { return {notes_.begin(), notes_.end()}; }

 private:
  template <typename F>
  void ForEach(F take) const;

  std::map<std::string, std::vector<TbFacts>, RankBefore> ranks_;
  std::set<std::string> notes_;
  std::unique_ptr<Partial> gpu_;  // Of the current run.
};

void TbAdvice::End(const Run* run) {
  gpu_->End(run);
  if (run != nullptr) {
    TbFacts& facts = ranks_[std::string(run->rank())].emplace_back();
    for (const auto& [rank, devices] : dynamic_cast<const GpuRows&>(*gpu_).ranks()) {
      for (const auto& [id, sums] : devices) {
        facts.gpus.push_back({id, sums.busy_ns, sums.window_ns});
      }
    }
    AddTbAdviceSteps(*run, &facts);
    AddDevices(*run, &facts);
    AddNames(run->trace(), &facts);
    const TbTensorCoreTime time = TbTensorCoreTimeOf(run->trace(), TbTree(run->trace()));
    facts.kernel_ns = time.kernel_ns;
    facts.tensor_core_ns = time.tensor_core_ns;
    facts.op_kernel_ns = time.op_kernel_ns;
    facts.eligible_ns = time.eligible_ns;
  }
  gpu_.reset();
}

/// Calls take(rank, rule, sentence) for each rule that fired, by rank; rows of a rank do not depend
/// on the order of its files.
template <typename F>
void TbAdvice::ForEach(F take) const {
  for (const auto& [rank, files] : ranks_) {
    for (const advice::TbRule& rule : advice::TbRules()) {
      std::set<std::string> sentences;
      for (const TbFacts& facts : files) {
        if (auto sentence = rule.check(facts)) sentences.insert(std::move(*sentence));
      }
      for (const std::string& sentence : sentences) take(rank, rule, sentence);
    }
  }
}

void TbAdvice::Emit(Sink* sink) const {
  const std::vector<Field> fields = Fields();
  ForEach([&](const std::string& rank, const advice::TbRule& rule, const std::string& sentence) {
    std::vector<Cell> cells(fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string_view key = fields[i].key;
      if (key == "id") cells[i] = Text(rule.id);
      if (key == "worst_rank") cells[i] = Text(rank);
      if (key == "ranks") cells[i] = Integer(1);
      if (key == "item") cells[i] = Text(sentence);
      if (key == "change") cells[i] = Text(rule.change);
      if (key == "command") cells[i] = Text(rule.command);
      if (key == "evidence_view") cells[i] = Text(rule.view);
    }
    sink->Row(cells);
  });
}

std::string TbAdvice::Document() const {
  std::string text;
  ForEach([&](const std::string& rank, const advice::TbRule& rule, const std::string& sentence) {
    if (!text.empty()) text += '\n';
    text += rule.id;
    if (!rank.empty()) text += fmt::format(", rank {}", rank);
    text += fmt::format("\n  {}\n  change: {}\n  see: prof FILE {}\n", sentence, rule.change,
                        rule.command);
  });
  if (text.empty() && !ranks_.empty()) text = "N/A\n";  // The plugin's word.
  return text;
}

}  // namespace

std::unique_ptr<Partial> MakeTbAdvice(const ViewOptions& /*options*/) {
  return std::make_unique<TbAdvice>();
}

}  // namespace oplens::prof
