#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROUNDS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROUNDS_H_

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/exchange.h"
#include "ops/dtype.h"
#include "prof/run/collective_kind.h"
#include "prof/views/collectives/collective_set.h"

namespace oplens::prof {

/// What all ranks' calls of one collective have in common.
struct CollectiveKey {
  int64_t sequence = -1;  ///< In the group; if numbered, the fields below are unset.
  int64_t size_bytes = -1;
  int64_t step = 0;
  uint32_t ordinal = 0;  ///< Among a rank's similar calls.
  uint32_t group = 0;    ///< Number in the process's own groups.
  int64_t run = 0;       ///< Recordings of other runs have other calls (RunsByTime).
  CollectiveKind kind = CollectiveKind::kUnknown;
  ops::DType dtype = ops::DType::kUnknown;
  bool numbered = false;
  bool has_step = false;

  friend bool operator==(const CollectiveKey&, const CollectiveKey&) = default;
  /// Without the group.
  uint64_t Hash() const;

  /// All except the group.
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->sequence, &self->size_bytes, &self->step, &self->ordinal, &self->run);
    bytes->Word(&self->kind, static_cast<size_t>(CollectiveKind::kWait) + 1);
    bytes->Word(&self->dtype, static_cast<size_t>(ops::DType::kUnknown) + 1);
    bytes->Values(&self->numbered, &self->has_step);
  }
};

struct CollectiveKeyHash {
  size_t operator()(const CollectiveKey& key) const;
};

/// Merges what processes know of the same keys. A key's hash chooses its home process, so that no
/// process needs to hold all keys.
class CollectiveRounds {
 public:
  /// `keys`: of this process, without duplicates; their groups are in `groups`. `exchange` must
  /// outlive this object.
  CollectiveRounds(Exchange* exchange, const CollectiveGroups& groups,
                   std::span<const CollectiveKey> keys);

  /// `values`: one per key. Sets each to the merge of all processes' values of the key.
  /// `T::Merge(const T&)` must be commutative and associative. T has Transfer.
  template <typename T>
  void Merge(std::vector<T>* values);

 private:
  bool alone() const { return exchange_.size() == 1; }
  /// A message to each process with what `add` writes for each of its keys.
  template <typename Add>
  std::vector<std::string> Messages(Add add) const;

  Exchange& exchange_;
  std::vector<uint32_t> homes_;  // By local key: home process.
  std::vector<std::vector<uint32_t>>
      asked_;        // By process: indices of its keys among those at home here.
  size_t here_ = 0;  // Number of keys at home here.
};

template <typename Add>
std::vector<std::string> CollectiveRounds::Messages(Add add) const {
  std::vector<ByteWriter> writers(exchange_.size());
  for (size_t i = 0; i < homes_.size(); ++i) add(i, &writers[homes_[i]]);
  std::vector<std::string> messages;
  messages.reserve(writers.size());
  for (ByteWriter& writer : writers) messages.push_back(writer.Take());
  return messages;
}

template <typename T>
void CollectiveRounds::Merge(std::vector<T>* values) {
  if (alone()) return;
  std::vector<std::string> told = exchange_.AllToAll(
      Messages([&](size_t i, ByteWriter* bytes) { bytes->Values(&(*values)[i]); }));
  std::vector<T> merged(here_);
  std::vector<bool> any(here_, false);
  for (size_t from = 0; from < told.size(); ++from) {
    ByteReader bytes(told[from], "what another process says of collectives");
    for (const uint32_t place : asked_[from]) {
      T value;
      bytes.Values(&value);
      if (any[place]) {
        merged[place].Merge(value);
      } else {
        merged[place] = value;
      }
      any[place] = true;
    }
    bytes.End();
  }
  std::vector<std::string> answers;
  for (const std::vector<uint32_t>& places : asked_) {
    ByteWriter bytes;
    for (const uint32_t place : places) bytes.Values(&merged[place]);
    answers.push_back(bytes.Take());
  }
  told = exchange_.AllToAll(std::move(answers));
  std::vector<std::unique_ptr<ByteReader>> readers;
  for (const std::string& answer : told) {
    readers.push_back(
        std::make_unique<ByteReader>(answer, "what another process says of collectives"));
  }
  for (size_t i = 0; i < homes_.size(); ++i) readers[homes_[i]]->Values(&(*values)[i]);
}

/// The values of all processes; each sends one message.
template <typename T>
std::vector<T> ValuesOfAll(const std::vector<T>& own, std::string_view what, Exchange* exchange) {
  ByteWriter message;
  message.Values(&own);
  std::vector<T> all;
  for (const std::string& told : exchange->AllGather(message.Take())) {
    ByteReader bytes(told, fmt::format("what another process says of {}", what));
    bytes.TrustTexts();
    std::vector<T> values;
    bytes.Values(&values);
    std::move(values.begin(), values.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROUNDS_H_
