#include "ops/gpu/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "parse/model/kernel_record.h"
#include "parse/model/recording_advice.h"
#include "parse/model/trace.h"
#include "prof/run/run.h"
#include "prof/views/roof_sums.h"
#include "prof/views/roofline_fields.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kRooflineOther = "(other)";

bool IsSame(const ops::Gpu& a, const ops::Gpu& b) {
  return a.name == b.name && a.dram_bytes_per_s == b.dram_bytes_per_s &&
         a.peaks_per_s == b.peaks_per_s;
}

std::optional<double> RooflineRatio(std::optional<double> part, double whole) {
  return part && whole > 0 ? std::optional<double>(*part / whole) : std::nullopt;
}

class Rooflines : public SavedPartial<Rooflines> {
 public:
  explicit Rooflines(const ViewOptions& options) {
    for (const std::string& word : options.by) by_.push_back(&RooflineKeyOf(word));
  }

  void Begin(const Run* run) override {
    if (run != nullptr) family_ = run->trace().family;
  }
  void Add(const PricedKernel& kernel) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

 private:
  // Groups that come once there are so many, or their texts take so much, count in one more.
  static constexpr size_t kMaxGroups = size_t{1} << 20;
  static constexpr size_t kMaxKeyBytes = size_t{256} << 20;
  static constexpr uint32_t kNoGpu = 0;

  struct Group {
    std::string_view texts;  // Of index_: each ended by a 0, then the place of the GPU.
    uint32_t gpu = kNoGpu;   // Place in gpus_ + 1.
    RoofSums sums;
  };
  /// What a row shows of a group, and its order.
  struct Row {
    const Group* group;
    std::optional<double> math_s;
    std::optional<double> memory_s;
    std::optional<int64_t> roof_ns;
    std::optional<int64_t> gap_ns;
  };

  uint32_t GpuOf(const ops::Gpu* gpu);
  void Append(std::string_view text) { (key_ += text).push_back('\0'); }
  void AppendGpu(uint32_t gpu);
  void EncodeKey(const PricedKernel& kernel, bool priced);
  RoofSums& SumsOfKey(uint32_t gpu);
  Row RowOf(const Group& group) const;
  static std::string_view BoundWordOf(const Row& row);
  bool Before(const Row& a, const Row& b) const;
  void EmitRow(const Row& row, Sink* sink) const;
  const ops::Gpu* At(uint32_t gpu) const { return gpu == kNoGpu ? nullptr : &gpus_[gpu - 1]; }

  std::vector<const RooflineKey*> by_;
  TextMap<uint32_t> index_;  // Into groups_.
  std::vector<Group> groups_;
  RoofSums other_;
  std::vector<ops::Gpu> gpus_;  // Each once.
  uint32_t last_gpu_ = kNoGpu;
  size_t key_bytes_ = 0;
  std::string key_;  // Of the kernel at hand,
  std::string_view last_key_;
  uint32_t last_group_ = 0;  // and of the one before.
  int64_t kernels_ = 0;
  int64_t priced_ = 0;
  Family family_ = Family::kUnknown;
};

uint32_t Rooflines::GpuOf(const ops::Gpu* gpu) {
  if (gpu == nullptr) return kNoGpu;
  if (last_gpu_ != kNoGpu && IsSame(gpus_[last_gpu_ - 1], *gpu)) return last_gpu_;
  const auto at = std::find_if(gpus_.begin(), gpus_.end(),
                               [&](const ops::Gpu& known) { return IsSame(known, *gpu); });
  last_gpu_ = static_cast<uint32_t>(at - gpus_.begin()) + 1;
  if (at == gpus_.end()) gpus_.push_back(*gpu);
  return last_gpu_;
}

void Rooflines::AppendGpu(uint32_t gpu) {
  for (int shift = 0; shift < 32; shift += 8) key_.push_back(static_cast<char>(gpu >> shift));
}

