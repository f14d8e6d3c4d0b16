// Tables and numbers in text.
#include <gtest/gtest.h>

#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

TEST(NumberText, KeepsFourDigitsAndThePrefix) {
  EXPECT_EQ(scaled_number(0), "0");
  EXPECT_EQ(scaled_number(7), "7");
  EXPECT_EQ(scaled_number(1234), "1.234 k");
  EXPECT_EQ(scaled_number(999.97e6), "1.000 G");
  EXPECT_EQ(energy_text(1.5e9, "pj"), "1.500 mJ");
  EXPECT_EQ(energy_text(2.5e6, "mac"), "2.500 M");
  EXPECT_EQ(time_text(200e3, 200), "1.000 ms");
  EXPECT_EQ(time_text(200e3, 0), "");
  EXPECT_EQ(percent_text(0.4996), "50.0%");
}

TEST(TextTable, AlignsAndDropsEmptyColumns) {
  TextTable table({"name", ">n", "empty"});
  table.row({"a", "1", ""});
  table.rule();
  table.row({"\xc3\xa9\xc3\xa9", "22"});
  EXPECT_EQ(table.to_string(), "name   n\na      1\n--------\n\xc3\xa9\xc3\xa9    22\n");
  EXPECT_EQ(shortened_middle("abcdefghij", 6), "ab..ij");
}

}  // namespace
}  // namespace tilewright
