#include "test/support/nvtx_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "nvtx_annotate/payload.h"
#include "parse/model/marker_text.h"

namespace oplens::test {
namespace {

using Kind = NvtxEvent::Kind;

/// The fields of a line, one after the other. Throws std::invalid_argument.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  bool AtEnd() const { return ended_; }
  std::string_view Next() {
    if (ended_) throw std::invalid_argument("a field is missing");
    const size_t blank = rest_.find(' ');
    const std::string_view field = rest_.substr(0, blank);
    ended_ = blank == rest_.npos;
    if (!ended_) rest_.remove_prefix(blank + 1);
    return field;
  }
  template <typename T>
  T Number(int base = 10) {
    return ToNumber<T>(Next(), base);
  }
  std::string Text() { return ToText(Next()); }

  template <typename T>
  static T ToNumber(std::string_view text, int base = 10) {
    T value = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value, base);
    Check(result.ec == std::errc{} && result.ptr == end, text);
    return value;
  }
  static double ToDouble(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    Check(result.ec == std::errc{} && result.ptr == end, text);
    return value;
  }
  static std::string ToText(std::string_view encoded) {
    std::string text;
    for (size_t i = 0; i < encoded.size(); ++i) {
      if (encoded[i] != '%') {
        text += encoded[i];
      } else {
        Check(i + 2 < encoded.size(), encoded);
        text += static_cast<char>(ToNumber<uint8_t>(encoded.substr(i + 1, 2), 16));
        i += 2;
      }
    }
    return text;
  }
  static std::string ToBytes(std::string_view hex) {
    Check(hex.size() % 2 == 0, hex);
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2) {
      bytes += static_cast<char>(ToNumber<uint8_t>(hex.substr(i, 2), 16));
    }
    return bytes;
  }

 private:
  static void Check(bool good, std::string_view field) {
    if (!good) throw std::invalid_argument(fmt::format("unexpected field \"{}\"", field));
  }

  std::string_view rest_;
  bool ended_ = false;
};

/// Reads the lines of a capture, then puts names in the place of numbers.
class CaptureReader {
 public:
  void ReadLine(std::string_view line) {
    Fields fields(line);
    const std::string_view word = fields.Next();
    if (word == "oplens-capture") {
      if (fields.Next() != "1") throw std::invalid_argument("another version");
      capture_.process_id = fields.Number<int64_t>();
    } else if (word == "domain") {
      const auto id = fields.Number<uint32_t>();
      domains_[id] = fields.Text();
    } else if (word == "category") {
      const auto domain = fields.Number<uint32_t>();
      const auto id = fields.Number<uint32_t>();
      categories_[{domain, id}] = fields.Text();
    } else if (word == "string") {
      const auto id = fields.Number<uint32_t>();
      fields.Number<uint32_t>();
      strings_[id] = fields.Text();
    } else if (word == "thread") {
      const auto id = fields.Number<int64_t>();
      capture_.thread_names[id] = fields.Text();
    } else if (word == "schema") {
      const auto id = fields.Number<uint64_t>(16);
      fields.Number<uint32_t>();
      fields.Number<uint64_t>();
      schemas_[id] = fields.Text();
    } else {
      ReadEvent(word, &fields);
    }
  }

  NvtxCapture Finish() {
    if (capture_.process_id == 0) throw std::invalid_argument("the first line is missing");
    for (Numbers& numbers : numbers_) Name(numbers);
    for (const auto& [id, name] : domains_) capture_.domains.push_back(name);
    return std::move(capture_);
  }

 private:
  /// What stands for names in an event.
  struct Numbers {
    size_t event;
    uint32_t domain;
    uint32_t string;
  };

  void ReadEvent(std::string_view word, Fields* fields) {
    constexpr std::string_view kWords[] = {"push", "pop", "start", "end", "mark"};
    const auto* const found = std::find(std::begin(kWords), std::end(kWords), word);
    if (found == std::end(kWords)) throw std::invalid_argument("unknown word");
    NvtxEvent event;
    event.kind = static_cast<Kind>(found - std::begin(kWords));
    event.time_ns = fields->Number<int64_t>();
    event.thread_id = fields->Number<int64_t>();
    Numbers numbers = {capture_.events.size(), fields->Number<uint32_t>(), 0};
    if (event.kind == Kind::kStart || event.kind == Kind::kEnd) {
      event.range_id = fields->Number<uint64_t>();
    }
    while (!fields->AtEnd()) ReadField(fields->Next(), &event, &numbers);
    capture_.events.push_back(std::move(event));
    numbers_.push_back(numbers);
  }

