#include "mcp/kernel_keys.h"

#include <fmt/format.h>

#include <charconv>

#include "base/hash.h"

namespace oplens::mcp {
namespace {

std::string LaunchText(const prof::Cell& grid, const prof::Cell& block) {
  std::string text;
  for (const prof::Cell* cell : {&grid, &block}) {
    const auto* extent = std::get_if<Dim3>(&cell->value);
    text += extent == nullptr ? "-" : fmt::format("{}x{}x{} ", extent->x, extent->y, extent->z);
  }
  return text;
}

}  // namespace

std::string NameKey(std::string_view name) {
  return fmt::format("{:08x}", SpreadBits(StableHash(name)) >> 32);
}

void KernelKeys::Collector::Row(std::span<const prof::Cell> cells) {
  const auto* name = std::get_if<std::string_view>(&cells[0].value);
  const std::string launch = LaunchText(cells[1], cells[2]);
  std::string key = fmt::format("{}.{:04x}", NameKey(name == nullptr ? "" : *name),
                                SpreadBits(StableHash(launch)) >> 48);
  const auto [known, is_new] =
      keys_.kinds_by_key_.try_emplace(key, static_cast<uint32_t>(keys_.kinds_.size()));
  if (is_new) keys_.kinds_.push_back({std::move(key)});
  Kind& kind = keys_.kinds_[known->second];
  keys_.kernels_.push_back({known->second, ++kind.count});
  const auto* sil_ns = std::get_if<int64_t>(&cells[3].value);
  const int64_t time_ns = sil_ns == nullptr ? 0 : *sil_ns;
  if (time_ns > kind.longest_ns) {
    kind.longest_ns = time_ns;
    kind.longest = static_cast<int64_t>(keys_.kernels_.size());
  }
}

std::string KernelKeys::KeyOf(int64_t idx) const {
  if (idx < 1 || static_cast<uint64_t>(idx) > kernels_.size()) return {};
  const Kernel& kernel = kernels_[static_cast<size_t>(idx - 1)];
  return fmt::format("{}#{}", kinds_[kernel.kind].key, kernel.occurrence);
}

std::optional<int64_t> KernelKeys::Find(std::string_view key) const {
  const size_t mark = key.rfind('#');
  const std::string_view kind_key = key.substr(0, mark);
  const auto kind = kinds_by_key_.find(kind_key);
  if (mark != std::string_view::npos && kind != kinds_by_key_.end()) {
    uint32_t occurrence = 0;
    const char* const end = key.data() + key.size();
    const auto read = std::from_chars(key.data() + mark + 1, end, occurrence);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (kernels_[i].kind == kind->second && kernels_[i].occurrence == occurrence) {
        return static_cast<int64_t>(i + 1);
      }
    }
    return std::nullopt;
  }
  if (kind != kinds_by_key_.end()) return kinds_[kind->second].longest;
  const Kind* longest = nullptr;
  for (const std::string& name : {std::string(key), NameKey(key)}) {
    for (auto of_name = kinds_by_key_.lower_bound(name + ".");
         of_name != kinds_by_key_.end() && of_name->first.starts_with(name + "."); ++of_name) {
      const Kind& one = kinds_[of_name->second];
      if (longest == nullptr || one.longest_ns > longest->longest_ns) longest = &one;
    }
    if (longest != nullptr) return longest->longest;
  }
  return std::nullopt;
}

}  // namespace oplens::mcp
