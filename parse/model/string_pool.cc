#include "parse/model/string_pool.h"

#include <cstring>

#include "base/hash.h"

namespace oplens {

StringId StringPool::Intern(std::string_view text) {
  if (text.empty()) return 0;
  const uint64_t hash = HashText(text);
  const uint32_t known = index_.Find(hash, [&](uint32_t id) { return views_[id] == text; });
  if (known != EntryIndex::kNone) return known;
  if (index_.empty() && views_.size() > 1) {
    MakeIndex();
    return Intern(text);
  }
  const auto id = static_cast<StringId>(views_.size());
  views_.push_back(Store(text));
  index_.Add(hash, id);
  return id;
}

void StringPool::MakeIndex() {
  for (StringId id = 1; id < views_.size(); ++id) index_.Add(HashText(views_[id]), id);
}

std::string_view StringPool::Store(std::string_view text) {
  if (text.size() > free_bytes_) {
    // A long text gets its own chunk; the current chunk stays open.
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

}  // namespace oplens
