#include "tilewright/base/plain_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
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

// The bounds of section 3.9 of Unicode: U+0080, U+07FF, U+0800, U+D7FF, U+E000, U+FFFF, U+10000, U+10FFFF and
// their neighbours that are no characters.
TEST(PlainText, CharactersAreOfTheirShortestForm) {
  for (const char* character : {"a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(utf8_length(character), std::string(character).size()) << plain_text(character);
    EXPECT_TRUE(valid_utf8("a" + std::string(character) + "b")) << plain_text(character);
  }
  for (const char* none : {"\x80", "\xc0\x9b", "\xc1\xbf", "\xe0\x80\x9b", "\xe0\x9f\xbf", "\xed\xa0\x80",
                           "\xed\xbf\xbf", "\xf0\x80\x80\x9b", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                           "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xe2\x28\xa1"}) {
    EXPECT_EQ(utf8_length(none), 0u) << plain_text(none);
    EXPECT_FALSE(valid_utf8("a" + std::string(none))) << plain_text(none);
  }
  EXPECT_EQ(plain_text("\xe0\x80\x9b[2J"), "\\u00e0\\u0080\\u009b[2J");
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

TEST(PlainText, LowerCaseChangesTheLettersOfAsciiAlone) {
  EXPECT_EQ(lower_case("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "abcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(lower_case("@[`{ a1_ \xc3\x84\xff"), "@[`{ a1_ \xc3\x84\xff");
  EXPECT_EQ(lower_case(""), "");
}

}  // namespace
}  // namespace tilewright
