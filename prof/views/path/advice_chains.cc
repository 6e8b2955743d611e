#include "prof/views/path/advice_chains.h"

#include <algorithm>
#include <limits>
#include <span>

#include "parse/model/kernel_record.h"
#include "prof/views/path/kernel_groups.h"

namespace oplens::prof {
namespace {

constexpr size_t kMostOnStream = 4096;
constexpr size_t kMostWaiting = size_t{1} << 16;
constexpr size_t kMostTexts = size_t{1} << 16;

/// The end of the last product that is in no attention: few groups reach over it.
size_t EndOfLastProduct(std::span<const StreamKernel> kernels) {
  for (size_t i = kernels.size(); i > 0; --i) {
    if (kernels[i - 1].work == StreamWork::kProduct && kernels[i - 1].batch <= 1) return i;
  }
  return kernels.size();
}

}  // namespace

void AdviceChains::Begin(advice::RankFacts* facts) {
  facts_ = facts;
  streams_.clear();
  texts_.Clear();
  waiting_ = 0;
}

void AdviceChains::Settle(std::vector<StreamKernel>* kernels, size_t count) {
  ClaimGroups(std::span(*kernels).first(count), texts_, facts_);
  kernels->erase(kernels->begin(), kernels->begin() + static_cast<ptrdiff_t>(count));
  waiting_ -= count;
}

void AdviceChains::SettleAll() {
  for (auto& [stream, kernels] : streams_) Settle(&kernels, kernels.size());
  streams_.clear();
  texts_.Clear();
}

void AdviceChains::Add(const PricedKernel& kernel, int64_t time_ns, bool claimed,
                       std::vector<LaterClaim> later) {
  if (waiting_ >= kMostWaiting || texts_.size() >= kMostTexts) SettleAll();
  const KernelRecord& record = *kernel.record;
  std::vector<StreamKernel>& kernels = streams_[{record.device_id, record.stream_id}];
  if (kernels.size() >= kMostOnStream) Settle(&kernels, EndOfLastProduct(kernels));
  StreamKernel own = StreamKernelOf(kernel, time_ns, &texts_);
  own.claimed = claimed;
  own.later = std::move(later);
  kernels.push_back(std::move(own));
  ++waiting_;
}

void AdviceChains::Break(const PricedKernel& kernel) {
  const int64_t device = kernel.record->device_id;
  StreamKernel end;
  end.claimed = true;
  const auto first = streams_.lower_bound({device, std::numeric_limits<int64_t>::min()});
  for (auto it = first; it != streams_.end() && it->first.first == device; ++it) {
    std::vector<StreamKernel>& kernels = it->second;
    if (kernels.empty() || (kernels.back().work == StreamWork::kOther && kernels.back().claimed)) {
      continue;
    }
    kernels.push_back(end);
    ++waiting_;
  }
}

void AdviceChains::End() {
  SettleAll();
  facts_ = nullptr;
}

}  // namespace oplens::prof
