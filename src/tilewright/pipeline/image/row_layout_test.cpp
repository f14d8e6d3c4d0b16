// Layouts of rows: values read back, and lie where the fields say.
#include "tilewright/pipeline/image/row_layout.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {
namespace {

struct Sample {
  int64_t count = 0, offset = 0, pad = 0;
  bool flag = false;
  std::vector<int64_t> waits;
};
constexpr RowField<Sample> kSampleFields[] = {
    {"COUNT", unsigned_bits(5), &Sample::count},
    {"OFFSET", signed_bits(7), &Sample::offset},
    {"PAD", parameter_bits("AW", true), &Sample::pad},
    {"DOUBLE", unsigned_bits(6), [](const Sample& s, const netlist::Parameters&) { return 2 * s.count; }},
    {"FLAG", unsigned_bits(1), &Sample::flag},
    {"WAIT", repeated_bits(3, "N"), &Sample::waits},
};
constexpr RowFields<Sample> kSample(kSampleFields);

TEST(RowLayout, RowsReadBack) {
  const netlist::Parameters parameters = {{"AW", int64_t{4}}, {"N", int64_t{3}}};
  const std::vector<Sample> rows = {{31, -64, -8, true, {1, 2, 7}}, {0, 63, 7, false, {5}}};
  const MemoryImage table = write_rows(kSample, rows, parameters);
  EXPECT_EQ(table.width_bits(), 5 + 7 + 4 + 6 + 1 + 9);
  const std::vector<Sample> back = read_rows(kSample, table, parameters);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].count, 31);
  EXPECT_EQ(back[0].offset, -64);
  EXPECT_EQ(back[0].pad, -8);
  EXPECT_TRUE(back[0].flag);
  EXPECT_EQ(back[0].waits, rows[0].waits);
  EXPECT_EQ(back[1].offset, 63);
  EXPECT_EQ(back[1].waits, (std::vector<int64_t>{5, 0, 0})) << "missing ones are 0";
}

TEST(RowLayout, FieldsLieBehindEachOther) {
  const netlist::Parameters parameters = {{"AW", int64_t{4}}, {"N", int64_t{1}}};
  const MemoryImage table = write_rows(kSample, {{3, 1, 5, false, {6}}}, parameters);
  EXPECT_EQ(field_low(kSample, "DOUBLE", parameters), 16);
  EXPECT_EQ(table.get(0, 16, 6), 6u) << "what follows is written";
  EXPECT_EQ(table.get(0, field_low(kSample, "WAIT", parameters), 3), 6u);
  EXPECT_THROW(field_low(kSample, "NOTHING", parameters), Error);
  EXPECT_THROW(row_bits(kSample), Error) << "a parameter that is missing";
}

TEST(RowLayout, AFieldOfAParameterMayHaveNoBits) {
  const netlist::Parameters none = {{"AW", int64_t{0}}, {"N", int64_t{0}}};
  Sample row{1, -5, 77, true, {9}};
  const Sample back = read_rows(kSample, write_rows(kSample, {row}, none), none).at(0);
  EXPECT_EQ(back.offset, -5);
  EXPECT_EQ(back.pad, 0) << "it keeps what it is without a row";
  EXPECT_TRUE(back.flag);
  EXPECT_TRUE(back.waits.empty());
}

}  // namespace
}  // namespace tilewright::pipeline
