#include "tilewright/frontend/tensorflow/values/tf_bundle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error_text_testing.h"
#include "support/frontend/graphdef_builder_testing.h"
#include "support/frontend/saved_model_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/frontend/tensorflow/values/tf_checksum.h"
#include "tilewright/frontend/tensorflow/values/tf_table.h"

namespace tilewright {
namespace {

using namespace saved_model_testing;
using graphdef_testing::raw;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

// Writes the files of a bundle and opens them.
class OpenBundle {
 public:
  explicit OpenBundle(const BundleText& text) : folder_(testing::TempDir(), "bundle") {
    text.write(folder_.path());
    bundle_.emplace(folder_.path() / "variables/variables");
  }
  TfBundle* operator->() { return &*bundle_; }

 private:
  TemporaryFolder folder_;
  std::optional<TfBundle> bundle_;
};

TEST(Checksum, IsCastagnolis) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(bytes_of("56789"), crc32c(bytes_of("1234"))), 0xe3069283u);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(masked_checksum(0), 0xa282ead8u);
}

TEST(SortedTable, ReadsWhatLevelDbWrites) {
  Random random(3);
  for (const size_t block_bytes : {size_t{16}, size_t{400}, size_t{1} << 18}) {
    std::map<std::string, std::string> entries = {{"", "header"}};
    for (int i = 0; i < 500; ++i) {
      entries[fmt::format("model/layer_{}/part", random.between(0, 100000))] =
          std::string(size_t(random.between(0, 300)), char('a' + i % 26));
    }
    EXPECT_EQ(read_sorted_table(bytes_of(sorted_table(entries, block_bytes))), entries);
  }
  EXPECT_TRUE(read_sorted_table(bytes_of(sorted_table({}))).empty());
}

TEST(SortedTable, CompressedBlocksAreRefused) {
  const std::string table = sorted_table({{"weights", std::string(1000, 'w')}}, 4096, true);
  ASSERT_LT(table.size(), 1000u) << "LevelDB did not compress";
  const std::string message = error_text([&] { read_sorted_table(bytes_of(table)); });
  EXPECT_EQ(message,
            "has compressed blocks; export the model with TensorFlow itself, which does not compress them");
}

TEST(SortedTable, NoFlippedByteIsReadAsAnotherTable) {
  std::map<std::string, std::string> entries;
  for (int i = 0; i < 40; ++i) entries[fmt::format("weights_{:03}", i)] = std::string(20, char('a' + i));
  const std::string table = sorted_table(entries, 200);
  Random random(5);
  int accepted = 0;
  for (size_t at = 0; at < table.size(); ++at) {
    std::string damaged = table;
    damaged[at] = char(damaged[at] ^ random.between(1, 255));
    try {
      EXPECT_EQ(read_sorted_table(bytes_of(damaged)), entries) << at;
      ++accepted;  // what checkpoints do not use: the place of blocks about the table, padding
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
    }
  }
  EXPECT_LT(accepted, 60);
  for (size_t size = 0; size < table.size(); ++size)
    EXPECT_THROW(read_sorted_table(bytes_of(table.substr(0, size))), Error) << size;
}

// With checksums that are right again: whatever the blocks say, reading ends with a table or an error.
TEST(SortedTable, SurvivesDamageBehindItsChecksums) {
  const std::map<std::string, std::string> entries = {
      {"", "header"}, {"weights", "one"}, {"weights_2", "two"}};
  const std::string table = sorted_table(entries);
  Random random(7);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = table;
    for (int64_t k = random.between(1, 3); k > 0; --k)
      damaged[size_t(random.between(0, int64_t(table.size()) - 1))] = char(random.between(0, 255));
    reseal_table(damaged, table);
    try {
      read_sorted_table(bytes_of(damaged));
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kInternal);
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Bundle, ReadsTensorsOfEveryTypeAndShard) {
  BundleText text;
  text.shards.resize(3);
  text.tensor("floats", 1, {2, 2}, raw(std::vector<float>{1, -2, 3.5f, 0}), 2);
  text.tensor("doubles", 2, {1}, raw(std::vector<double>{0.1}), 1);
  text.tensor("bytes", 6, {3}, std::string("\1\xff\x80", 3));
  text.tensor("longs", 9, {}, raw(std::vector<int64_t>{int64_t{1} << 40}));
  text.tensor("flags", 10, {2}, std::string("\1\0", 2), 1);
  text.tensor("halves", 19, {1}, std::string("\0\x3c", 2));
  text.tensor("brains", 14, {1}, std::string("\x80\x3f", 2));
  text.tensor("none", 1, {0, 4}, "");
  text.text("words", std::string(300, 'w'));
  OpenBundle bundle(text);
  EXPECT_TRUE(bundle->read("floats").identical(Tensor::of<float>({2, 2}, {1, -2, 3.5f, 0})));
  EXPECT_EQ(bundle->read("doubles").number_at(0), 0.1);
  EXPECT_EQ(bundle->read("bytes").to_integers(), (std::vector<int64_t>{1, -1, -128}));
  EXPECT_EQ(bundle->read("longs").integer_at(0), int64_t{1} << 40);
  EXPECT_EQ(bundle->read("flags").type(), ElementType::kBool);
  EXPECT_EQ(bundle->read("halves").number_at(0), 1);
  EXPECT_EQ(bundle->read("brains").number_at(0), 1);
  EXPECT_EQ(bundle->read("none").size(), 0);
  EXPECT_EQ(bundle->read_text("words"), std::string(300, 'w'));
  EXPECT_FALSE(bundle->has("more"));
}

