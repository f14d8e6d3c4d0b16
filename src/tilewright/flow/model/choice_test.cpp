#include "tilewright/flow/model/choice.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Choice, IsTheWordsValueOrAProblem) {
  Diagnostics problems;
  const std::initializer_list<Choice<int>> choices = {{"one", 1}, {"two", 2}};
  EXPECT_EQ(choose("number", "two", choices, problems), 2);
  EXPECT_TRUE(problems.ok());
  for (const char* wrong : {"", "on", "onetwo", "One", "three"}) {
    Diagnostics found;
    EXPECT_EQ(choose("number", wrong, choices, found), 1);
    ASSERT_EQ(found.errors().size(), 1u);
    EXPECT_EQ(to_string(found.errors()[0]), "number: there is no '" + std::string(wrong) + "'; " +
                                                did_you_mean(wrong, {"one", "two"}) +
                                                "choose one of: one, two");
  }
}

}  // namespace
}  // namespace tilewright