  static void ReadField(std::string_view field, NvtxEvent* event, Numbers* numbers) {
    const size_t equals = field.find('=');
    const std::string_view key = field.substr(0, equals);
    const std::string_view value = equals == field.npos ? "" : field.substr(equals + 1);
    if (key == "text") {
      event->text = Fields::ToText(value);
    } else if (key == "string") {
      numbers->string = Fields::ToNumber<uint32_t>(value);
    } else if (key == "category") {
      event->category = Fields::ToNumber<uint32_t>(value);
    } else if (key == "color") {
      event->color = Fields::ToNumber<uint32_t>(value, 16);
    } else if (key == "u64" || key == "u32") {
      event->number = Fields::ToNumber<uint64_t>(value);
    } else if (key == "i64" || key == "i32") {
      event->number = Fields::ToNumber<int64_t>(value);
    } else if (key == "f64" || key == "f32") {
      event->number = Fields::ToDouble(value);
    } else if (key == "payload") {
      const size_t colon = value.find(':');
      event->payloads.push_back({Fields::ToNumber<uint64_t>(value.substr(0, colon), 16), "",
                                 Fields::ToBytes(value.substr(colon + 1))});
    } else {
      throw std::invalid_argument(fmt::format("unknown field \"{}\"", key));
    }
  }

  void Name(const Numbers& numbers) {
    NvtxEvent& event = capture_.events[numbers.event];
    if (numbers.domain != 0) event.domain = domains_.at(numbers.domain);
    if (numbers.string != 0) {
      event.text = strings_.at(numbers.string);
      event.registered = true;
    }
    const auto category = categories_.find({numbers.domain, event.category});
    if (category != categories_.end()) event.category_name = category->second;
    for (NvtxPayload& payload : event.payloads) {
      const auto schema = schemas_.find(payload.schema);
      if (schema != schemas_.end()) payload.schema_name = schema->second;
    }
  }

  NvtxCapture capture_;
  std::vector<Numbers> numbers_;
  std::map<uint32_t, std::string> domains_;
  std::map<uint32_t, std::string> strings_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> categories_;
  std::map<uint64_t, std::string> schemas_;
};

/// Renders payloads into texts.
class Renderer {
 public:
  /// The texts of an event, outermost first; nullopt when its payload is damaged.
  explicit Renderer(markers::Facts place) : place_(place) {}

  std::optional<std::vector<std::string>> Render(const NvtxEvent& event,
                                                 const NvtxPayload& payload) {
    markers::RenderedMarker marker;
    marker.trace = memory_.data();
    marker.main = marker.trace + markers::kTextBufferBytes;
    marker.sequence = marker.main + markers::kTextBufferBytes;
    // Memory of exactly the payload's size, so that reading beyond it is found.
    const std::vector<unsigned char> bytes(payload.bytes.begin(), payload.bytes.end());
    if (!markers::RenderPayload(event.text.c_str(), bytes.data(), bytes.size(), place_, &marker)) {
      return std::nullopt;
    }
    std::vector<std::string> texts;
    const auto add = [&texts](const char* text, size_t size) {
      if (size > 0) texts.emplace_back(text, size);
    };
    add(marker.trace, marker.trace_size);
    add(marker.main, marker.main_size);
    add(marker.sequence, marker.sequence_size);
    return texts;
  }

 private:
  const markers::Facts place_;
  std::string memory_ = std::string(3 * markers::kTextBufferBytes, '\0');
};

/// Joins the events of one capture.
class RangeJoiner {
 public:
  explicit RangeJoiner(markers::Facts place) : renderer_(place) {}

  void Add(const NvtxEvent& event) {
    Thread& thread = threads_[event.thread_id];
    switch (event.kind) {
      case Kind::kPush:
        thread.open.push_back({event.domain, Push(event, &thread)});
        break;
      case Kind::kPop:
        Pop(event, &thread);
        break;
      case Kind::kStart:
        started_[event.range_id] = {event.thread_id, Append(event, event.text, &thread)};
        break;
      case Kind::kEnd:
        End(event);
        break;
      case Kind::kMark:
        break;
    }
  }

  NvtxRanges Finish() {
    for (auto& [thread_id, thread] : threads_) {
      for (const Open& open : thread.open) Fault(thread.ranges[open.indices[0]], "never popped");
      const auto base = static_cast<int64_t>(result_.ranges.size());
      for (NvtxRange& range : thread.ranges) {
        if (range.parent >= 0) range.parent += base;
        if (!range.pushed && range.end_ns == 0) Fault(range, "never ended");
        result_.ranges.push_back(std::move(range));
      }
    }
    return std::move(result_);
  }

 private:
  /// A pushed range: the ranges that it became, at least one.
  struct Open {
    std::string domain;
    std::vector<size_t> indices;
  };
  struct Thread {
    std::vector<NvtxRange> ranges;
    std::vector<Open> open;
  };
  struct Started {
    int64_t thread_id;
    size_t index;
  };

