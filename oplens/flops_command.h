#ifndef OPLENS_OPLENS_FLOPS_COMMAND_H_
#define OPLENS_OPLENS_FLOPS_COMMAND_H_

namespace oplens::flops {

/// `oplens flops`: FLOPs, MFU and HFU of a model without a profile. argv[0] is not read. Returns
/// the exit code.
int RunFlops(int argc, char** argv);

}  // namespace oplens::flops

#endif  // OPLENS_OPLENS_FLOPS_COMMAND_H_
