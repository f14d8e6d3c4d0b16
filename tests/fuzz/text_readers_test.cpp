// Readers of text against damaged documents; the figure reader_mutations runs many more.
#include <gtest/gtest.h>

#include "fuzz/text_targets.h"
#include "support/random_seed_testing.h"

namespace tilewright {
namespace {

TEST(TextReadersClass, SurviveDamagedDocuments) {
  const auto cases = int(test_cases(250));
  int inputs = 0;
  for (const FuzzTarget& target : text_targets()) {
    const FuzzTotals totals = fuzz(target, cases, test_seed());
    EXPECT_EQ(totals.failures(), 0) << target.name << ", seed " << test_seed();
    EXPECT_LT(totals.accepted, cases) << target.name << ": no mutation was noticed";
    EXPECT_NO_THROW(target.read(target.original)) << target.name;
    inputs += totals.inputs;
  }
  RecordProperty("cases", inputs);
}

}  // namespace
}  // namespace tilewright