  void Fault(const NvtxRange& range, std::string_view what) {
    result_.faults.push_back(fmt::format("thread {}, domain \"{}\", range \"{}\": {}",
                                         range.thread_id, range.domain, range.text, what));
  }
  void Fault(const NvtxEvent& event, std::string_view what) {
    result_.faults.push_back(fmt::format("thread {}, domain \"{}\", time {}: {}", event.thread_id,
                                         event.domain, event.time_ns, what));
  }

  static size_t Append(const NvtxEvent& event, std::string text, Thread* thread) {
    NvtxRange range;
    range.text = std::move(text);
    range.domain = event.domain;
    range.thread_id = event.thread_id;
    range.start_ns = event.time_ns;
    range.pushed = event.kind == Kind::kPush;
    thread->ranges.push_back(std::move(range));
    return thread->ranges.size() - 1;
  }

  std::vector<size_t> Push(const NvtxEvent& event, Thread* thread) {
    int64_t parent =
        thread->open.empty() ? -1 : static_cast<int64_t>(thread->open.back().indices.back());
    std::vector<size_t> indices;
    bool rendered = false;
    for (std::string& text : TextsOf(event, &rendered)) {
      indices.push_back(Append(event, std::move(text), thread));
      thread->ranges.back().parent = parent;
      thread->ranges.back().rendered = rendered;
      parent = static_cast<int64_t>(indices.back());
    }
    return indices;
  }

  std::vector<std::string> TextsOf(const NvtxEvent& event, bool* rendered) {
    for (const NvtxPayload& payload : event.payloads) {
      if (payload.schema_name != markers::kSchemaName) continue;
      const auto texts = renderer_.Render(event, payload);
      *rendered = texts && !texts->empty();
      if (*rendered) return *texts;
      Fault(event, "a payload that cannot be rendered");
    }
    return {event.text};
  }

  void Pop(const NvtxEvent& event, Thread* thread) {
    const auto of_domain = [&event](const Open& open) { return open.domain == event.domain; };
    const auto last = std::find_if(thread->open.rbegin(), thread->open.rend(), of_domain);
    if (last == thread->open.rend()) {
      Fault(event, "a pop without a push");
      return;
    }
    if (last != thread->open.rbegin()) Fault(event, "a pop across a range of another domain");
    for (const size_t index : last->indices) thread->ranges[index].end_ns = event.time_ns;
    thread->open.erase(std::next(last).base());
  }

  void End(const NvtxEvent& event) {
    const auto started = started_.find(event.range_id);
    if (started == started_.end()) {
      Fault(event, "an end without a start");
      return;
    }
    threads_[started->second.thread_id].ranges[started->second.index].end_ns = event.time_ns;
    started_.erase(started);
  }

  std::map<int64_t, Thread> threads_;
  std::map<uint64_t, Started> started_;
  Renderer renderer_;
  NvtxRanges result_;
};

bool IsSequenceText(const std::string& text) {
  return ClassifyMarker(text).kind == MarkerKind::kSeq;
}

/// Writes ranges and what they launch.
class NvprofWriter {
 public:
  NvprofWriter(const NvtxRanges& ranges, int64_t process_id)
      : ranges_(ranges.ranges), process_id_(process_id) {
    for (const NvtxRange& range : ranges_) first_ns_ = std::min(first_ns_, range.start_ns);
    first_child_.assign(ranges_.size(), kNone);
    for (size_t i = ranges_.size(); i-- > 0;) {
      if (ranges_[i].parent >= 0) first_child_[static_cast<size_t>(ranges_[i].parent)] = i;
    }
  }

