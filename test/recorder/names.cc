#include "test/recorder/names.h"

#include "record/inject/wide_text.h"

namespace oplens::test_recorder {
std::string Narrow(const wchar_t* text) {
  if (text == nullptr) return {};
  constexpr size_t kAny = SIZE_MAX / 2;
  bool cut = false;
  std::string out(record::inject::Utf8Bytes(text, kAny, &cut), '\0');
  record::inject::WriteUtf8(text, out.size(), out.data());
  return out;
}

Names& Names::Get() {
  static auto* const names = new Names;
  return *names;
}

uint32_t Names::Domain(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto known = domain_ids_.find(name);
  if (known != domain_ids_.end()) return known->second;
  content_.domains.emplace_back(name);
  const auto id = static_cast<uint32_t>(content_.domains.size());
  domain_ids_.emplace(name, id);
  return id;
}

uint32_t Names::String(uint32_t domain, std::string_view text) {
  const std::lock_guard lock(mutex_);
  const auto next = static_cast<uint32_t>(content_.strings.size() + 1);
  const auto [at, added] = string_ids_.emplace(std::pair(domain, std::string(text)), next);
  if (added) content_.strings.emplace_back(domain, text);
  return at->second;
}

void Names::NameCategory(uint32_t domain, uint32_t category, std::string_view name) {
  const std::lock_guard lock(mutex_);
  content_.categories[{domain, category}] = name;
}

void Names::NameThread(uint32_t thread_id, std::string_view name) {
  const std::lock_guard lock(mutex_);
  content_.threads[thread_id] = name;
}

uint64_t Names::AddSchema(uint32_t domain, std::string_view name, size_t bytes, uint64_t tag,
                          uint64_t chosen_id) {
  // Ids below are reserved for types and for ids that programs choose.
  constexpr uint64_t kFirstOwnId = uint64_t{1} << 32;
  const std::lock_guard lock(mutex_);
  uint64_t id = chosen_id;
  if (id == 0) id = tag << 48 | (kFirstOwnId + content_.schemas.size());
  content_.schemas.push_back({id, domain, bytes, std::string(name)});
  return id;
}

Names::Content Names::Copy() const {
  const std::lock_guard lock(mutex_);
  return content_;
}

}  // namespace oplens::test_recorder
