// The binary payload: it stands for the same texts, and whoever renders it survives any bytes.

#include "nvtx_annotate/payload.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "test/annotate/annotate_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::payload_test {
namespace {

using markers::CallFacts;
using markers::Direction;
using markers::OpNames;

/// Buffers for rendering, each in memory of its own so that writing beyond it is found.
struct Rendering {
  Rendering()
      : trace(markers::kTextBufferBytes),
        main(markers::kTextBufferBytes),
        sequence(markers::kTextBufferBytes) {
    marker.trace = trace.data();
    marker.main = main.data();
    marker.sequence = sequence.data();
  }
  std::vector<char> trace;
  std::vector<char> main;
  std::vector<char> sequence;
  markers::RenderedMarker marker;
};

/// A buffer for encoding. The allocator aligns it.
struct Payload {
  std::vector<unsigned char> bytes = std::vector<unsigned char>(markers::kPayloadBufferBytes);
};

/// Renders from memory of exactly that size. Texts are within their limits when it succeeds.
bool Render(const char* message, const std::vector<unsigned char>& bytes, size_t size,
            Rendering* out) {
  const std::vector<unsigned char> exact(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(size));
  const bool good = markers::RenderPayload(message, exact.data(), exact.size(),
                                           markers::Facts::kInText, &out->marker);
  if (!good) return false;
  EXPECT_LE(out->marker.trace_size, markers::kMaxTextBytes);
  EXPECT_LE(out->marker.main_size, markers::kMaxTextBytes);
  EXPECT_LE(out->marker.sequence_size, markers::kMaxTextBytes);
  return true;
}

/// Random arguments, which borrow from this object.
class RandomArgs {
 public:
  explicit RandomArgs(unsigned seed) : random_(seed) {
    for (int64_t& number : numbers_) number = static_cast<int64_t>(random_());
    for (char& c : text_) c = static_cast<char>(random_() % 5 == 0 ? random_() : 'a');
    for (double& number : doubles_) number = static_cast<double>(random_()) / 3;
  }

  size_t Below(size_t limit) { return random_() % limit; }

  std::vector<oplens_arg> Make(size_t count) {
    std::vector<oplens_arg> args(count);
    for (oplens_arg& arg : args) Fill(&arg);
    return args;
  }

 private:
  void Fill(oplens_arg* arg) {
    *arg = {};
    arg->kind = static_cast<uint16_t>(Below(OPLENS_OTHER + 2));
    arg->dtype = static_cast<uint16_t>(Below(32));
    arg->count = Below(Below(10) == 0 ? 30 : 5);
    if (Below(4) == 0) arg->list = static_cast<uint16_t>(1 + Below(3));
    if (arg->list != 0 && Below(3) == 0) arg->more = static_cast<uint16_t>(Below(400));
    if (Below(3) == 0) arg->name = kNames[Below(std::size(kNames))];
    switch (arg->kind) {
      case OPLENS_INT:
      case OPLENS_BOOLEAN:
        arg->value.integer = numbers_[Below(40)];
        break;
      case OPLENS_FLOAT:
        arg->value.number = doubles_[Below(40)];
        break;
      case OPLENS_FLOAT_LIST:
      case OPLENS_COMPLEX:
        arg->value.numbers = Below(9) == 0 ? nullptr : doubles_;
        break;
      case OPLENS_STRING:
      case OPLENS_OTHER:
        arg->value.text = Below(9) == 0 ? nullptr : text_;
        break;
      case OPLENS_BOOL_LIST:
        arg->value.bytes = reinterpret_cast<const uint8_t*>(text_);
        break;
      default:
        arg->value.ints = Below(9) == 0 ? nullptr : numbers_;
        break;
    }
  }

