#ifndef OPLENS_PARSE_MODEL_TIME_SPANS_H_
#define OPLENS_PARSE_MODEL_TIME_SPANS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oplens {

/// Time spans in about 4 bytes each, in the order in which they came: a trace may have ten per
/// kernel. Of a trace they ascend.
class TimeSpans {
 public:
  /// `end_ns` must not be less than `start_ns`. A start before the previous one takes 10 bytes.
  void Append(int64_t start_ns, int64_t end_ns) {
    AppendNumber(static_cast<uint64_t>(start_ns) - static_cast<uint64_t>(last_start_ns_));
    AppendNumber(static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(start_ns));
    last_start_ns_ = start_ns;
    ++size_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// One after the other. The spans must outlive it and stay as they are.
  class Reader {
   public:
    explicit Reader(const TimeSpans& spans) : at_(spans.bytes_.data()), left_(spans.size_) {}

    /// False after the last one.
    bool Next(int64_t* start_ns, int64_t* end_ns) {
      if (left_ == 0) return false;
      --left_;
      start_ += NumberAt(&at_);
      *start_ns = static_cast<int64_t>(start_);
      *end_ns = static_cast<int64_t>(start_ + NumberAt(&at_));
      return true;
    }

   private:
    const uint8_t* at_;
    size_t left_;
    uint64_t start_ = 0;
  };

  /// Calls f(start_ns, end_ns) for each, in order.
  template <typename F>
  void ForEach(F f) const {
    Reader reader(*this);
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    while (reader.Next(&start_ns, &end_ns)) f(start_ns, end_ns);
  }

 private:
  // 7 bits per byte, lowest first; the highest bit says that more follow.
  void AppendNumber(uint64_t number) {
    for (; number >= 128; number >>= 7) bytes_.push_back(static_cast<uint8_t>(number | 128));
    bytes_.push_back(static_cast<uint8_t>(number));
  }
  static uint64_t NumberAt(const uint8_t** at) {
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = *(*at)++;
      number |= uint64_t{byte & 127U} << shift;
      if (byte < 128) return number;
    }
  }

  std::vector<uint8_t> bytes_;
  int64_t last_start_ns_ = 0;
  size_t size_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TIME_SPANS_H_
