#include "parse/join/inference.h"

#include <algorithm>
#include <utility>

#include "parse/join/joined.h"
#include "parse/join/reference.h"
#include "parse/join/repetition.h"

namespace oplens::parse {

Inference::Inference(const Joined& joined, const Joined* reference, bool repetition) {
  if (!repetition && reference == nullptr) return;
  const std::vector<Kernel>& kernels = joined.trace().kernels;
  if (std::none_of(kernels.begin(), kernels.end(), IsUntold)) return;
  PlaceKeys keys(joined.trace());
  const std::vector<Lane> lanes = LanesOf(joined, &keys);
  if (repetition) InferFromRepetition(lanes, &all_);
  const auto by_kernel = [](const Inferred& a, const Inferred& b) { return a.kernel < b.kernel; };
  std::sort(all_.begin(), all_.end(), by_kernel);
  if (reference == nullptr) return;
  std::vector<Inferred> others;
  InferFromReference(lanes, *reference, &others);
  // The first word about a kernel counts: captures come before what ran.
  std::stable_sort(others.begin(), others.end(), by_kernel);
  others.erase(
      std::unique(others.begin(), others.end(),
                  [](const Inferred& a, const Inferred& b) { return a.kernel == b.kernel; }),
      others.end());
  // The file's own steps come first where they tell the layer too.
  for (const Inferred& other : others) {
    const auto own = std::lower_bound(all_.begin(), all_.end(), other, by_kernel);
    if (own == all_.end() || own->kernel != other.kernel) continue;
    if (!own->layer && other.layer) *own = other;
  }
  const size_t count = all_.size();
  for (const Inferred& other : others) {
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(count);
    const auto own = std::lower_bound(all_.begin(), end, other, by_kernel);
    if (own == end || own->kernel != other.kernel) all_.push_back(other);
  }
  std::sort(all_.begin(), all_.end(), by_kernel);
}

const Inferred* Inference::Of(size_t kernel) const {
  const auto place =
      std::lower_bound(all_.begin(), all_.end(), kernel,
                       [](const Inferred& entry, size_t key) { return entry.kernel < key; });
  return place != all_.end() && place->kernel == kernel ? &*place : nullptr;
}

}  // namespace oplens::parse
