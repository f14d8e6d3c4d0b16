// Times and sizes in words, and texts that are neither.
#include "tilewright/flow/target/limit_words.h"

#include <gtest/gtest.h>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

TEST(LimitWords, Times) {
  EXPECT_EQ(seconds_in("10"), 10);
  EXPECT_EQ(seconds_in("500ms"), 0.5);
  EXPECT_EQ(seconds_in("1.5h"), 5400);
  EXPECT_EQ(seconds_in("10min"), 600);
  EXPECT_EQ(seconds_in("2m"), 120);
  for (const char* text : {"", "s", "0", "0s", "-1s", "10 s", "10sec", "1.2.3s", "nan", "inf", "."})
    EXPECT_THROW(seconds_in(text), Error) << text;
}

TEST(LimitWords, Sizes) {
  EXPECT_EQ(bytes_in("64M"), int64_t{64} << 20);
  EXPECT_EQ(bytes_in("16G"), int64_t{16} << 30);
  EXPECT_EQ(bytes_in("2.5GiB"), int64_t{5} << 29);
  EXPECT_EQ(bytes_in("1TB"), int64_t{1} << 40);
  for (const char* text : {"", "G", "16", "63M", "16g", "16GX", "16 G", "-1G", "99999999999T", "GiB"})
    EXPECT_THROW(bytes_in(text), Error) << text;
}

}  // namespace
}  // namespace tilewright
