// The package of positions: every field and register, every name that sources use, the page.
#include "tilewright/pipeline/component/config_package.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tilewright/base/file.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace {

TEST(ConfigPackage, HasEveryFieldOfEveryComponent) {
  const std::string package = config_package();
  for (const ComponentType* const type : component_types()) {
    if (type->layouts == nullptr) continue;
    for (const RowLayout& layout : type->layouts()) {
      EXPECT_NE(package.find(fmt::format("\n  // {}\n", layout.name)), std::string::npos) << layout.name;
    }
  }
  for (const char* const line : {
           "localparam int FINISH_INTEGER_DRAIN_LSB = 177;\n",
           "localparam int FINISH_INTEGER_DRAIN_WIDTH = 16;\n",
           "localparam int FINISH_INTEGER_BITS = 194;\n",
           "localparam int FINISH_INTEGER_LANE_SHIFT_LSB = 32;  // + MULTIPLIER_BITS\n",
           "localparam int SLIDING_WINDOW_COLUMNS_LSB = 184;  // + AW + KH\n",
           "localparam int TENSOR_READER_WAIT_WIDTH = 16;\n",
           "localparam int TENSOR_READER_BITS = 317;  // + AW + 16 * PROGRESS\n",
           "localparam logic [11:0] REG_WEIGHT_BYTES = 12'h060;\n",
           "localparam logic [31:0] VALUE_ID = 32'h54575031;\n",
           "localparam int BIT_STATUS_ERROR = 1;\n",
       }) {
    EXPECT_NE(package.find(line), std::string::npos) << line;
  }
  for (const DeviceRegister& r : kRegisters) {
    EXPECT_NE(package.find(fmt::format("REG_{} = 12'h{:03x};", r.name, r.offset)), std::string::npos);
  }
}

TEST(ConfigPackage, OfSourcesHasWhatTheyAskFor) {
  const std::string package = config_package_for(
      {"x = component_config::FINISH_INTEGER_DRAIN_LSB + 1;", "", "component_config::REG_ID"});
  EXPECT_NE(package.find("\n  // finish_integer\n  localparam int FINISH_INTEGER_DRAIN_LSB = 177;\n"),
            std::string::npos);
  EXPECT_NE(package.find(" REG_ID = "), std::string::npos);
  EXPECT_EQ(package.find("REG_IDENTITY"), std::string::npos);
  EXPECT_EQ(package.find("rom_walker"), std::string::npos);
  EXPECT_EQ(package.find("lint_off"), std::string::npos);
  EXPECT_NE(package.find("\nendpackage\n"), std::string::npos);
}

// A name that the package lacks would be found by the tools alone.
TEST(ConfigPackage, HasEveryNameThatSourcesUse) {
  const std::string package = config_package(), prefix = "component_config::";
  std::set<std::string> missing;
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/rtl/pipeline")) {
    const std::string source = read_text_file(entry.path());
    for (size_t at = source.find(prefix); at != std::string::npos; at = source.find(prefix, at + 1)) {
      const size_t first = at + prefix.size();
      const size_t end = source.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", first);
      const std::string name = source.substr(first, end - first);
      if (package.find(" " + name + " = ") == std::string::npos) missing.insert(name);
      ++found;
    }
  }
  EXPECT_GT(found, 100);
  for (const std::string& name : missing) ADD_FAILURE() << name << " is not in the package";
}

TEST(ConfigPackage, ThePageHasTheLayouts) {
  const std::string page = read_text_file(TILEWRIGHT_SOURCE_DIR "/docs/design/pipeline/pipeline.md");
  for (const ComponentType* const type : component_types()) {
    if (type->layouts == nullptr) continue;
    for (const RowLayout& layout : type->layouts()) {
      const std::string line = fmt::format("| {} | {} |\n", layout.name, layout_text(layout));
      EXPECT_NE(page.find(line), std::string::npos) << "docs/design/pipeline/pipeline.md lacks\n" << line;
    }
  }
}

}  // namespace
}  // namespace tilewright::pipeline
