// A library of oplens for that PyTorch, which says that it was loaded.

#include <cstdio>

extern "C" {

int other_torch();

__attribute__((visibility("default"))) extern const char oplens_torch_build[];
const char oplens_torch_build[] =
    "oplens_torch build: torch 2.9.1 soname libtorch_cpu.so abi 1 end";

}  // extern "C"

namespace {

const int g_said = other_torch() == 1 ? std::puts("annotated") : 0;
const int g_written = g_said + std::fflush(stdout);

}  // namespace
