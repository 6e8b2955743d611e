#ifndef OPLENS_PROF_RUN_BLOCK_ORDER_H_
#define OPLENS_PROF_RUN_BLOCK_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/records/kernel_records.h"
#include "prof/run/name_reader.h"

namespace oplens::prof {

/// The blocks of a transformer that a profile does not name, by the sequence of its kernels:
/// docs/correlation.md, "Order". Kernels of a block that has a recorded layer are left alone. O(n)
/// in kernels, after a sort if they do not come in order; about 40 bytes a kernel of a network with
/// blocks, nothing for other files.
class BlockOrder {
 public:
  BlockOrder() = default;
  BlockOrder(const parse::KernelRecords& profile, NameReader* names);

  /// "block[7]", "attention" of a kernel (index in Trace::kernels); empty if it is in no block.
  /// Valid as long as this object.
  std::span<const std::string_view> LayerOf(uint32_t kernel) const;

 private:
  friend class BlockFinder;

  struct Path {
    std::string block;
    std::string part;
    std::string_view views[2];
  };

  /// The number of a path, from 1.
  uint32_t PathOf(size_t block, std::string_view part);

  std::vector<uint32_t> paths_of_kernels_;  // 0: none; empty: no blocks.
  std::map<std::pair<size_t, std::string_view>, uint32_t> numbers_;
  std::vector<std::unique_ptr<Path>> paths_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_BLOCK_ORDER_H_
