// replay FOLDER: runs a fuzzer's function on every file of a folder and on changed copies of each,
// the same ones every time.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr int kCopies = 300;

std::string Read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

/// A copy with some bytes overwritten, a part cut out or doubled, or the end lost.
std::string Change(std::string bytes, std::mt19937* random) {
  if (bytes.empty()) return bytes;
  const auto below = [random](size_t bound) { return (*random)() % bound; };
  for (size_t changes = 1 + below(8); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size());
    const size_t length = std::min<size_t>(1 + below(64), bytes.size() - at);
    switch (below(8)) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 2:
        bytes.resize(at);
        break;
      default:
        bytes[at] = static_cast<char>(below(256));
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<std::filesystem::path> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    seeds.push_back(entry.path());
  }
  std::sort(seeds.begin(), seeds.end());
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds\n", argv[1]);
    return 1;
  }
  std::mt19937 random(1);
  for (const std::filesystem::path& seed : seeds) {
    const std::string bytes = Read(seed);
    Run(bytes);
    for (int copy = 0; copy < kCopies; ++copy) Run(Change(bytes, &random));
  }
  std::printf("%zu seeds, %d changed copies of each\n", seeds.size(), kCopies);
  return 0;
}
