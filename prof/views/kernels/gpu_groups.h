#ifndef OPLENS_PROF_VIEWS_KERNELS_GPU_GROUPS_H_
#define OPLENS_PROF_VIEWS_KERNELS_GPU_GROUPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/chunked.h"
#include "base/sums.h"
#include "ops/gpu/gpu.h"
#include "prof/views/common/bounded_groups.h"
#include "prof/views/kernels/gpu_list.h"

namespace oplens::prof {

/// Sums by texts (AppendKeyText) and GPU, bounded in memory.
template <typename Sums>
class GpuGroups {
  struct OfKey {
    uint32_t gpu = GpuList::kNone;
    Sums sums;
  };
  using Groups = BoundedGroups<OfKey>;

 public:
  using Group = typename Groups::Group;

  const GpuList& gpus() const { return gpus_; }
  /// The number of a GPU; null: unknown.
  uint32_t NumberOfGpu(const ops::Gpu* gpu) { return gpus_.NumberOf(gpu); }
  /// The number of the group of `*key`, which the number of a GPU is appended to.
  uint32_t NumberOf(uint32_t gpu, std::string* key) {
    for (int shift = 0; shift < 32; shift += 8) key->push_back(static_cast<char>(gpu >> shift));
    const uint32_t number = groups_.NumberOf(*key);
    groups_[number].gpu = gpu;
    return number;
  }
  Sums& operator[](uint32_t number) { return groups_[number].sums; }

  const Chunked<Group>& all() const { return groups_.all(); }
  /// Of the keys beyond the bounds.
  const Sums& other() const { return groups_.other.sums; }
  static std::string_view TextsOf(const Group& group) {
    return std::string_view(*group.key).substr(0, group.key->size() - sizeof(uint32_t));
  }
  static const Sums& SumsOf(const Group& group) { return group.sums.sums; }
  /// Null: unknown.
  const ops::Gpu* GpuOf(const Group& group) const { return gpus_.At(group.sums.gpu); }

  void Merge(const GpuGroups& more) {
    for (const Group& group : more.all())
      AddTo(std::string(TextsOf(group)), more.GpuOf(group), SumsOf(group));
    MergeInto(&groups_.other.sums, more.groups_.other.sums);
  }

  /// `texts`: what each key has at least.
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self, size_t texts) {
    bytes->Values(&self->groups_.other.sums);
    if constexpr (Bytes::kReads) {
      GpuList gpus;
      GpuList::Transfer(bytes, &gpus);
      for (size_t left = bytes->Size(); left > 0; --left) {
        uint32_t gpu = GpuList::kNone;
        std::string key;
        Sums sums;
        bytes->Texts(&key);
        bytes->Values(&gpu, &sums);
        const auto found = static_cast<size_t>(std::count(key.begin(), key.end(), '\0'));
        bytes->Check(found >= texts && key.back() == 0,
                     "a row does not have the texts of its keys");
        bytes->Check(gpu <= gpus.all().size(), "a row has a GPU that does not exist");
        self->AddTo(std::move(key), gpus.At(gpu), sums);
      }
    } else {
      GpuList::Transfer(bytes, &self->gpus_);
      bytes->Number(self->groups_.size());
      for (const Group& group : self->all()) {
        const std::string_view key = TextsOf(group);
        bytes->Texts(&key);
        bytes->Values(&group.sums.gpu, &group.sums.sums);
      }
    }
  }

 private:
  void AddTo(std::string key, const ops::Gpu* gpu, const Sums& sums) {
    const uint32_t number = NumberOf(gpus_.NumberOf(gpu), &key);
    MergeInto(&groups_[number].sums, sums);
  }

  Groups groups_;
  GpuList gpus_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_GPU_GROUPS_H_
