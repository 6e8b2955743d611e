// Stands in for what a PyTorch without CUDA lacks: loading this library lets the real emit_nvtx
// emit its NVTX ranges. torch.cuda.synchronize() is left to the program.

#include <nvtx3/nvToolsExt.h>
#include <torch/csrc/profiler/api.h>
#if __has_include(<torch/csrc/profiler/stubs/base.h>)
#include <torch/csrc/profiler/stubs/base.h>
#endif

#include <cstdint>
#include <functional>

namespace {

using torch::profiler::impl::ProfilerStubs;

/// The types of its functions depend on the version.
template <typename Function>
struct EventOf;
template <typename Index, typename Pointer>
struct EventOf<void (ProfilerStubs::*)(Index, Pointer, int64_t*) const> {
  using Device = Index;
  using Event = Pointer;
};
using Record = EventOf<decltype(&ProfilerStubs::record)>;
template <typename Event>
struct ConstantOf;
template <typename Event>
struct ConstantOf<Event*> {
  using Type = const Event*;
};
using ConstantEvent = ConstantOf<Record::Event>::Type;

struct Stubs : ProfilerStubs {
  void record(Record::Device /*device*/, Record::Event /*event*/,
              int64_t* /*cpu_ns*/) const override {}
  float elapsed(ConstantEvent /*event*/, ConstantEvent /*event2*/) const override { return 0; }
  void mark(const char* name) const override { nvtxMarkA(name); }
  void rangePush(const char* name) const override { nvtxRangePushA(name); }
  void rangePop() const override { nvtxRangePop(); }
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> /*op*/) const override {}
  void synchronize() const override {}
};

Stubs g_stubs;

const bool g_registered = [] {
  torch::profiler::impl::registerCUDAMethods(&g_stubs);
  return true;
}();

}  // namespace