  static constexpr const char* kNames[] = {"", "dim", "it's", "\xc3\xa9", "a\xff"};
  std::mt19937_64 random_;
  int64_t numbers_[40];
  double doubles_[40];
  char text_[40];
};

TEST(PayloadTest, StandsForTheSameTexts) {
  Rendering rendering;
  std::vector<char> text(markers::kTextBufferBytes);
  std::vector<char> message(markers::kTextBufferBytes);
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomArgs random(seed);
    const std::vector<oplens_arg> args = random.Make(random.Below(8));
    OpNames names;
    if (random.Below(9) != 0) names.mod = "torch.nn.functional";
    if (random.Below(9) != 0) names.op = random.Below(2) == 0 ? "a.b|c%d" : "linear";
    if (random.Below(2) == 0) names.aten = "aten::linear.out|x";
    CallFacts facts;
    facts.seq = random.Below(2) == 0 ? -1 : 12345678901;
    facts.tid = random.Below(100);
    facts.ftid = random.Below(2);
    facts.h = random.Below(3) * 1'000'000;
    facts.dir = static_cast<Direction>("fbgon"[random.Below(5)]);

    Payload payload;
    const size_t size =
        markers::EncodePayload(facts, 0, args.data(), args.size(), payload.bytes.data());
    ASSERT_LE(size, markers::kMaxPayloadBytes);
    markers::FormatMessage(names, message.data());
    ASSERT_TRUE(Render(message.data(), payload.bytes, size, &rendering));
    const size_t length =
        markers::FormatOp(names, &facts, args.data(), args.size(), 0, text.data());
    ASSERT_EQ(std::string(rendering.marker.main, rendering.marker.main_size),
              std::string(text.data(), length));
    const bool numbered = facts.seq >= 0;
    ASSERT_EQ(rendering.marker.sequence_size > 0, numbered);
    if (!numbered) continue;
    const size_t sequence = markers::FormatSequence(names.aten != nullptr ? names.aten : names.op,
                                                    facts.seq, false, text.data());
    ASSERT_EQ(std::string(rendering.marker.sequence, rendering.marker.sequence_size),
              std::string(text.data(), sequence));
  }
}

/// What EncodePayload() makes of arguments.
std::vector<unsigned char> Encoded(const CallFacts& facts, const std::vector<oplens_arg>& args) {
  Payload payload;
  payload.bytes.resize(
      markers::EncodePayload(facts, 0, args.data(), args.size(), payload.bytes.data()));
  return payload.bytes;
}

oplens_arg ArgOf(const char* name, uint16_t kind) {
  oplens_arg arg = {};
  arg.name = name;
  arg.kind = kind;
  return arg;
}

TEST(PayloadTest, PlainArgumentsAreTheSameBytes) {
  CallFacts facts;
  facts.seq = 7;
  facts.tid = 11;
  facts.h = 13;
  facts.dir = Direction::kRecompute;
  const int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<oplens_arg> args;
  Payload payload;
  markers::PlainArgs plain(payload.bytes.data());
  for (const char* const name : {"", "dim"}) {
    const char* const given = *name == '\0' ? nullptr : name;
    for (size_t rank = 0; rank <= markers::PlainArgs::kMaxDimensions; ++rank) {
      // 99: no data type.
      for (const uint16_t dtype :
           {uint16_t{OPLENS_FLOAT32}, uint16_t{OPLENS_UINT4}, uint16_t{99}}) {
        args.push_back(ArgOf(given, OPLENS_TENSOR));
        args.back().dtype = dtype;
        args.back().count = rank;
        args.back().value.ints = sizes;
        plain.Tensor(name, dtype, sizes, rank);
      }
    }
    args.push_back(ArgOf(given, OPLENS_INT));
    args.back().value.integer = -5;
    plain.Int(name, -5);
    args.push_back(ArgOf(given, OPLENS_FLOAT));
    args.back().value.number = 0.25;
    plain.Float(name, 0.25);
    args.push_back(ArgOf(given, OPLENS_BOOLEAN));
    args.back().value.integer = 1;
    plain.Boolean(name, true);
    args.push_back(ArgOf(given, OPLENS_INT_TUPLE));
    args.back().count = 3;
    args.back().value.ints = sizes;
    plain.IntTuple(name, 3);
    for (int i = 0; i < 3; ++i) plain.Item(sizes[i]);
    plain.EndTuple();
    args.push_back(ArgOf(given, OPLENS_INT_TUPLE));
    plain.IntTuple(name, 0);
    plain.EndTuple();
  }
  args.push_back(ArgOf(nullptr, OPLENS_NONE));
  plain.None();
  EXPECT_EQ(plain.count(), args.size());
  const size_t size = markers::FinishPayload(facts, plain, payload.bytes.data());
  const auto end = payload.bytes.begin() + static_cast<std::ptrdiff_t>(size);
  EXPECT_EQ(std::vector<unsigned char>(payload.bytes.begin(), end), Encoded(facts, args));

  // The last None, and others after it, go; those before a value stay.
  plain.None();
  plain.DropNone();
  args.pop_back();
  payload.bytes.resize(markers::FinishPayload(facts, plain, payload.bytes.data()));
  EXPECT_EQ(payload.bytes, Encoded(facts, args));
}

