// Damaged files of the mapper comparisons end in a message.
#include "spatial/timeloop_files/damaged_text.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"

namespace tilewright {
namespace {

std::vector<TimeloopText> spec_files(const std::vector<std::string>& names) {
  const std::filesystem::path specs = outside_folder() / "reference/timeloop-specs";
  std::vector<TimeloopText> texts;
  for (const std::string& name : names) texts.push_back({name, read_text_file(specs / name)});
  return texts;
}

TEST(TimeloopMalformed, DamagedSpecFilesNeverCrash) {
  expect_messages_for_damage(
      {spec_files(
           {"arch_unified.yaml", "ert.yaml", "bug_extrapolation/prob.yaml", "bug_extrapolation/m.yaml"}),
       spec_files({"arch_rs.yaml", "ert.yaml", "prob/alex_conv2.yaml", "space_rs.yaml"})},
      2000);
}

}  // namespace
}  // namespace tilewright
