// make_demo_db FILE: writes the demo profile of the README as an nvprof database.

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "examples/demo_profile.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_demo_db FILE\n");
    return 2;
  }
  try {
    oplens::examples::DemoProfile().Write(argv[1], oplens::examples::DemoOptions());
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_demo_db: {}: {}\n", argv[1], error.what());
    return 1;
  }
  return 0;
}