TEST(PayloadTest, OfPlainArgumentsOnlyTheLastNoneGoes) {
  Payload payload;
  markers::PlainArgs plain(payload.bytes.data());
  plain.DropNone();
  EXPECT_EQ(plain.count(), 0u);
  plain.None();
  plain.Int("", 1);
  plain.None();
  plain.DropNone();
  EXPECT_EQ(plain.count(), 2u);
  std::vector<oplens_arg> args = {ArgOf(nullptr, OPLENS_NONE), ArgOf(nullptr, OPLENS_INT)};
  args[1].value.integer = 1;
  payload.bytes.resize(markers::FinishPayload(CallFacts(), plain, payload.bytes.data()));
  EXPECT_EQ(payload.bytes, Encoded(CallFacts(), args));
}

TEST(PayloadTest, EveryTruncationIsRefused) {
  Rendering rendering;
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomArgs random(seed);
    const std::vector<oplens_arg> args = random.Make(6);
    Payload payload;
    const size_t size =
        markers::EncodePayload({}, 0, args.data(), args.size(), payload.bytes.data());
    ASSERT_TRUE(Render("torch.op", payload.bytes, size, &rendering));
    for (size_t cut = 0; cut < size; ++cut) {
      ASSERT_FALSE(Render("torch.op", payload.bytes, cut, &rendering)) << cut;
    }
    // Also when the head says that this is all.
    for (size_t cut = sizeof(markers::PayloadHead); cut < size; ++cut) {
      std::vector<unsigned char> shorter = payload.bytes;
      const auto bytes = static_cast<uint32_t>(cut);
      std::memcpy(&shorter[offsetof(markers::PayloadHead, bytes)], &bytes, sizeof bytes);
      ASSERT_FALSE(Render("torch.op", shorter, size, &rendering)) << cut;
    }
  }
}

TEST(PayloadTest, ChangedBytes) {
  Rendering rendering;
  std::mt19937 random(11);
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomArgs random_args(seed);
    const std::vector<oplens_arg> args = random_args.Make(8);
    Payload payload;
    const size_t size =
        markers::EncodePayload({}, 0, args.data(), args.size(), payload.bytes.data());
    for (int i = 0; i < 200; ++i) {
      std::vector<unsigned char> changed = payload.bytes;
      for (size_t n = 1 + random() % 4; n > 0; --n) {
        changed[random() % size] = static_cast<unsigned char>(random());
      }
      Render("torch.op", changed, size, &rendering);
    }
  }
}

