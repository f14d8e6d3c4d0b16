// Part of every test program of label `outside`: without the folder none of its tests runs, and the reason is
// printed.
#include <gtest/gtest.h>

#include "support/outside_testing.h"

namespace tilewright {

class OutsideRequired : public testing::Environment {
  void SetUp() override {
    if (!std::filesystem::is_directory(outside_models())) {
      FAIL() << "no folder of real models at " << outside_models()
             << ": run `make test-outside TILEWRIGHT_OUTSIDE=FOLDER`";
    }
  }
};

static testing::Environment* const outside_required = testing::AddGlobalTestEnvironment(new OutsideRequired);

}  // namespace tilewright
