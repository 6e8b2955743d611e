#include "test/recorder/names.h"

namespace oplens::test_recorder {
namespace {

void AppendUtf8(uint32_t code, std::string* out) {
  const auto add = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

}  // namespace

std::string Narrow(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != L'\0'; ++text) {
    const auto code = static_cast<uint32_t>(*text);
    const bool valid = code < 0xd800 || (code >= 0xe000 && code <= 0x10ffff);
    AppendUtf8(valid ? code : 0xfffd, &out);
  }
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
