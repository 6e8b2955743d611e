// libtorch_cpu.so of a PyTorch that is told by the files beside it alone.

extern "C" __attribute__((visibility("default"))) int other_torch();
extern "C" int other_torch() { return 1; }
