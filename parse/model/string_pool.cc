#include "parse/model/string_pool.h"

#include <cstring>
#include <functional>

namespace oplens {

StringPool::StringPool() : views_(1), slots_(1024, 0) {}

StringId StringPool::Intern(std::string_view text) {
  if (text.empty()) return 0;
  if (views_.size() * 2 > slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  size_t i = std::hash<std::string_view>{}(text)&mask;
  while (slots_[i] != 0) {
    if (views_[slots_[i]] == text) return slots_[i];
    i = (i + 1) & mask;
  }
  const auto id = static_cast<StringId>(views_.size());
  views_.push_back(Store(text));
  slots_[i] = id;
  return id;
}

std::string_view StringPool::Store(std::string_view text) {
  if (text.size() > free_bytes_) {
    // A long text gets a chunk of its own, and the current chunk stays open.
    if (text.size() > kChunkBytes / 4) {
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
      std::memcpy(chunks_.back().get(), text.data(), text.size());
      return {chunks_.back().get(), text.size()};
    }
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunkBytes));
    free_ = chunks_.back().get();
    free_bytes_ = kChunkBytes;
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view stored(free_, text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return stored;
}

void StringPool::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (StringId id = 1; id < views_.size(); ++id) {
    size_t i = std::hash<std::string_view>{}(views_[id]) & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = id;
  }
}

}  // namespace oplens
