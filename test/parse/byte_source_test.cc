#include "parse/source/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "base/error.h"
#include "parse/source/profile_file.h"
#include "test/support/test_files.h"

namespace oplens::parse::byte_source_test {
namespace {

using test::TestDir;
using test::WriteFile;
using testing::AnyOf;
using testing::HasSubstr;

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

/// A few MB that do not pack too well.
std::string LongText() {
  std::string text;
  uint32_t state = 1;
  while (text.size() < (size_t{3} << 20)) {
    state = state * 1664525 + 1013904223;
    text += "{\"name\": " + std::to_string(state) + "}\n";
  }
  return text;
}

std::string ReadAll(ByteSource* source, size_t step = 100'000) {
  std::string all;
  std::string piece(step, '\0');
  while (true) {
    const size_t n = source->Read(piece.data(), piece.size());
    all.append(piece, 0, n);
    if (n < piece.size()) return all;
  }
}

class ByteSourceTest : public testing::Test {
 protected:
  std::unique_ptr<ByteSource> Open(const std::string& content) {
    WriteFile(path_, content);
    return OpenBytes(path_.string());
  }
  std::filesystem::path path_ = TestDir() / "file";
};

TEST_F(ByteSourceTest, PlainAndPackedGiveTheSameBytes) {
  const std::string text = LongText();
  for (const std::string& content : {text, Gzip(text), Zstd(text)}) {
    const auto source = Open(content);
    EXPECT_EQ(ReadAll(source.get()), text);
    EXPECT_EQ(source->damage(), "");
  }
  EXPECT_EQ(ReadAll(Open("").get()), "");
  EXPECT_EQ(ReadAll(Open("ab").get()), "ab");
  EXPECT_EQ(ReadAll(Open(Gzip("")).get()), "");
}

TEST_F(ByteSourceTest, SeveralMembersAreOneText) {
  EXPECT_EQ(ReadAll(Open(Gzip("one ") + Gzip("two")).get()), "one two");
  EXPECT_EQ(ReadAll(Open(Zstd("one ") + Zstd("two")).get()), "one two");
}

TEST_F(ByteSourceTest, SizesAroundEveryBufferAreWhole) {
  // Blocks are of 256 KiB; zstd's own buffers, and blocks of deflate, are smaller powers of two.
  constexpr size_t kBlock = size_t{256} << 10;
  const std::string text = LongText();
  for (const size_t middle : {size_t{32} << 10, size_t{64} << 10, size_t{128} << 10, kBlock,
                              2 * kBlock, 4 * kBlock, 8 * kBlock}) {
    for (const size_t size : {middle - 1, middle, middle + 1}) {
      const std::string part = text.substr(0, size);
      for (const auto& pack : {Gzip, Zstd}) {
        for (const std::string& content :
             {pack(part), pack(part) + pack(""), pack("") + pack(part), pack(part) + pack("end")}) {
          const auto source = Open(content);
          const std::string got = ReadAll(source.get());
          EXPECT_TRUE(got.starts_with(part)) << size;
          EXPECT_THAT(got.substr(size), AnyOf("", "end"));
          EXPECT_EQ(source->damage(), "") << size;
        }
        const auto twice = Open(pack(part) + pack(part));
        EXPECT_TRUE(ReadAll(twice.get()) == part + part) << size;
        EXPECT_EQ(twice->damage(), "") << size;
        const std::string whole = pack(part);
        const auto cut = Open(whole.substr(0, whole.size() - 1));
        ReadAll(cut.get());
        EXPECT_THAT(cut->damage(), HasSubstr("ends early")) << size;
      }
    }
  }
}

TEST_F(ByteSourceTest, PaddingBehindTheLastMemberIsNoDamage) {
  const auto source = Open(Gzip("text") + std::string(size_t{1} << 20, '\0'));
  EXPECT_EQ(ReadAll(source.get()), "text");
  EXPECT_EQ(source->damage(), "");
  EXPECT_EQ(source->trailing_bytes(), 0);
}

TEST_F(ByteSourceTest, OtherBytesBehindTheLastMemberAreCounted) {
  for (const std::string& behind :
       {std::string("x"), std::string(300'000, 'x'), std::string(500'000, '\0') + "x"}) {
    const auto source = Open(Gzip("text") + behind);
    EXPECT_EQ(ReadAll(source.get()), "text");
    EXPECT_EQ(source->damage(), "");
    EXPECT_EQ(source->trailing_bytes(), std::ssize(behind));
  }
}

TEST_F(ByteSourceTest, AMemberWithADamagedHeadIsNoPadding) {
  const auto source = Open(Gzip("text") + "\x1f\x8bxxxxxxxxxxxxxxxx");
  EXPECT_EQ(ReadAll(source.get()), "text");
  EXPECT_THAT(source->damage(), HasSubstr("damaged"));
}

TEST_F(ByteSourceTest, CutFilesGiveWhatTheyHave) {
  const std::string text = LongText();
  for (const std::string& content : {Gzip(text), Zstd(text)}) {
    const auto source = Open(content.substr(0, content.size() / 2));
    const std::string got = ReadAll(source.get());
    EXPECT_GT(got.size(), text.size() / 4);
    EXPECT_EQ(got, text.substr(0, got.size()));
    EXPECT_THAT(source->damage(), HasSubstr("ends early"));
  }
}

TEST_F(ByteSourceTest, DamagedFilesSaySo) {
  const std::string text = LongText();
  for (std::string content : {Gzip(text), Zstd(text)}) {
    for (size_t i = content.size() / 2; i < content.size() / 2 + 40; ++i) content[i] ^= 0x55;
    const auto source = Open(content);
    EXPECT_NE(ReadAll(source.get()), text);
    EXPECT_THAT(source->damage(), HasSubstr("damaged"));
  }
}

TEST_F(ByteSourceTest, AReaderMayStopEarly) {
  const auto source = Open(Gzip(LongText()));
  char byte = 0;
  EXPECT_EQ(source->Read(&byte, 1), 1u);
}  // The thread ends with the source.

TEST_F(ByteSourceTest, MissingFilesThrow) {
  EXPECT_THROW(OpenBytes((TestDir() / "none").string()), Error);
}

ProfileFile::Content ContentOf(const std::string& bytes) {
  const std::filesystem::path path = TestDir() / "profile";
  WriteFile(path, bytes);
  return ProfileFile(path.string()).content();
}

std::string Refusal(const std::string& bytes) {
  try {
    ContentOf(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

TEST(ProfileFileTest, JsonIsSeenThroughItsPacking) {
  for (const char* text : {"{\"a\": 1}", " \n[", "{", "{ }", "\xEF\xBB\xBF{\"a\""}) {
    EXPECT_EQ(ContentOf(text), ProfileFile::Content::kJson) << text;
    EXPECT_EQ(ContentOf(Gzip(text)), ProfileFile::Content::kJson) << text;
    EXPECT_EQ(ContentOf(Zstd(text)), ProfileFile::Content::kJson) << text;
  }
}

TEST(ProfileFileTest, APackedDatabaseIsUnpackedWhenItIsAskedFor) {
  const std::filesystem::path path = TestDir() / "profile";
  WriteFile(path, Gzip("SQLite format 3"));
  ProfileFile file(path.string());
  EXPECT_EQ(file.content(), ProfileFile::Content::kDatabase);
  EXPECT_THROW(file.database(), Error);  // No whole one.
}

TEST(InputBytesTest, TheBeginningIsThereBeforeAndAfter) {
  const std::string text = LongText();
  const std::filesystem::path path = TestDir() / "bytes";
  for (const auto& [content, packing] : {std::pair(text, ""), {Gzip(text), "gzip"}}) {
    WriteFile(path, content);
    WorkMeter meter;
    InputBytes bytes(path.string(), &meter);
    EXPECT_EQ(bytes.head(), text.substr(0, kHeadBytes));
    EXPECT_EQ(bytes.packing(), packing);
    EXPECT_TRUE(bytes.is_file());
    char first = 0;
    EXPECT_EQ(bytes.Read(&first, 1), 1u);
    EXPECT_EQ(first + ReadAll(&bytes), text);
    EXPECT_EQ(bytes.head(), text.substr(0, kHeadBytes));
    EXPECT_EQ(meter.done(), static_cast<int64_t>(content.size()));
    EXPECT_EQ(meter.total(), meter.done());
  }
}

TEST(ProfileFileTest, OthersAreRefusedByWhatTheyAre) {
  EXPECT_THAT(Refusal(Gzip("hello")), HasSubstr("is gzip data that holds no profile"));
  EXPECT_THAT(Refusal(Zstd("")), HasSubstr("is zstd data that unpacks to nothing"));
  EXPECT_THAT(Refusal(Gzip("PK\x03\x04")), HasSubstr("once unpacked, is a zip archive"));
  EXPECT_THAT(Refusal(Gzip("hello").substr(0, 10)), HasSubstr("the gzip data ends early"));
  EXPECT_THAT(Refusal("{'kShortName': 'k'}"), HasSubstr("holds records that parse wrote"));
  EXPECT_THAT(Refusal("hello"), HasSubstr("not"));
  EXPECT_THAT(Refusal(""), HasSubstr("is empty"));
}

}  // namespace
}  // namespace oplens::parse::byte_source_test
