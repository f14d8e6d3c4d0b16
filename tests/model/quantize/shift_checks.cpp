#include "shift_checks.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tilewright {

void expect_only_shifts(const Graph& integer) {
  const auto one_in_range = [](int64_t multiplier, int64_t shift) {
    return multiplier == 1 && shift >= 0 && shift <= 15;
  };
  int checked = 0;
  for (const Node& node : integer.nodes) {
    if (node.domain != kTilewrightDomain) continue;
    if (node.op == "QConv" || node.op == "QGemm" || node.op == "QConvTranspose") {
      for (int64_t m : integer.constant_input(node, 3)->to_integers()) EXPECT_EQ(m, 1) << node.name;
      for (int64_t s : integer.constant_input(node, 4)->to_integers()) {
        EXPECT_TRUE(s >= 0 && s <= 15) << node.name << " shifts by " << s;
      }
      ++checked;
    } else if (node.op == "QAdd") {
      for (const char* attribute : {"multiplier_a", "multiplier_b"}) {
        const int64_t m = std::abs(node.int_or(attribute, 0));
        EXPECT_TRUE(m > 0 && (m & (m - 1)) == 0) << node.name << " multiplies by " << m;
      }
      EXPECT_LE(node.int_or("shift", 0), 15) << node.name;
      ++checked;
    } else if (node.op == "QRequantize") {
      EXPECT_TRUE(one_in_range(node.int_or("multiplier", 0), node.int_or("shift", -1))) << node.name;
    }
    EXPECT_EQ(node.int_or("y_zero_point", 0), 0) << node.name;
    EXPECT_EQ(node.int_or("pad_value", 0), 0) << node.name;
  }
  EXPECT_GT(checked, 0);
}

}  // namespace tilewright
