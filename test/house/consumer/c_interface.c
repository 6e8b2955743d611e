#include "nvtx_annotate/oplens_annotate.h"

/* What a program in C emits. Returns the version of the interface. */
uint32_t emit_layer(void) {
  oplens_end(oplens_layer_begin("block.0"));
  return oplens_abi_version();
}
