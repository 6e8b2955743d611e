#ifndef OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_ALLOCATOR_H_
#define OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_ALLOCATOR_H_

#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
using DeviceIndex = int8_t;

class Device {
 public:
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

using DeleterFnPtr = void (*)(void*);

class DataPtr {
 public:
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device /*device*/)
      : data_(data), context_(context, deleter) {}
  void* get() const { return data_; }
  void* get_context() const { return context_.get(); }
  DeleterFnPtr get_deleter() const { return context_.get_deleter(); }
  bool compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr wanted) {
    if (context_.get_deleter() != expected) return false;
    context_.get_deleter() = wanted;
    return true;
  }

 private:
  void* data_;
  std::unique_ptr<void, DeleterFnPtr> context_;
};

struct Allocator {
  virtual ~Allocator() = default;
#if OPLENS_STAND_IN_MINOR < 4
  virtual DataPtr allocate(size_t size) const = 0;
#else
  virtual DataPtr allocate(size_t size) = 0;
#endif
  virtual DeleterFnPtr raw_deleter() const { return nullptr; }
#if OPLENS_STAND_IN_MINOR >= 2
  virtual void copy_data(void* to, const void* from, size_t size) const = 0;
#endif
};

/// malloc and free.
struct PlainAllocator final : Allocator {
#if OPLENS_STAND_IN_MINOR < 4
  DataPtr allocate(size_t size) const override { return Allocate(size); }
#else
  DataPtr allocate(size_t size) override { return Allocate(size); }
#endif
  DeleterFnPtr raw_deleter() const override { return std::free; }
  void copy_data(void* to, const void* from, size_t size) const { std::memcpy(to, from, size); }

 private:
  static DataPtr Allocate(size_t size) {
    void* const data = std::malloc(size);
    return {data, data, std::free, DeviceType::CPU};
  }
};

inline Allocator*& HostAllocatorSlot() {
  static PlainAllocator plain;
  static Allocator* slot = &plain;
  return slot;
}
inline Allocator* GetAllocator(const DeviceType& /*type*/) { return HostAllocatorSlot(); }
inline void SetAllocator(DeviceType /*type*/, Allocator* allocator, uint8_t /*priority*/ = 0) {
  HostAllocatorSlot() = allocator;
}

struct MemoryReportingInfoBase : public DebugInfoBase {
  virtual void reportMemoryUsage(void* data, int64_t size, size_t total_allocated,
                                 size_t total_reserved, Device device) = 0;
  virtual bool memoryProfilingEnabled() const = 0;
};

}  // namespace c10

#endif  // OPLENS_TEST_TORCH_HEADERS_2_C10_CORE_ALLOCATOR_H_