void Rooflines::EncodeKey(const PricedKernel& kernel, bool priced) {
  key_.clear();
  Append(kernel.op);
  Append(priced ? kernel.shapes : std::string_view());
  Append(priced ? DirectionWord(kernel.record->direction) : std::string_view());
  Append(priced ? kernel.dtype : std::string_view());
  for (const RooflineKey* by : by_) {
    switch (by->kind) {
      case RooflineKey::Kind::kRank:
        Append(kernel.record->rank.value_or(std::string_view()));
        break;
      case RooflineKey::Kind::kPhase:
        Append(PhaseWord(kernel.phase));
        break;
      case RooflineKey::Kind::kLayer:
        for (size_t i = 0; i < kernel.layer.size(); ++i) {
          if (i > 0) key_.push_back(':');
          key_ += kernel.layer[i];
        }
        key_.push_back('\0');
        break;
    }
  }
}

RoofSums& Rooflines::SumsOfKey(uint32_t gpu) {
  AppendGpu(gpu);
  if (key_ == last_key_) return groups_[last_group_].sums;
  const auto found = index_.find(key_);
  if (found == index_.end()) {
    if (groups_.size() >= kMaxGroups || key_bytes_ >= kMaxKeyBytes) return other_;
    key_bytes_ += key_.size();
    const auto number = static_cast<uint32_t>(groups_.size());
    last_key_ = index_.emplace(key_, number).first->first;
    last_group_ = number;
    return groups_.emplace_back(Group{last_key_, gpu, {}}).sums;
  }
  last_key_ = found->first;
  last_group_ = found->second;
  return groups_[last_group_].sums;
}

void Rooflines::Add(const PricedKernel& kernel) {
  const bool priced = kernel.share.flops.has_value() && kernel.share.bytes.has_value();
  ++kernels_;
  if (priced) ++priced_;
  EncodeKey(kernel, priced);
  SumsOfKey(priced ? GpuOf(kernel.gpu) : kNoGpu).Add(kernel, priced);
}

void Rooflines::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Rooflines&>(other);
  for (const Group& group : more.groups_) {
    key_ = group.texts.substr(0, group.texts.size() - sizeof(uint32_t));
    SumsOfKey(GpuOf(more.At(group.gpu))).Add(group.sums);
  }
  other_.Add(more.other_);
  kernels_ += more.kernels_;
  priced_ += more.priced_;
  if (family_ == Family::kUnknown) family_ = more.family_;
}

template <typename Bytes, typename Gpu>
void TransferGpu(Bytes* bytes, Gpu* gpu) {
  bytes->Values(&gpu->name);
  bytes->Word(&gpu->maker, ops::kMakerCount);
  bytes->Values(&gpu->dram_bytes_per_s);
  // Units are added behind the others.
  if constexpr (Bytes::kReads) {
    const size_t units = bytes->Size(sizeof(double));
    bytes->Check(units <= gpu->peaks_per_s.size(), "a GPU has units that none has");
    for (size_t i = 0; i < units; ++i) bytes->Values(&gpu->peaks_per_s[i]);
  } else {
    bytes->Number(gpu->peaks_per_s.size());
    for (const double& peak : gpu->peaks_per_s) bytes->Values(&peak);
  }
}

template <typename Bytes, typename Self>
void Rooflines::Transfer(Bytes* bytes, Self* self) {
  bytes->Counts(&self->kernels_, &self->priced_);
  bytes->Values(&self->family_, &self->other_);
  if constexpr (Bytes::kReads) {
    std::vector<ops::Gpu> gpus(bytes->Size(sizeof(double) * ops::kMathUnitCount));
    for (ops::Gpu& gpu : gpus) TransferGpu(bytes, &gpu);
    for (size_t left = bytes->Size(); left > 0; --left) {
      uint32_t gpu = kNoGpu;
      RoofSums sums;
      bytes->Texts(&self->key_);
      bytes->Values(&gpu, &sums);
      const auto texts =
          static_cast<size_t>(std::count(self->key_.begin(), self->key_.end(), '\0'));
      bytes->Check(texts >= kRooflineKeyCount - 1 + self->by_.size() && self->key_.back() == 0,
                   "a row has not the texts of its keys");
      bytes->Check(gpu <= gpus.size(), "a row has a GPU that none is");
      self->SumsOfKey(self->GpuOf(gpu == kNoGpu ? nullptr : &gpus[gpu - 1])).Add(sums);
    }
  } else {
    bytes->Number(self->gpus_.size());
    for (const ops::Gpu& gpu : self->gpus_) TransferGpu(bytes, &gpu);
    bytes->Number(self->groups_.size());
    for (const Group& group : self->groups_) {
      const std::string_view texts = group.texts.substr(0, group.texts.size() - sizeof(uint32_t));
      bytes->Texts(&texts);
      bytes->Values(&group.gpu, &group.sums);
    }
  }
}

