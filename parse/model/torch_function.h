#ifndef OPLENS_PARSE_MODEL_TORCH_FUNCTION_H_
#define OPLENS_PARSE_MODEL_TORCH_FUNCTION_H_

#include <cstdint>
#include <optional>

#include "parse/model/string_pool.h"

namespace oplens {

/// An event of PyTorch's profiler with what its own tables make of it (a FunctionEvent). Nothing
/// else is concluded from these: their ids are wrong in many files.
struct TorchFunction {
  enum class Kind : uint8_t {
    kOperator,
    kAnnotation,        ///< A label of the user, or a step.
    kPython,            ///< A call of Python.
    kCall,              ///< A call of an API, or time of the profiler itself.
    kDevice,            ///< Work of a GPU, or of what takes its place (XPU, PrivateUse1).
    kDeviceAnnotation,  ///< A label as seen on the GPU.
    kAccelerator,       ///< Work of another device (MTIA, HPU).
    kMemory,            ///< A moment: memory taken or given back.
    kOutOfMemory,
  };
  /// Whose memory.
  enum class Memory : uint8_t { kHost, kDevice, kOther };
  static constexpr int64_t kNoOrder = INT64_MAX;

  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t id = 0;         ///< Its own number, for a call of an API its correlation id; 0: none.
  int64_t linked_id = 0;  ///< Number of the call that made or launched it; 0: none.
  int64_t sequence = -1;
  int64_t forward_thread = 0;  ///< The framework's number of the forward thread; 0: none.
  int64_t bytes = 0;           ///< Of kMemory and kOutOfMemory; negative when freed.
  int64_t order = kNoOrder;    ///< The recorder's own order of events.
  int64_t number = 0;          ///< Number of the event in the file, from 1.
  StringId name = 0;           ///< Without `overload`.
  StringId overload = 0;       ///< "Tensor" of aten::add.Tensor.
  StringId dims = 0;           ///< Extents of tensor arguments as Python prints them; 0: none.
  StringId stack = 0;          ///< As in the file: frames, innermost first, joined by ';'.
  uint32_t thread =
      UINT32_MAX;  ///< Index into Trace::threads, of the first three kinds and memory.
  Kind kind = Kind::kOperator;
  Memory memory = Memory::kHost;
};

/// What a file of PyTorch's profiler tells of its recording.
struct TorchRecording {
  /// What PyTorch calls the device whose work is in the file.
  enum class Device : uint8_t { kNone, kCuda, kXpu, kMtia, kHpu, kPrivateUse1 };

  std::optional<int64_t> start_ns;     ///< Start of the recording.
  std::optional<bool> profile_memory;  ///< Whether memory was to be recorded.
  bool since_2 = false;                ///< Something that PyTorch writes since 2.x.
  Device device = Device::kNone;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TORCH_FUNCTION_H_