TEST(PayloadTest, RandomBytes) {
  Rendering rendering;
  std::mt19937 random(5);
  int good = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::vector<unsigned char> bytes(random() % 300);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    if (bytes.size() >= sizeof(markers::PayloadHead) && i % 8 != 0) {
      // A head that is right more often than not.
      markers::PayloadHead head = {};
      head.seq = static_cast<int64_t>(random()) - 1'000'000'000;
      head.dir = static_cast<char>(random());
      head.arg_count = static_cast<uint16_t>(random() % 6);
      head.flags = static_cast<uint8_t>(random());
      head.bytes = static_cast<uint32_t>(bytes.size());
      std::memcpy(bytes.data(), &head, sizeof head);
    }
    if (Render("torch.op|aten::op", bytes, bytes.size(), &rendering)) ++good;
  }
  EXPECT_GT(good, 100);
}

TEST(PayloadTest, LargePayloadsOfOthers) {
  // As long as the head's field can say; the arguments decode into more than a payload can hold.
  Rendering rendering;
  for (const uint8_t kind : {OPLENS_INT_LIST, OPLENS_TENSOR, OPLENS_COMPLEX, OPLENS_STRING}) {
    for (const uint8_t tag : {uint8_t{0}, markers::kNamedTag}) {
      std::vector<unsigned char> bytes(sizeof(markers::PayloadHead));
      for (int i = 0; i < 60; ++i) {
        bytes.push_back(kind | tag);
        if (tag != 0) bytes.insert(bytes.end(), {255, 0});
        if (tag != 0) bytes.insert(bytes.end(), 255, 'n');
        size_t value = 16;
        if (kind == OPLENS_TENSOR) value = 255 * 8;
        if (kind == OPLENS_TENSOR) bytes.push_back(OPLENS_INT8);
        if (kind != OPLENS_COMPLEX) bytes.push_back(255);
        if (kind == OPLENS_STRING || kind == OPLENS_INT_LIST) bytes.push_back(255);
        if (kind == OPLENS_STRING) value = 0xffff;
        if (kind == OPLENS_INT_LIST) value = 0xffff * 8;
        bytes.insert(bytes.end(), value, 0x80);
      }
      markers::PayloadHead head = {};
      head.arg_count = 60;
      head.bytes = static_cast<uint32_t>(bytes.size());
      std::memcpy(bytes.data(), &head, sizeof head);
      Render("torch.op", bytes, bytes.size(), &rendering);
    }
  }
}

TEST(PayloadTest, OddMessages) {
  Rendering rendering;
  Payload payload;
  CallFacts facts;
  facts.seq = 1;
  const size_t size = markers::EncodePayload(facts, 0, nullptr, 3, payload.bytes.data());
  const std::string longest(100'000, '.');
  const std::string percents(100'000, '%');
  for (const char* message :
       {static_cast<const char*>(nullptr), "", ".", "|", "%", "%4", "%zz", "a.b.c|d|e", ".|.",
        "\x80\xff.\xc3", "torch.%00op", longest.c_str(), percents.c_str()}) {
    EXPECT_TRUE(Render(message, payload.bytes, size, &rendering));
    EXPECT_GT(rendering.marker.main_size, 0U);
  }
}

// The whole way, in processes of their own.

TEST(ModesTest, PayloadsRenderToTheTextsOfTextMode) {
  const auto outline = [](const std::string& mode) {
    const std::filesystem::path path = TestDir() / (mode + ".nvtx");
    RunAnnotatedProgram("train", mode, path);
    const NvtxCapture capture = ReadCapture(path);
    const NvtxRanges ranges = RangesOf(capture);
    EXPECT_THAT(ranges.faults, ::testing::IsEmpty());
    // In the order of their creation: the main thread, then that of each step.
    std::vector<int64_t> threads;
    for (const NvtxRange& range : ranges.ranges) {
      if (threads.empty() || threads.back() != range.thread_id) threads.push_back(range.thread_id);
    }
    return WithoutThreadIds(Outline(ranges), threads);
  };
  const std::vector<std::string> texts = outline("text");
  EXPECT_EQ(texts.size(), 38U);
  EXPECT_EQ(outline("payload"), texts);
  EXPECT_EQ(outline("foreign"), texts);
}

}  // namespace
}  // namespace oplens::test::payload_test