std::vector<Field> Rooflines::Fields() const {
  const std::span<const Field> all = RooflineFields();
  std::vector<Field> fields(all.begin(), all.begin() + kRooflineKeyCount);
  for (const RooflineKey* by : by_) fields.push_back(by->field);
  fields.insert(fields.end(), all.begin() + kRooflineKeyCount, all.end());
  return fields;
}

Rooflines::Row Rooflines::RowOf(const Group& group) const {
  Row row{&group, {}, {}, {}, {}};
  const ops::Gpu* const gpu = At(group.gpu);
  if (gpu == nullptr) return row;
  row.math_s = group.sums.MathSeconds(*gpu);
  row.memory_s = group.sums.MemorySeconds(*gpu);
  if (!row.math_s || !row.memory_s) return row;
  constexpr double kNsPerSecond = 1e9;
  constexpr double kMostNs = 9e18;
  row.roof_ns =
      std::llround(std::min(std::max(*row.math_s, *row.memory_s) * kNsPerSecond, kMostNs));
  row.gap_ns = group.sums.time_ns - *row.roof_ns;
  return row;
}

// Kernels beside the work of their op have neither FLOPs nor bytes, and no bound.
std::string_view Rooflines::BoundWordOf(const Row& row) {
  const double time_s = static_cast<double>(row.group->sums.time_ns) * 1e-9;
  if (time_s <= 0) return {};
  switch (ops::BoundOfShares(100 * *row.math_s / time_s, 100 * *row.memory_s / time_s)) {
    case ops::Bound::kMath:
      return "compute";
    case ops::Bound::kDram:
      return "memory";
    case ops::Bound::kLatency:
      return "latency";
    case ops::Bound::kUnknown:
      break;
  }
  return {};
}

// Those without a roof come last.
bool Rooflines::Before(const Row& a, const Row& b) const {
  if (a.gap_ns != b.gap_ns) return b.gap_ns < a.gap_ns;
  if (a.group->sums.time_ns != b.group->sums.time_ns) {
    return a.group->sums.time_ns > b.group->sums.time_ns;
  }
  const auto texts = [](const Row& row) {
    return row.group->texts.substr(0, row.group->texts.size() - sizeof(uint32_t));
  };
  if (texts(a) != texts(b)) return texts(a) < texts(b);
  const ops::Gpu none;
  const auto facts = [&](const Row& row) -> const ops::Gpu& {
    return row.group->gpu == kNoGpu ? none : gpus_[row.group->gpu - 1];
  };
  return std::tie(facts(a).name, facts(a).dram_bytes_per_s, facts(a).peaks_per_s) <
         std::tie(facts(b).name, facts(b).dram_bytes_per_s, facts(b).peaks_per_s);
}

void Rooflines::Emit(Sink* sink) const {
  std::vector<Row> rows;
  rows.reserve(groups_.size());
  for (const Group& group : groups_) rows.push_back(RowOf(group));
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return Before(a, b); });
  for (const Row& row : rows) EmitRow(row, sink);
  if (other_.count == 0) return;
  std::vector<Cell> cells(RooflineFields().size() + by_.size());
  cells[0] = Text(kRooflineOther);
  cells[kRooflineKeyCount + by_.size()] = Integer(other_.count);
  cells[kRooflineKeyCount + by_.size() + 1] = Integer(other_.time_ns);
  sink->Row(cells);
}

