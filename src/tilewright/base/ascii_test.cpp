// lower_case against the alphabet.
#include "tilewright/base/ascii.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Ascii, LowerCaseChangesTheLettersOfAsciiAlone) {
  EXPECT_EQ(lower_case("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "abcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(lower_case("@[`{ a1_ \xc3\x84\xff"), "@[`{ a1_ \xc3\x84\xff");
  EXPECT_EQ(lower_case(""), "");
}

}  // namespace
}  // namespace tilewright
