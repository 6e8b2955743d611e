#ifndef OPLENS_PARSE_PROVENANCE_PROVENANCE_H_
#define OPLENS_PARSE_PROVENANCE_PROVENANCE_H_

#include <string>

#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Completes a trace of PyTorch's profiler with what TorchInductor wrote of its kernels into files
/// in the same folder (IsProvenanceName of parse/source/file_kind.h), if there are any: calls of
/// compiled kernels get the source lines, a layer by the names of FX nodes, the fused ops one by
/// one and the use of each parameter. A file that cannot be used is noted.
void AddProvenance(const std::string& trace_path, Trace* trace, Diagnostics* diagnostics);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_PROVENANCE_PROVENANCE_H_
