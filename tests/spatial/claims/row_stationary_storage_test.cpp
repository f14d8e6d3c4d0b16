// Claim: storage of equal area (ISCA 2016 section VI-B, Fig. 7).
#include "row_stationary_checks_testing.h"

namespace tilewright::claims {
namespace {

TEST(RowStationaryStorage, TableOfEqualArea) { expect_all(storage_checks(shared_study()), 1 + 6 * 7); }

TEST(RowStationaryStorage, TextClaims) {
  const Study& study = shared_study();
  const auto storage = [&](size_t d) {
    return study::equal_area_storage(study.machine, study.dataflows[d].register_file_bytes);
  };
  // "difference up to 80 kB", "buffer up to 2.6 times larger".
  EXPECT_NEAR((storage(4).total_bytes - storage(5).total_bytes) / 1024, 82.3, 0.1);
  EXPECT_NEAR(storage(4).buffer_bytes / storage(5).buffer_bytes, 2.643, 0.001);
}

}  // namespace
}  // namespace tilewright::claims
