#include "report/data/pack.h"

#include <zlib.h>

#include <utility>

#include "base/error.h"

namespace oplens::report {
namespace {

constexpr int kLevel = 6;
constexpr int kRawWindowBits = -15;
constexpr int kMemoryLevel = 8;

}  // namespace

struct Deflater::Stream {
  z_stream state{};
};

Deflater::Deflater() : stream_(std::make_unique<Stream>()) {
  if (deflateInit2(&stream_->state, kLevel, Z_DEFLATED, kRawWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error("no memory to compress with");
  }
}

Deflater::~Deflater() { deflateEnd(&stream_->state); }

void Deflater::Run(std::string_view bytes, bool last) {
  constexpr size_t kBlockBytes = size_t{64} << 10;
  constexpr size_t kMaxInput = size_t{1} << 30;
  z_stream& stream = stream_->state;
  int state = Z_OK;
  do {
    if (stream.avail_in == 0) {
      const std::string_view next = bytes.substr(0, kMaxInput);
      bytes.remove_prefix(next.size());
      // zlib does not write there; its interface predates const.
      stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(next.data()));
      stream.avail_in = static_cast<uInt>(next.size());
    }
    const size_t before = packed_.size();
    packed_.resize(before + kBlockBytes);
    stream.next_out = reinterpret_cast<Bytef*>(packed_.data() + before);
    stream.avail_out = kBlockBytes;
    state = deflate(&stream, last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed_.resize(before + kBlockBytes - stream.avail_out);
  } while (last ? state != Z_STREAM_END
                : stream.avail_in > 0 || !bytes.empty() || stream.avail_out == 0);
}

std::string Deflater::Finish() {
  Run({}, true);
  packed_.shrink_to_fit();
  return std::move(packed_);
}

std::string Deflate(std::string_view bytes) {
  Deflater deflater;
  deflater.Add(bytes);
  return deflater.Finish();
}

void AppendBase64(std::string_view bytes, std::string* out) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t begin = out->size();
  out->resize(begin + Base64Length(bytes.size()));
  char* next = out->data() + begin;
  const auto at = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const uint32_t group =
        at(i) << 16 | (left > 1 ? at(i + 1) << 8 : 0u) | (left > 2 ? at(i + 2) : 0u);
    *next++ = kDigits[group >> 18];
    *next++ = kDigits[group >> 12 & 63];
    *next++ = left > 1 ? kDigits[group >> 6 & 63] : '=';
    *next++ = left > 2 ? kDigits[group & 63] : '=';
  }
}

void AppendPlanes(std::span<const uint64_t> values, int width, std::string* out) {
  for (int plane = 0; plane < width; ++plane) {
    for (const uint64_t value : values) out->push_back(static_cast<char>(value >> (8 * plane)));
  }
}

}  // namespace oplens::report
