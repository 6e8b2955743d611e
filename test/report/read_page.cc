#include "test/report/read_page.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace oplens::test {
namespace {

/// What stands between two texts behind `from`; moves `from` behind the second.
std::string_view Between(std::string_view text, std::string_view begin, std::string_view end,
                         size_t* from) {
  const size_t start = text.find(begin, *from);
  if (start == std::string_view::npos) throw std::runtime_error("no " + std::string(begin));
  const size_t content = start + begin.size();
  const size_t stop = text.find(end, content);
  if (stop == std::string_view::npos) throw std::runtime_error("no " + std::string(end));
  *from = stop + end.size();
  return text.substr(content, stop - content);
}

/// Numbers of byte planes from `at` on; moves `at` behind them.
std::vector<uint64_t> Planes(std::string_view bytes, size_t count, size_t width, size_t* at) {
  std::vector<uint64_t> values(count, 0);
  for (size_t plane = 0; plane < width; ++plane) {
    for (size_t i = 0; i < count; ++i) {
      values[i] |= uint64_t{static_cast<unsigned char>(bytes.at((*at)++))} << (8 * plane);
    }
  }
  return values;
}

bool IsInteger(const std::string& text) {
  if (text.empty()) return false;
  const size_t digits = text[0] == '-' ? 1 : 0;
  return text.size() > digits && text.find_first_not_of("0123456789", digits) == std::string::npos;
}

}  // namespace

std::string Inflate(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) throw std::runtime_error("zlib");
  std::string input(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  std::string out;
  int state = Z_OK;
  char block[1 << 16];
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof(block);
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(block, sizeof(block) - stream.avail_out);
  }
  const bool whole = state == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) throw std::runtime_error("damaged deflate");
  return out;
}

