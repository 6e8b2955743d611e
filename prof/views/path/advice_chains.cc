#include "prof/views/path/advice_chains.h"

#include <algorithm>
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

void AdviceChains::Begin(advice::RankFacts* facts, AdviceClaims* claims) {
  facts_ = facts;
  claims_ = claims;
  streams_.clear();
  texts_.Clear();
  breaks_.clear();
  waiting_ = 0;
}

void AdviceChains::Settle(std::vector<StreamKernel>* kernels, size_t count) {
  ClaimGroups(std::span(*kernels).first(count), texts_, facts_, claims_);
  kernels->erase(kernels->begin(), kernels->begin() + static_cast<ptrdiff_t>(count));
  waiting_ -= count;
}

void AdviceChains::SettleAll() {
  for (auto& [stream, waiting] : streams_) Settle(&waiting.kernels, waiting.kernels.size());
  streams_.clear();
  texts_.Clear();
}

void AdviceChains::Add(const PricedKernel& kernel, int64_t time_ns, const Offer& offer) {
  if (waiting_ >= kMostWaiting || texts_.size() >= kMostTexts) SettleAll();
  const KernelRecord& record = *kernel.record;
  Waiting& stream = streams_[{record.device_id, record.stream_id}];
  std::vector<StreamKernel>& kernels = stream.kernels;
  if (kernels.size() >= kMostOnStream) Settle(&kernels, EndOfLastProduct(kernels));
  const int64_t breaks = breaks_[record.device_id];
  if (!kernels.empty() && stream.breaks != breaks) {
    kernels.emplace_back().claimed = true;
    ++waiting_;
  }
  stream.breaks = breaks;
  StreamKernel own = StreamKernelOf(kernel, time_ns, &texts_);
  own.claimed = offer.claimed;
  own.offer = offer.topic;
  own.offer_gain_ns = offer.gain_ns;
  if (offer.topic != advice::Topic::kNone) own.offer_place = texts_.Of(offer.place);
  kernels.push_back(std::move(own));
  ++waiting_;
}

void AdviceChains::Break(const PricedKernel& kernel) { ++breaks_[kernel.record->device_id]; }

void AdviceChains::End() {
  SettleAll();
  facts_ = nullptr;
}

}  // namespace oplens::prof
