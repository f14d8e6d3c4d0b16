#include <gtest/gtest.h>

#include "random_runs.h"

namespace tilewright::overlay {
namespace {

TEST(CycleSimulatorFewPrograms, EqualTheLiteralReference) { expect_literal_reference(1, 150); }

TEST(CycleSimulatorFewPrograms, LeaveTheMemoryOfTheFunctionalSimulator) { expect_functional_memory(1, 150); }

}  // namespace
}  // namespace tilewright::overlay
