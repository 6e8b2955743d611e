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

constexpr size_t kSlots = 16384;  // A power of two; half of them are used at most.

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

uint64_t Hash(uint64_t hash, const char* text) {
  for (const char* c = Text(text); *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3;
  }
  return (hash ^ 0xff) * 0x100000001b3;
}

uint64_t HashOf(const markers::OpNames& names) {
  return Hash(Hash(Hash(0xcbf29ce484222325, names.mod), names.op), names.aten);
}

char* Copied(const char* text) { return strdup(Text(text)); }

const RegisteredName* Register(const markers::OpNames& names, nvtxDomainHandle_t domain) {
  const size_t length =
      std::strlen(Text(names.mod)) + std::strlen(Text(names.op)) + std::strlen(Text(names.aten));
  // Such names are texts; they are cut when they are formatted.
  if (length > markers::kMaxStringBytes) return nullptr;
  char message[4 * markers::kMaxStringBytes];
  markers::FormatMessage(names, message);
  markers::OpNames copies;
  copies.mod = Copied(names.mod);
  copies.op = Copied(names.op);
  copies.aten = Copied(names.aten);
  if (copies.mod == nullptr || copies.op == nullptr || copies.aten == nullptr) return nullptr;
  return new (std::nothrow) RegisteredName(copies, nvtxDomainRegisterStringA(domain, message));
}

}  // namespace

bool RegisteredName::Is(const markers::OpNames& names) const noexcept {
  return std::strcmp(names_.op, Text(names.op)) == 0 &&
         std::strcmp(names_.mod, Text(names.mod)) == 0 &&
         std::strcmp(names_.aten, Text(names.aten)) == 0;
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
  // Another thread may have registered it, or taken the slot, meanwhile.
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

}  // namespace oplens::annotate
