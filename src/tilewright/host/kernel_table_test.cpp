#include "tilewright/host/kernel_table.h"

#include <gtest/gtest.h>

#include <string>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {
namespace {

TEST(KernelTable, EveryOperatorOfAGraphRuns) {
  for (const Operator& op : all_operators()) {
    EXPECT_NE(find_kernel(op.domain, op.name), nullptr) << op.domain << " " << op.name;
  }
  EXPECT_GE(all_operators().size(), 90u);
}

TEST(KernelTable, UnknownOperatorsHaveNoKernel) {
  EXPECT_EQ(find_kernel("", "Einsum"), nullptr);
  EXPECT_EQ(find_kernel("acme", "Add"), nullptr);
  EXPECT_NE(find_kernel("", "Add"), nullptr);
}

}  // namespace
}  // namespace tilewright