void Rooflines::EmitRow(const Row& row, Sink* sink) const {
  constexpr double kTera = 1e12;
  constexpr double kGiga = 1e9;
  std::string_view texts = row.group->texts;
  const auto next_text = [&] {
    const std::string_view text = texts.substr(0, texts.find('\0'));
    texts.remove_prefix(text.size() + 1);
    return Text(text);
  };
  const RoofSums& sums = row.group->sums;
  const ops::Gpu* const gpu = At(row.group->gpu);
  std::vector<Cell> cells;
  for (size_t i = 0; i + 1 < kRooflineKeyCount; ++i) cells.push_back(next_text());
  cells.push_back(gpu == nullptr ? Cell{} : Text(gpu->name));
  for (size_t i = 0; i < by_.size(); ++i) cells.push_back(next_text());
  cells.push_back(Integer(sums.count));
  cells.push_back(Integer(sums.time_ns));

  // A row of kernels without a price, or without a time, has nothing more.
  const bool priced = sums.units != 0 || sums.without_unit > 0;
  const auto known = [&](const Checked& sum) {
    return priced ? sum.Approximate() : std::optional<double>();
  };
  const auto time_ns = static_cast<double>(sums.time_ns);
  const std::optional<ops::MathUnit> unit = sums.MainUnit();
  const bool peaks = gpu != nullptr && priced;
  const auto positive = [](double value) {
    return value > 0 ? std::optional<double>(value) : std::nullopt;
  };
  constexpr double kPerNsInTera = 1e-3;
  const std::optional<double> flops_per_ns = RooflineRatio(known(sums.flops), time_ns);
  cells.push_back(priced ? Integer(sums.flops.Value()) : Cell{});
  cells.push_back(priced ? Integer(sums.bytes.Value()) : Cell{});
  cells.push_back(Decimal(RooflineRatio(known(sums.flops), known(sums.bytes).value_or(0))));
  cells.push_back(flops_per_ns ? Cell{*flops_per_ns * kPerNsInTera} : Cell{});
  cells.push_back(Decimal(RooflineRatio(known(sums.bytes), time_ns)));
  cells.push_back(unit ? Text(ops::MathUnitWord(*unit)) : Cell{});
  cells.push_back(peaks && unit ? Decimal(positive(gpu->Peak(*unit) / kTera)) : Cell{});
  cells.push_back(peaks ? Decimal(positive(static_cast<double>(gpu->dram_bytes_per_s) / kGiga))
                        : Cell{});
  cells.push_back(Text(row.roof_ns ? BoundWordOf(row) : std::string_view()));
  cells.push_back(priced ? Integer(row.roof_ns) : Cell{});
  cells.push_back(priced && row.roof_ns
                      ? Decimal(RooflineRatio(100 * static_cast<double>(*row.roof_ns), time_ns))
                      : Cell{});
  cells.push_back(priced ? Integer(row.gap_ns) : Cell{});
  cells.push_back(Integer(sums.inferred_ns));
  cells.push_back(Decimal(RooflineRatio(100 * static_cast<double>(sums.inferred_ns), time_ns)));
  sink->Row(cells);
}

std::vector<std::string> Rooflines::Notes() const {
  std::vector<std::string> notes;
  if (kernels_ > 0 && priced_ == 0) {
    notes.push_back(fmt::format(
        "roofline: the cost of no kernel is known; to record what ops are called with: {}",
        RecordingRemedy(Lack::kArguments, family_)));
  } else if (priced_ > 0 && std::none_of(gpus_.begin(), gpus_.end(), [](const ops::Gpu& gpu) {
               return gpu.dram_bytes_per_s > 0;
             })) {
    const bool in_table = std::any_of(gpus_.begin(), gpus_.end(), [](const ops::Gpu& gpu) {
      return gpu.maker != ops::Maker::kOther;
    });
    const bool peaks = std::any_of(gpus_.begin(), gpus_.end(), [](const ops::Gpu& gpu) {
      return std::any_of(gpu.peaks_per_s.begin(), gpu.peaks_per_s.end(),
                         [](double peak) { return peak > 0; });
    });
    notes.push_back(fmt::format("roofline: the {} of the GPU {} not known{}",
                                peaks ? "DRAM bandwidth" : "peaks", peaks ? "is" : "are",
                                in_table || gpus_.empty() ? "; name it: --gpu NAME" : ""));
  }
  return notes;
}

constexpr std::string_view kRooflineKeys[] = {"rank", "phase", "layer"};

}  // namespace

constexpr View kRooflineView = {
    .name = "roofline",
    .help = "how far the kernels of each op are from what the GPU could do",
    .fields = RooflineFields,
    .make = MakePartial<Rooflines>,
    .by = kRooflineKeys,
    .narrow = "count,time_ns,tflops,bound,efficiency_pct,gap_ns",
    .important = "op,time_ns,gap_ns,efficiency_pct,bound,tflops,dtype,dir,count,shape",
    .saved_form = 1};

}  // namespace oplens::prof
