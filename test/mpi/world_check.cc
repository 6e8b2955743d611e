// Started by world_test.cc with mpirun: sends texts to and fro, and says whether they came.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/world.h"

namespace oplens::mpi {
namespace {

/// Texts that tell who they are from and for. Some are empty, most are longer than a piece.
std::string TextFor(int from, int to) {
  return std::string(static_cast<size_t>((from * 31 + to * 17) % 90), 'a') +
         ((from + to) % 4 == 0 ? "" : fmt::format("{} to {}", from, to));
}

int64_t CheckTexts(World* world) {
  int64_t wrong = 0;
  const int own = world->rank();
  std::vector<std::string> texts;
  for (int to = 0; to < world->size(); ++to) texts.push_back(TextFor(own, to));
  const std::vector<std::string> got = world->AllToAll(texts);
  const std::vector<std::string> all = world->AllGather(TextFor(own, own));
  for (int from = 0; from < world->size(); ++from) {
    if (got[static_cast<size_t>(from)] != TextFor(from, own)) ++wrong;
    if (all[static_cast<size_t>(from)] != TextFor(from, from)) ++wrong;
  }
  const std::string first(1000, 'x');
  if (world->Broadcast(own == 0 ? first : "") != first) ++wrong;
  if (own > 0) world->Send(own - 1, TextFor(own, 99));
  if (own + 1 < world->size() && world->Receive(own + 1) != TextFor(own + 1, 99)) ++wrong;
  return wrong;
}

/// Each number must come once.
int64_t CheckCounter(World* world) {
  constexpr size_t kCount = 200;
  std::string taken(kCount, '0');
  {
    SharedCounter counter;
    for (size_t next = counter.Next(); next < kCount; next = counter.Next()) {
      taken[next] = '1';
      world->Progress();
    }
  }
  std::string times(kCount, '0');
  for (const std::string& of_one : world->AllGather(taken)) {
    for (size_t i = 0; i < kCount; ++i) {
      if (of_one[i] == '1') ++times[i];
    }
  }
  return times == std::string(kCount, '1') ? 0 : 1;
}

int Check(int argc, char** argv) {
  World world(&argc, &argv, 16);
  const int64_t wrong = CheckTexts(&world) + CheckCounter(&world);
  int64_t sum = 0;
  for (const std::string& text : world.AllGather(std::to_string(wrong))) {
    sum += std::strtoll(text.c_str(), nullptr, 10);
  }
  if (world.rank() == 0) fmt::print("{} processes, {} wrong\n", world.size(), sum);
  return sum == 0 ? 0 : 1;
}

}  // namespace
}  // namespace oplens::mpi

int main(int argc, char** argv) { return oplens::mpi::Check(argc, argv); }
