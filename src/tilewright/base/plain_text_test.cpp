#include "tilewright/base/plain_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_seed.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(PlainText, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(plain_text("conv\x1b[2Jed\r\n"), "conv\\u001b[2Jed\\u000d\\u000a");
  EXPECT_EQ(plain_text("a\tb\nc\x07", ControlCharacters::kLinesAndTabs), "a\tb\nc\\u0007");
  EXPECT_EQ(plain_text("\x7f \xc2\x9b \x9b \xc3"), "\\u007f \\u009b \\u009b \\u00c3");
  EXPECT_EQ(plain_text(std::string("\0", 1)), "\\u0000");
  const std::string letters =
      "gr\xc3\xb6\xc3\x9f"
      "e \xe5\xb1\x82 \xf0\x9f\x99\x82 \xc2\xa0";
  EXPECT_EQ(plain_text(letters), letters);
}

// Whatever the bytes: no control character is left, what is plain stays as it is, and once is enough.
TEST(PlainTextClass, NoControlCharacterIsLeft) {
  Random random(test_seed());
  const int64_t cases = test_cases(20000);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    std::string text;
    for (int64_t n = random.between(0, 12); n > 0; --n) {
      text += char(random.chance(0.3)   ? random.between(0, 255)
                   : random.chance(0.5) ? 0xC2
                                        : random.between(0x7E, 0xA1));
    }
    const std::string plain = plain_text(text);
    for (size_t c = 0; c < plain.size(); ++c) {
      const auto byte = uint8_t(plain[c]);
      ASSERT_TRUE(byte >= 0x20 && byte != 0x7F) << "seed " << test_seed() << ", case " << i;
      ASSERT_FALSE(byte == 0xC2 && uint8_t(plain[c + 1]) < 0xA0) << "seed " << test_seed() << ", case " << i;
    }
    ASSERT_EQ(plain_text(plain), plain) << "seed " << test_seed() << ", case " << i;
  }
}

}  // namespace
}  // namespace tilewright
