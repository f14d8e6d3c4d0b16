#include <gtest/gtest.h>

#include "random_runs.h"

namespace tilewright::overlay {
namespace {

TEST(CycleSimulatorManyPrograms, EqualTheLiteralReference) { expect_literal_reference(1000, 4000); }

TEST(CycleSimulatorManyPrograms, LeaveTheMemoryOfTheFunctionalSimulator) {
  expect_functional_memory(1000, 4000);
}

}  // namespace
}  // namespace tilewright::overlay
