#ifndef OPLENS_PARSE_CHROME_CHROME_OVERLAY_H_
#define OPLENS_PARSE_CHROME_CHROME_OVERLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// Computed results that a timeline shows beside the contents of a profile.
struct ChromeOverlay {
  /// A number of a GPU over time.
  struct Counter {
    struct Point {
      int64_t time_ns = 0;
      double value = 0;  ///< From then on.
    };
    std::string name;
    std::string unit;  ///< Of its values: "GB/s".
    int32_t device_id = 0;
    std::vector<Point> points;  ///< By time.
  };

  /// A moment on a host thread or on a stream.
  struct Moment {
    int64_t time_ns = 0;
    ThreadIndex thread = kNoThread;  ///< kNoThread: on the stream.
    int32_t device_id = 0;
    int32_t stream_id = 0;
  };
  struct PathEdge {
    Moment from;
    Moment to;
    std::string cause;
  };

  /// More arguments of kernels: JSON members, `"flops":128,"tc":1`. 16 bytes per kernel plus texts.
  class KernelMembers {
   public:
    /// `kernel`: index into Trace::kernels.
    void Set(size_t kernel, std::string_view members) {
      if (kernel >= places_.size()) places_.resize(kernel + 1);
      places_[kernel] = {texts_.size(), members.size()};
      texts_ += members;
    }
    /// Empty if it has none.
    std::string_view Of(size_t kernel) const {
      if (kernel >= places_.size()) return {};
      return std::string_view(texts_).substr(places_[kernel].offset, places_[kernel].size);
    }

   private:
    struct Place {
      size_t offset = 0;
      size_t size = 0;
    };
    std::vector<Place> places_;
    std::string texts_;
  };

  std::vector<Counter> counters;
  KernelMembers kernel_members;
  std::vector<PathEdge> path;  ///< In order.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_OVERLAY_H_
