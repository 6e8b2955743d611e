#include "prof/views/streams/utilisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/ratio.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"

namespace oplens::prof {

void Utilisation::Add(const PricedKernel& row, double peak_flops_per_s) {
  const KernelRecord& record = *row.record;
  if (!record.timed()) return;
  timed_ns_ += record.duration_ns;
  const RatedWork work = RatedWorkOf(row);
  const std::optional<int64_t> known = ModelFlopsOf(row);
  if (!known) unknown_ns_ += record.duration_ns;
  if (work.flops_measured) measured_ns_ += record.duration_ns;
  const auto flops = static_cast<double>(known.value_or(0));
  if (row.phase == Phase::kRecompute) {
    recomputed_flops_ += flops;
  } else if (peak_flops_per_s > 0) {
    model_flops_ += flops;
    ideal_s_ += flops / peak_flops_per_s;
  } else {
    unrated_flops_ += flops;
  }
  AddSpan(record);
}

void Utilisation::AddReplay(const KernelRecord& record) {
  ++replays_;
  if (record.timed()) AddSpan(record);
}

void Utilisation::AddSpan(const KernelRecord& record) {
  if (!record.start_ns || !record.end_ns) {
    starts_known_ &= false;
    return;
  }
  const std::string_view rank = record.rank.value_or(std::string_view());
  if (last_ == spans_.end() || last_->first.first != rank ||
      last_->first.second != record.device_id) {
    const Span own = {*record.start_ns, *record.end_ns};
    last_ = spans_.try_emplace({std::string(rank), record.device_id}, own).first;
  }
  Span& span = last_->second;
  span.first_ns = std::min(span.first_ns, *record.start_ns);
  span.last_ns = std::max(span.last_ns, *record.end_ns);
}

double Utilisation::WallNs() const {
  double wall_ns = ended_wall_ns_;
  for (const auto& [key, span] : spans_) {
    wall_ns += static_cast<double>(span.last_ns) - static_cast<double>(span.first_ns);
  }
  return wall_ns;
}

void Utilisation::EndInput() {
  ended_wall_ns_ = WallNs();
  spans_.clear();
  last_ = spans_.end();
}

std::optional<double> Utilisation::Percent() const {
  const double wall_s = WallNs() * 1e-9;
  if (!starts_known_ || wall_s <= 0 || model_flops_ <= 0) return std::nullopt;
  return 100 * ideal_s_ / wall_s;
}

std::vector<std::string> Utilisation::Sentences() const {
  const auto percent = Percent();
  if (!percent) return {};
  std::string text = fmt::format(
      "{}FLOPs utilisation {:.1f} %: matrix products that ran, {:.3f} TFLOP, at the peaks of their "
      "types, in {:.3f} ms of all GPUs from the first kernel to the last",
      measured_ns_ > 0 ? "" : "model ", *percent, model_flops_ * 1e-12, WallNs() * 1e-6);
  if (measured_ns_ > 0) {
    text += fmt::format("; measured in {:.1f} % of kernel time",
                        oplens::Percent<int64_t>(measured_ns_, timed_ns_).value_or(0));
  }
  if (unknown_ns_ > 0) {
    text += fmt::format("; a lower bound: FLOPs are unknown for {:.1f} % of kernel time",
                        oplens::Percent<int64_t>(unknown_ns_, timed_ns_).value_or(0));
  }
  if (replays_ > 0) {
    text += fmt::format("; a lower bound: {} graph replays hide their kernels", int64_t{replays_});
  }
  if (unrated_flops_ > 0) {
    text +=
        fmt::format("; without {:.3f} TFLOP whose peak rate is not known", unrated_flops_ * 1e-12);
  }
  if (recomputed_flops_ > 0) {
    text += fmt::format("; without {:.3f} TFLOP of recomputation", recomputed_flops_ * 1e-12);
  }
  return {text};
}

}  // namespace oplens::prof
