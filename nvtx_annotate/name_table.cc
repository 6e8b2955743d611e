#include "nvtx_annotate/name_table.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "nvtx_annotate/payload.h"

namespace oplens::annotate {
namespace {

constexpr size_t kSlots = 16384;  // A power of two; at most half of them are used.

struct Table {
  std::mutex mutex;
  std::atomic<const RegisteredName*> slots[kSlots] = {};
  size_t used = 0;
};

/// Never destroyed: threads may emit while the process ends.
Table* TheTable() noexcept {
  static Table* const table = new (std::nothrow) Table;
  return table;
}

const char* Text(const char* text) { return text == nullptr ? "" : text; }

/// Names are short: a library call costs more than this loop.
bool Same(const char* known, const char* text) {
  if (text == nullptr) return *Text(known) == '\0';
  if (known == nullptr) return *text == '\0';
  while (*known == *text && *known != '\0') {
    ++known;
    ++text;
  }
  return *known == *text;
}

uint64_t Hash(uint64_t hash, const char* text) {
  for (const char* c = Text(text); *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
  }
  return (hash ^ 0xff) * 0x100000001b3;
}

uint64_t HashOf(const markers::OpNames& names) {
  const uint64_t hash = Hash(Hash(Hash(0xcbf29ce484222325, names.mod), names.op), names.aten);
  return (Hash(hash, names.file) ^ static_cast<unsigned>(names.line)) * 0x100000001b3;
}

char* Copied(const char* text) { return strdup(Text(text)); }

const RegisteredName* Register(const markers::OpNames& names, nvtxDomainHandle_t domain) {
  const size_t length =
      std::strlen(Text(names.mod)) + std::strlen(Text(names.op)) + std::strlen(Text(names.aten));
  // Too long: emitted as texts, truncated during formatting.
  if (length > markers::kMaxStringBytes) return nullptr;
  char message[markers::kMessageBufferBytes];
  markers::FormatMessage(names, message);
  markers::OpNames copies;
  copies.mod = Copied(names.mod);
  copies.op = Copied(names.op);
  copies.aten = Copied(names.aten);
  copies.file = names.file;
  copies.line = names.line;
  if (copies.mod == nullptr || copies.op == nullptr || copies.aten == nullptr) return nullptr;
  return new (std::nothrow) RegisteredName(copies, nvtxDomainRegisterStringA(domain, message));
}

}  // namespace

bool RegisteredName::IsNamed(const markers::OpNames& names) const noexcept {
  return Same(names_.op, names.op) && Same(names_.mod, names.mod) && Same(names_.aten, names.aten);
}

bool RegisteredName::Is(const markers::OpNames& names) const noexcept {
  return names_.line == names.line && IsNamed(names) && Same(names_.file, names.file);
}

const RegisteredName* InternName(const markers::OpNames& names,
                                 nvtxDomainHandle_t domain) noexcept {
  Table* const table = TheTable();
  if (table == nullptr) return nullptr;
  const uint64_t first = HashOf(names);
  size_t slot = first % kSlots;
  for (;; slot = (slot + 1) % kSlots) {
    const RegisteredName* const known = table->slots[slot].load(std::memory_order_acquire);
    if (known == nullptr) break;
    if (known->Is(names)) return known;
  }
  const std::lock_guard lock(table->mutex);
  // Another thread may have registered it or taken the slot.
  for (;; slot = (slot + 1) % kSlots) {
    const RegisteredName* const known = table->slots[slot].load(std::memory_order_acquire);
    if (known == nullptr) break;
    if (known->Is(names)) return known;
  }
  if (table->used >= kSlots / 2) return nullptr;
  const RegisteredName* const added = Register(names, domain);
  if (added == nullptr) return nullptr;
  ++table->used;
  table->slots[slot].store(added, std::memory_order_release);
  return added;
}

void LockNames() noexcept {
  if (Table* const table = TheTable()) table->mutex.lock();
}

void UnlockNames() noexcept {
  if (Table* const table = TheTable()) table->mutex.unlock();
}

}  // namespace oplens::annotate