  void Write(const std::filesystem::path& path, const CaptureLaunches& launches) {
    AddDevice(&builder_, process_id_);
    for (size_t i = 0; i < ranges_.size(); ++i) AddRange(ranges_[i], static_cast<int64_t>(i + 1));
    AddLaunches(launches);
    builder_.Write(path);
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  static constexpr int64_t kStretch = 1000;

  int64_t TimeOf(int64_t time_ns) const {
    constexpr int64_t kStart = 1'000'000'000;
    return kStart + (time_ns - first_ns_) * kStretch;
  }

  void AddMarker(const NvtxRange& range, int64_t id, int64_t flags, int64_t time_ns, int64_t name) {
    constexpr int64_t kThreadObject = 2;
    builder_.Add("MARKER", {{"flags", flags},
                            {"timestamp", TimeOf(time_ns)},
                            {"id", id},
                            {"objectKind", kThreadObject},
                            {"objectId", ThreadObject(process_id_, range.thread_id)},
                            {"name", name},
                            {"domain", range.domain.empty() ? 0 : builder_.Intern(range.domain)}});
  }

  void AddRange(const NvtxRange& range, int64_t id) {
    constexpr int64_t kStart = 2;
    constexpr int64_t kEnd = 4;
    AddMarker(range, id, kStart, range.start_ns, builder_.Intern(range.text));
    if (range.end_ns != 0) AddMarker(range, id, kEnd, range.end_ns, 0);
  }

  /// Whether a range is a call and holds no other.
  std::vector<bool> Innermost() const {
    std::vector<bool> innermost(ranges_.size(), false);
    for (size_t i = 0; i < ranges_.size(); ++i) {
      if (!IsCallText(ranges_[i].text)) continue;
      innermost[i] = true;
      for (int64_t at = ranges_[i].parent; at >= 0; at = ranges_[static_cast<size_t>(at)].parent) {
        innermost[static_cast<size_t>(at)] = false;
      }
    }
    return innermost;
  }

  void AddLaunches(const CaptureLaunches& launches) {
    std::vector<size_t> chosen;
    const std::vector<bool> innermost = Innermost();
    for (size_t i = 0; i < ranges_.size(); ++i) {
      if (launches.chooses ? launches.chooses(ranges_[i]) : innermost[i]) chosen.push_back(i);
    }
    const auto earlier = [this](size_t a, size_t b) {
      return std::tuple(ranges_[a].start_ns, a) < std::tuple(ranges_[b].start_ns, b);
    };
    std::sort(chosen.begin(), chosen.end(), earlier);
    for (const size_t i : chosen) {
      AddLaunch(i, launches.kernel ? launches.kernel(ranges_[i]) : KernelSpec());
    }
  }

  void AddLaunch(size_t index, const KernelSpec& kernel) {
    constexpr int64_t kCudaLaunchKernel = 211;
    const size_t child = first_child_[index];
    const bool numbered = child != kNone && IsSequenceText(ranges_[child].text);
    const NvtxRange& inside = ranges_[numbered ? child : index];
    const int64_t start = TimeOf(inside.start_ns) + 100;
    const int64_t end = start + 400;
    const int64_t correlation_id = state_.next_correlation++;
    builder_.Add("RUNTIME", {{"cbid", kCudaLaunchKernel},
                             {"start", start},
                             {"end", end},
                             {"processId", process_id_},
                             {"threadId", SignedThreadId(inside.thread_id)},
                             {"correlationId", correlation_id}});
    constexpr int64_t kDelay = 10'000;
    HostThread(&state_, inside.thread_id, end + kDelay).RunKernel(kernel, correlation_id);
  }

  const std::vector<NvtxRange>& ranges_;
  const int64_t process_id_;
  int64_t first_ns_ = std::numeric_limits<int64_t>::max();
  std::vector<size_t> first_child_;
  NvprofBuilder builder_;
  ScriptState state_{.builder = &builder_, .process_id = process_id_};
};

}  // namespace

NvtxCapture ReadCapture(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", path.string()));
  CaptureReader reader;
  std::string line;
  int64_t number = 0;
  try {
    while (std::getline(file, line)) {
      ++number;
      reader.ReadLine(line);
    }
    return reader.Finish();
  } catch (const std::logic_error& error) {
    throw std::runtime_error(fmt::format("{}:{}: {}", path.string(), number, error.what()));
  }
}

NvtxRanges RangesOf(const NvtxCapture& capture, markers::Facts place) {
  RangeJoiner joiner(place);
  for (const NvtxEvent& event : capture.events) {
    if (event.kind != Kind::kEnd) joiner.Add(event);
  }
  // Their starts may stand behind, in another thread's events.
  for (const NvtxEvent& event : capture.events) {
    if (event.kind == Kind::kEnd) joiner.Add(event);
  }
  return joiner.Finish();
}

std::vector<std::string> Outline(const NvtxRanges& ranges) {
  std::vector<std::string> lines;
  std::vector<size_t> depths(ranges.ranges.size(), 0);
  for (size_t i = 0; i < ranges.ranges.size(); ++i) {
    const NvtxRange& range = ranges.ranges[i];
    if (!range.pushed) continue;
    if (range.parent >= 0) depths[i] = depths[static_cast<size_t>(range.parent)] + 1;
    lines.push_back(std::string(2 * depths[i], ' ') + range.text);
  }
  return lines;
}

bool IsCallText(const std::string& text) {
  const MarkerKind kind = ClassifyMarker(text).kind;
  return kind == MarkerKind::kOp || kind == MarkerKind::kNode;
}

void WriteNvprofCapture(const NvtxRanges& ranges, int64_t process_id,
                        const std::filesystem::path& path, const CaptureLaunches& launches) {
  NvprofWriter(ranges, process_id).Write(path, launches);
}

}  // namespace oplens::test
