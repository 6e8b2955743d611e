#ifndef OPLENS_NVTX_ANNOTATE_HOT_H_
#define OPLENS_NVTX_ANNOTATE_HOT_H_

/// For functions that every range of a program runs: they stand side by side. None has an array on
/// its stack, so that there is nothing for a guard to protect.
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define OPLENS_HOT __attribute__((hot, no_stack_protector))
#endif
#endif
#ifndef OPLENS_HOT
#define OPLENS_HOT __attribute__((hot))
#endif

#endif  // OPLENS_NVTX_ANNOTATE_HOT_H_
