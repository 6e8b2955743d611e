// convert_spool FOLDER PAIRS [THREADS [KIND]]: makes a spool of PAIRS push/pop pairs and says how
// long its conversion takes. KIND: text (the default), string (registered), distinct (texts that
// are all different), op (payloads).

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nvtx_annotate/payload.h"
#include "record/conversion.h"
#include "test/support/spool_builder.h"

namespace {

namespace fs = std::filesystem;
namespace spool = oplens::record::spool;
using oplens::test::EventRecord;
using oplens::test::SpoolParts;

constexpr uint64_t kSchema = spool::kFirstSchema;

/// A stream that is written a chunk at a time.
class FastStream {
 public:
  FastStream(fs::path folder, uint32_t stream) : folder_(std::move(folder)), stream_(stream) {}

  void Append(const std::string& record) {
    constexpr size_t kChunk = size_t{4} << 20;
    if (bytes_.size() + record.size() > kChunk) Flush();
    if (bytes_.empty()) bytes_.assign(sizeof(spool::ChunkHead), '\0');
    bytes_ += record;
  }

  void Flush() {
    if (bytes_.empty()) return;
    spool::ChunkHead head{};
    std::memcpy(head.magic, spool::kChunkMagic, sizeof head.magic);
    head.version = spool::kVersion;
    head.stream = stream_;
    head.sequence = sequence_++;
    head.thread_id = head.os_thread_id = stream_;
    head.capacity = static_cast<uint32_t>(bytes_.size());
    head.used = bytes_.size();
    std::memcpy(bytes_.data(), static_cast<const void*>(&head), sizeof head);
    std::ofstream(folder_ / fmt::format("{}.{}", stream_, head.sequence), std::ios::binary)
        << bytes_;
    bytes_.clear();
  }

 private:
  fs::path folder_;
  uint32_t stream_;
  uint32_t sequence_ = 0;
  std::string bytes_;
};

std::string OpPayload(int64_t seq) {
  static const int64_t shape[] = {64, 128};
  oplens_arg args[2] = {};
  for (oplens_arg& arg : args) {
    arg.kind = OPLENS_TENSOR;
    arg.count = 2;
    arg.value.ints = shape;
  }
  oplens::markers::CallFacts facts;
  facts.seq = seq;
  alignas(8) unsigned char bytes[oplens::markers::kPayloadBufferBytes];
  const size_t size = oplens::markers::EncodePayload(facts, 0, args, 2, bytes);
  return {reinterpret_cast<const char*>(bytes), size};
}

void WriteSpool(const fs::path& image, int64_t pairs, uint32_t threads, const std::string& kind) {
  FastStream names(image, spool::kNamesStream);
  names.Append(EventRecord(spool::RecordKind::kString, 1,
                           {.string = 1, .text = "torch.mm|aten::mm|train.py:31"}));
  names.Append(
      EventRecord(spool::RecordKind::kSchema, 1, {.range = kSchema, .text = "oplens.op.v1"}));
  names.Flush();
  std::vector<FastStream> streams;
  for (uint32_t i = 0; i < threads; ++i) streams.emplace_back(image, spool::kFirstEventStream + i);
  for (int64_t i = 0; i < pairs; ++i) {
    SpoolParts parts;
    if (kind == "text") parts.text = fmt::format("forward step layer {}", i % 100);
    if (kind == "distinct") parts.text = fmt::format("forward step {}", i);
    if (kind == "string") parts.string = 1;
    if (kind == "op") {
      parts.string = 1;
      parts.payloads = {{kSchema, OpPayload(i)}};
      parts.call = true;
    }
    FastStream& stream = streams[static_cast<size_t>(i) % threads];
    stream.Append(EventRecord(spool::RecordKind::kPush, 1000 * i, parts));
    stream.Append(EventRecord(spool::RecordKind::kPop, 1000 * i + 500, {}));
  }
  for (FastStream& stream : streams) stream.Flush();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "convert_spool FOLDER PAIRS [THREADS [KIND]]\n");
    return 2;
  }
  const fs::path folder = argv[1];
  const int64_t pairs = std::atoll(argv[2]);
  const auto threads = static_cast<uint32_t>(argc > 3 ? std::atoi(argv[3]) : 1);
  const std::string kind = argc > 4 ? argv[4] : "text";
  const fs::path spool_folder = folder / "bench.sql.spool";
  fs::remove_all(spool_folder);
  const fs::path image = oplens::test::MakeSpoolImage(spool_folder, 1, folder / "bench.sql");
  WriteSpool(image, pairs, threads, kind);

  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  oplens::record::ConversionOptions options;
  options.spool = spool_folder;
  options.force = true;
  oplens::record::Conversion conversion(options);
  const auto start = Clock::now();
  while (conversion.Advance(std::chrono::seconds(1))) {
  }
  const auto read = Clock::now();
  conversion.Finish({});
  const auto end = Clock::now();
  const auto rows = static_cast<double>(2 * pairs);
  fmt::print(
      "{} {} pairs, {} threads: rows {:.2f} s ({:.2f} M MARKER rows/s of pairs), indices "
      "{:.2f} s, file {:.0f} MB\n",
      kind, pairs, threads, seconds(read - start), rows / seconds(read - start) / 1e6,
      seconds(end - read), static_cast<double>(fs::file_size(folder / "bench.sql")) / 1e6);
  fs::remove_all(spool_folder);
  return 0;
}
