// The bytes of a database file, of nvprof or Nsight Systems.

#include "test/fuzz/read_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  oplens::fuzz::ReadProfile(data, size);
  return 0;
}
