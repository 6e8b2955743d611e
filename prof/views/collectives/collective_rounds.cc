#include "prof/views/collectives/collective_rounds.h"

#include <unordered_map>

#include "base/hash.h"

namespace oplens::prof {
namespace {

/// Mixes a value into a hash (SplitMix64).
uint64_t With(uint64_t hash, uint64_t value) {
  return SpreadBits(value + hash + 0x9e3779b97f4a7c15);
}

uint64_t CollectiveRoundsHashOf(const CollectiveGroup& group) {
  return With(With(StableHash(group.name), StableHash(group.ranks)),
              static_cast<uint64_t>(group.size));
}

/// Message with the keys at `places`, each group once.
std::string MessageOf(const CollectiveGroups& groups, std::span<const CollectiveKey> keys,
                      std::span<const uint32_t> places) {
  CollectiveGroups used;
  std::unordered_map<uint32_t, uint32_t> numbers;
  ByteWriter told;
  for (const uint32_t place : places) {
    const CollectiveKey& key = keys[place];
    const auto [at, fresh] = numbers.try_emplace(key.group, 0);
    if (fresh) at->second = used.NumberOf(groups[key.group]);
    told.Number(at->second);
    told.Values(&key);
  }
  ByteWriter message;
  used.Save(&message);
  message.Number(places.size());
  message.Raw(told.bytes());
  return message.Take();
}

/// The keys of a message from MessageOf(), with numbers in `groups`.
std::vector<CollectiveKey> CollectiveRoundsKeysOf(const std::string& message,
                                                  CollectiveGroups* groups) {
  ByteReader bytes(message, "what another process says of collectives");
  const std::vector<uint32_t> numbers = groups->Load(&bytes);
  std::vector<CollectiveKey> keys(bytes.Size());
  for (CollectiveKey& key : keys) {
    const uint64_t group = bytes.Number();
    bytes.Check(group < numbers.size(), "a call has a group that does not exist");
    bytes.Values(&key);
    key.group = numbers[group];
  }
  bytes.End();
  return keys;
}

}  // namespace

uint64_t CollectiveKey::Hash() const {
  const uint64_t small = static_cast<uint64_t>(kind) | static_cast<uint64_t>(dtype) << 16 |
                         (numbered ? uint64_t{1} << 32 : 0) | (has_step ? uint64_t{1} << 33 : 0);
  uint64_t hash = With(ordinal, small);
  for (const int64_t value : {sequence, size_bytes, step, run}) {
    hash = With(hash, static_cast<uint64_t>(value));
  }
  return hash;
}

size_t CollectiveKeyHash::operator()(const CollectiveKey& key) const {
  return With(key.Hash(), key.group);
}

CollectiveRounds::CollectiveRounds(Exchange* exchange, const CollectiveGroups& groups,
                                   std::span<const CollectiveKey> keys)
    : exchange_(*exchange) {
  if (alone()) return;
  std::vector<uint64_t> hashes;
  for (uint32_t i = 0; i < groups.size(); ++i) hashes.push_back(CollectiveRoundsHashOf(groups[i]));
  std::vector<std::vector<uint32_t>> sent(exchange_.size());
  homes_.reserve(keys.size());
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const uint64_t hash = With(keys[i].Hash(), hashes[keys[i].group]);
    homes_.push_back(static_cast<uint32_t>(hash % exchange_.size()));
    sent[homes_.back()].push_back(i);
  }
  std::vector<std::string> messages;
  for (const std::vector<uint32_t>& places : sent) {
    messages.push_back(MessageOf(groups, keys, places));
  }
  const std::vector<std::string> told = exchange_.AllToAll(std::move(messages));
  CollectiveGroups all_groups;
  std::unordered_map<CollectiveKey, uint32_t, CollectiveKeyHash> places;
  for (const std::string& message : told) {
    std::vector<uint32_t>& asked = asked_.emplace_back();
    for (const CollectiveKey& key : CollectiveRoundsKeysOf(message, &all_groups)) {
      const auto next = static_cast<uint32_t>(places.size());
      asked.push_back(places.try_emplace(key, next).first->second);
    }
  }
  here_ = places.size();
}

}  // namespace oplens::prof