TEST(Bundle, AssemblesSlices) {
  std::vector<float> left, right;
  for (int row = 0; row < 100; ++row) {
    for (int column = 0; column < 4; ++column) (column < 1 ? left : right).push_back(float(row * 4 + column));
  }
  BundleText text;
  text.sliced("table", 1, {100, 4}, {{{{0, -1}, {0, 1}}, raw(left)}, {{{0, -1}, {1, 3}}, raw(right)}});
  const auto rows = [](int from, int to) { return raw(std::vector<float>(size_t(to - from), float(from))); };
  text.sliced("rows", 1, {200}, {{{{0, 90}}, rows(0, 90)}, {{{90, 110}}, rows(90, 200)}});
  OpenBundle bundle(text);
  const Tensor table = bundle->read("table");
  for (int64_t i = 0; i < 400; ++i) EXPECT_EQ(table.number_at(i), double(i));
  const Tensor all_rows = bundle->read("rows");
  EXPECT_EQ(all_rows.number_at(89), 0);
  EXPECT_EQ(all_rows.number_at(90), 90);
}

TEST(Bundle, SaysWhatIsWrong) {
  const std::string four = raw(std::vector<float>{1, 2, 3, 4});
  BundleText text;
  text.tensor("w", 1, {2, 2}, four).tensor("short", 1, {8}, four).tensor("text", 7, {2}, four);
  text.tensor("negative", 1, {-1}, four).tensor("large", 1, {int64_t{1} << 40, 1 << 20}, four);
  text.tensor("damaged", 1, {4}, four);
  text.shards[0].back() = '?';
  text.entries["beyond"] = text.entries["w"] + graphdef_testing::number(4, 1 << 20);
  text.entries["elsewhere"] = text.entries["w"] + graphdef_testing::number(3, 7);
  text.entries["before"] = text.entries["w"] + graphdef_testing::number(4, -16);
  text.sliced("holes", 1, {4}, {{{{0, 1}}, raw(std::vector<float>{1})}});
  text.sliced("overlap", 1, {4}, {{{{0, 2}}, four.substr(0, 8)}, {{{1, 2}}, four.substr(0, 8)}});
  text.sliced("outside", 1, {4}, {{{{2, 4}}, four}});
  OpenBundle bundle(text);
  const auto error_of = [&](const std::string& key) { return error_text([&] { bundle->read(key); }); };
  EXPECT_EQ(error_of("short"), "has 16 bytes, f32[8] takes 32; export the model again");
  EXPECT_EQ(error_of("text"), "holds elements of DT_STRING");
  EXPECT_MENTIONS(error_of("negative"), "has an unknown shape in the index");
  EXPECT_MENTIONS(error_of("large"), "shape");
  EXPECT_MENTIONS(error_of("damaged"),
                  "variables.data-00000-of-00001' is damaged: the checksum of the elements");
  EXPECT_MENTIONS(error_of("beyond"), "data-00000-of-00001' has ");
  EXPECT_MENTIONS(error_of("beyond"), "bytes, the tensor needs 16 from byte 1048576");
  EXPECT_MENTIONS(error_of("before"), "bytes, the tensor needs 16 from byte -16");
  EXPECT_MENTIONS(error_of("elsewhere"), "is in data file 7, of which there are 1");
  EXPECT_MENTIONS(error_of("holes"), "has slices that leave holes or overlap");
  EXPECT_MENTIONS(error_of("overlap"), "has slices that leave holes or overlap");
  EXPECT_MENTIONS(error_of("outside"), "has a slice outside its shape 4");
  EXPECT_EQ(bundle->read("w").size(), 4);
}

TEST(Bundle, TensorsThatShareBytesComeToNoMoreThanTheFiles) {
  BundleText text;
  text.tensor("a", 1, {1000}, std::string(4000, '\1'));
  OpenBundle bundle(text);
  EXPECT_EQ(bundle->read("a").size(), 1000);
  EXPECT_MENTIONS(error_text([&] { bundle->read("a"); }), "has fewer bytes than its tensors, which overlap");
}

TEST(Bundle, AnIndexThatIsNoneIsRefused) {
  const TemporaryFolder folder(testing::TempDir(), "bundle_index");
  const auto open = [&](const std::string& index) {
    write_text_file(folder.path() / "v.index", index);
    return error_text([&] { TfBundle bundle(folder.path() / "v"); });
  };
  using graphdef_testing::number;
  EXPECT_MENTIONS(open(""), "is damaged: it is too short for an index");
  EXPECT_MENTIONS(open(std::string(100, 'x')), "is damaged: it does not end as an index does");
  EXPECT_MENTIONS(open(sorted_table({{"w", ""}})), "is damaged: it has no header");
  EXPECT_MENTIONS(open(sorted_table({{"", "\xff"}})), "is damaged: its header cannot be read");
  EXPECT_MENTIONS(open(sorted_table({{"", ""}, {"w", "\xff"}})), "is damaged: entry 'w' cannot be read");
  EXPECT_MENTIONS(open(sorted_table({{"", ""}, {"\xff", "\xff"}})), "is damaged: an entry cannot be read");
  EXPECT_MENTIONS(open(sorted_table({{"", number(1, 1) + number(2, 1)}})), "holds big-endian numbers");
}

}  // namespace
}  // namespace tilewright
