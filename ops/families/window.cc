#include "ops/families/window.h"

#include <algorithm>
#include <numeric>

namespace oplens::ops {

bool Window::Valid() const {
  return kernel > 0 && stride > 0 && dilation > 0 && before >= 0 && after >= 0;
}

std::optional<int64_t> WindowCount(int64_t extent, const Window& window, bool ceil) {
  if (!window.Valid()) return std::nullopt;
  const Checked padded = Checked(extent) + window.before + window.after;
  const Checked rounded = ceil ? Checked(window.stride) - 1 : Checked(0);
  const std::optional<int64_t> room = (padded - window.Reach() + rounded).Value();
  if (!room || *room < 0) return std::nullopt;
  Checked count = Checked(*room) / window.stride + 1;
  const std::optional<int64_t> start =
      ((count - 1) * window.stride - extent - window.before).Value();
  if (ceil && start && *start >= 0) count = count - 1;
  if (count == 0) return std::nullopt;
  return count.Value();
}

int64_t WindowCover(int64_t extent, int64_t positions, int64_t taps) {
  const std::optional<int64_t> read = (Checked(positions) * taps).Value();
  return read ? std::min(extent, *read) : extent;
}

std::optional<int64_t> TransposedExtent(int64_t extent, const Window& window, int64_t added) {
  if (!window.Valid() || extent < 1) return std::nullopt;
  const Checked padding = Checked(window.before) + window.after;
  const std::optional<int64_t> result =
      ((Checked(extent) - 1) * window.stride - padding + window.Reach() + added).Value();
  return result && *result > 0 ? result : std::nullopt;
}

std::optional<std::vector<int64_t>> PerDimension(const std::optional<std::vector<int64_t>>& values,
                                                 size_t dimensions, int64_t absent) {
  if (!values || values->empty()) return std::vector<int64_t>(dimensions, absent);
  if (values->size() == 1) return std::vector<int64_t>(dimensions, values->front());
  return values->size() == dimensions ? values : std::nullopt;
}

Checked AdaptiveMembers(int64_t extent, int64_t windows) {
  if (extent < 1 || windows < 1) return 0;
  // Window i of O is [floor(i H / O), ceil((i+1) H / O)): it shares an element with the next one
  // unless O divides (i+1) H, as it does for gcd(H, O) of them.
  return Checked(extent) + windows - std::gcd(extent, windows);
}

}  // namespace oplens::ops
