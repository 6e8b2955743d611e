#ifndef OPLENS_NVTX_ANNOTATE_TORCH_COMMUNICATION_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_COMMUNICATION_H_

#include <ATen/record_function.h>

#include <string>

#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/call_args.h"

namespace oplens::annotate::torch {

/// A collective call as the backends of torch.distributed record it ("record_param_comms", NCCL's
/// among them): its name, tensors, group and number of ranks. No operator: it stands inside one.
class CommunicationCall {
 public:
  /// False where the function is something else, or of a layout that is not known.
  bool Read(const at::RecordFunction& function, CallArgs* args);

  /// Valid as long as this object.
  markers::OpNames names() const { return {"c10d", op_.c_str(), nullptr}; }

 private:
  std::string op_;
  std::string group_;
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_COMMUNICATION_H_
