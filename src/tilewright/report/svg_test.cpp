// Drawings are well-formed whatever the names in them are.
#include "tilewright/report/svg.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/plain_text.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

TEST(Svg, TextThatXmlCannotHoldIsReplaced) {
  EXPECT_EQ(escaped_xml("<a & \"b\">\n\x1b"), "&lt;a &amp; &quot;b&quot;&gt;  ");
  EXPECT_EQ(escaped_xml("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"), "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
  EXPECT_EQ(escaped_xml("a\xff\xc3"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(escaped_xml("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(SvgClass, AnyBytesBecomeXmlText) {
  const int64_t cases = test_cases(2000);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    std::string text;
    for (int64_t left = random.between(0, 12); left > 0; --left)
      text += char(random.chance(0.5) ? random.between(0xbe, 0xf0) : random.between(0, 255));
    const std::string xml = escaped_xml(text);
    ASSERT_TRUE(valid_utf8(xml));
    for (const char* barred : {"<", ">", "\"", "\xef\xbf\xbe", "\xef\xbf\xbf"})
      ASSERT_EQ(xml.find(barred), std::string::npos);
    for (const char c : xml) ASSERT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

}  // namespace
}  // namespace tilewright