std::string FromBase64(std::string_view text) {
  static const std::string kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  if (text.size() % 4 != 0) throw std::runtime_error("base64 of a wrong length");
  for (const char c : text) {
    if (c == '=') break;
    const size_t digit = kDigits.find(c);
    if (digit == std::string::npos) throw std::runtime_error("no base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return out;
}

ReadPage::ReadPage(std::string html) : html_(std::move(html)) {
  size_t at = 0;
  title_ = Between(html_, "<title>", "</title>", &at);
  at = 0;
  summary_ = nlohmann::json::parse(
      Between(html_, "<script type=\"application/json\" id=\"summary\">", "</script>", &at));
  const std::string begin = "<script type=\"application/octet-stream\" id=\"";
  while (html_.find(begin, at) != std::string::npos) {
    const std::string id(Between(html_, begin, "\">", &at));
    const size_t end = html_.find("</script>", at);
    blocks_[id] = html_.substr(at, end - at);
  }
  const nlohmann::json fields = nlohmann::json::parse(Bytes(summary_.at("fields")));
  for (nlohmann::json& view : summary_.at("views")) {
    NameFields(fields, &view);
    if (!view.at("by_step").is_null()) NameFields(fields, &view.at("by_step"));
    for (nlohmann::json& grouping : view.at("groupings")) NameFields(fields, &grouping);
  }
}

void ReadPage::NameFields(const nlohmann::json& fields, nlohmann::json* table) {
  for (nlohmann::json& field : table->at("fields")) field = fields.at(field.get<size_t>());
}

std::string ReadPage::Bytes(const std::string& id) const {
  return Inflate(FromBase64(blocks_.at(id)));
}

std::vector<nlohmann::json> ReadPage::Rows(const nlohmann::json& fields,
                                           const std::string& id) const {
  const nlohmann::json table = nlohmann::json::parse(Bytes(id));
  const nlohmann::json& columns = table.at("columns");
  if (columns.size() != fields.size()) throw std::runtime_error("columns and fields differ");
  std::vector<nlohmann::json> rows;
  for (size_t field = 0; field < fields.size(); ++field) {
    const nlohmann::json& column = columns[field];
    const bool places = column.contains("d");
    const nlohmann::json& values = column.at(places ? "i" : "v");
    if (field == 0) rows.resize(values.size());
    if (values.size() != rows.size()) throw std::runtime_error("columns of several lengths");
    const std::string type = fields[field].at("type");
    for (size_t row = 0; row < values.size(); ++row) {
      nlohmann::json value = values[row];
      if (places) {
        const int64_t place = value;
        value = place < 0 ? nlohmann::json(nullptr) : column.at("d").at(static_cast<size_t>(place));
      } else if (value.is_string() && IsInteger(value)) {
        value = std::stoll(value.get<std::string>());
      }
      rows[row][fields[field].at("key").get<std::string>()] = std::move(value);
    }
  }
  return rows;
}

const nlohmann::json& ReadPage::View(const std::string& name) const {
  for (const nlohmann::json& view : summary_.at("views")) {
    if (view.at("name") == name) return view;
  }
  throw std::runtime_error("no view " + name);
}

std::vector<nlohmann::json> ReadPage::Signatures() const {
  const nlohmann::json& timeline = summary_.at("timeline");
  return Rows(timeline.at("signature_fields"), timeline.at("signatures"));
}

std::vector<ReadPage::Event> ReadPage::EventsOf(const nlohmann::json& lane,
                                                const nlohmann::json& chunk) const {
  const std::string bytes = Bytes(chunk.at("chunk"));
  const size_t count = chunk.at("count");
  const size_t width = chunk.at("wide").get<bool>() ? 8 : 4;
  size_t at = 0;
  const auto signatures = Planes(bytes, count, 4, &at);
  const auto gaps = Planes(bytes, count, width, &at);
  const auto durations = Planes(bytes, count, width, &at);
  std::vector<uint64_t> depths(count, 0);
  if (lane.at("kind") == "thread") depths = Planes(bytes, count, 1, &at);
  if (at != bytes.size()) throw std::runtime_error("a chunk with more than its events");
  std::vector<Event> events;
  uint64_t start = static_cast<uint64_t>(NumberOf(chunk.at("start_ns")));
  for (size_t i = 0; i < count; ++i) {
    start += gaps[i];
    events.push_back({static_cast<uint32_t>(signatures[i]), static_cast<int64_t>(start),
                      static_cast<int64_t>(durations[i]), static_cast<int64_t>(depths[i])});
  }
  return events;
}

std::vector<ReadPage::Event> ReadPage::EventsOf(const nlohmann::json& lane) const {
  std::vector<Event> events;
  for (const nlohmann::json& chunk : lane.at("chunks")) {
    const std::vector<Event> more = EventsOf(lane, chunk);
    events.insert(events.end(), more.begin(), more.end());
  }
  return events;
}

std::vector<ReadPage::Bucket> ReadPage::BucketsOf(const nlohmann::json& level) const {
  const std::string bytes = Bytes(level.at("chunk"));
  const size_t count = level.at("count");
  size_t at = 0;
  const auto signatures = Planes(bytes, count, 4, &at);
  const auto busy = Planes(bytes, count, 1, &at);
  const auto events = Planes(bytes, count, 2, &at);
  if (at != bytes.size()) throw std::runtime_error("a level with more than its buckets");
  std::vector<Bucket> buckets;
  for (size_t i = 0; i < count; ++i) {
    buckets.push_back({static_cast<uint32_t>(signatures[i]), static_cast<int>(busy[i]),
                       static_cast<int>(events[i])});
  }
  return buckets;
}

std::vector<std::vector<int64_t>> ReadPage::LinksOf(const nlohmann::json& links) const {
  const std::string bytes = Bytes(links.at("chunk"));
  const size_t count = links.at("count");
  size_t at = 0;
  std::vector<std::vector<int64_t>> all(count);
  for (int field = 0; field < 4; ++field) {
    const auto values = Planes(bytes, count, 4, &at);
    for (size_t i = 0; i < count; ++i) all[i].push_back(static_cast<int64_t>(values[i]));
  }
  if (at != bytes.size()) throw std::runtime_error("links with more than their planes");
  return all;
}

int64_t NumberOf(const nlohmann::json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<int64_t>();
}

}  // namespace oplens::test
