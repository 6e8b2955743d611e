#ifndef OPLENS_MCP_KERNEL_KEYS_H_
#define OPLENS_MCP_KERNEL_KEYS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/dim3.h"
#include "prof/table/sink.h"

namespace oplens::mcp {

/// The part of a kernel's key that tells its name: eight digits.
std::string NameKey(std::string_view name);

/// Keys of the kernels of a run, which do not depend on the order of rows in a file:
/// "NAME.LAUNCH#N", NAME of its name, LAUNCH of grid and block, N its place among the kernels that
/// agree in both, from 1, by start.
class KernelKeys {
 public:
  /// Takes the columns kernel, grid, block, sil of all kernels in the order of idx.
  class Collector : public prof::Sink {
   public:
    explicit Collector(KernelKeys* keys) : keys_(*keys) {}
    static constexpr char kColumns[] = "kernel,grid,block,sil";
    void Begin(std::string_view, std::vector<prof::Field>) override {}
    void Row(std::span<const prof::Cell> cells) override;

   private:
    KernelKeys& keys_;
  };

  /// Of the kernel with this idx, which counts from 1; "" if there is none.
  std::string KeyOf(int64_t idx) const;
  /// The idx of a key. Of a key without "#N" the kernel with most time, likewise of NAME alone, and
  /// of a whole name. nullopt: there is none.
  std::optional<int64_t> Find(std::string_view key) const;
  size_t size() const { return kernels_.size(); }

 private:
  struct Kernel {
    uint32_t kind = 0;
    uint32_t occurrence = 0;
  };
  struct Kind {
    std::string key;
    uint32_t count = 0;
    int64_t longest_ns = -1;
    int64_t longest = 0;  // Its idx.
  };

  std::vector<Kernel> kernels_;  // By idx - 1.
  std::vector<Kind> kinds_;
  std::map<std::string, uint32_t, std::less<>> kinds_by_key_;
};

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_KERNEL_KEYS_H_
