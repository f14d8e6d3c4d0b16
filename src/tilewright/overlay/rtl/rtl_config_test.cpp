// The package that parameterises the RTL, its rules, and the register table in the documentation.
#include "tilewright/overlay/rtl/rtl_config.h"

#include <gtest/gtest.h>

#include "tilewright/base/file.h"
#include "tilewright/overlay/rtl/registers.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

std::string package_of(const std::string& preset) {
  return rtl_config(find_overlay_hardware(preset, fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware"));
}

bool has(const std::string& text, const std::string& name, const std::string& value) {
  return text.find(" " + name + " = " + value + ";\n") != std::string::npos;
}

// The positions of the public default are those of the tables in docs/reference/isa.md.
TEST(RtlConfig, PublicDefault) {
  const std::string text = package_of("vta-default");
  EXPECT_TRUE(has(text, "WIDE", "0"));
  EXPECT_TRUE(has(text, "INSTR_BITS", "128"));
  EXPECT_TRUE(has(text, "LOG_UOP", "13"));
  EXPECT_TRUE(has(text, "LOG_ACC", "11"));
  EXPECT_TRUE(has(text, "LOG_WGT_BYTES", "8"));
  EXPECT_TRUE(has(text, "ALU_LANES", "16"));
  EXPECT_TRUE(has(text, "ADDR_BITS", "30"));
  EXPECT_TRUE(has(text, "M_DRAM_LSB", "26"));
  EXPECT_TRUE(has(text, "M_DRAM_WIDTH", "32"));
  EXPECT_TRUE(has(text, "M_XPAD1_LSB", "124"));
  EXPECT_TRUE(has(text, "G_UEND_LSB", "21"));
  EXPECT_TRUE(has(text, "G_UEND_WIDTH", "14"));
  EXPECT_TRUE(has(text, "G_WFI_LSB", "118"));
  EXPECT_TRUE(has(text, "A_IMM_LSB", "112"));
  EXPECT_TRUE(has(text, "M_PADVAL_LSB", "0"));
  EXPECT_TRUE(has(text, "M_PADVAL_WIDTH", "1"));
  EXPECT_TRUE(has(text, "U_SRC_LSB", "11"));
  EXPECT_TRUE(has(text, "U_WGT_LSB", "22"));
  EXPECT_TRUE(has(text, "REG_CYCLES", "12'h040"));
}

TEST(RtlConfig, WideFieldsAndAbsentLanes) {
  const std::string text = package_of("overlay-tiny");
  EXPECT_TRUE(has(text, "WIDE", "1"));
  EXPECT_TRUE(has(text, "INSTR_BITS", "256"));
  EXPECT_TRUE(has(text, "VERSION_LSB", "7"));
  EXPECT_TRUE(has(text, "M_PADVAL_LSB", "192"));
  EXPECT_TRUE(has(text, "LOG_ACC_BYTES", "4"));
  EXPECT_TRUE(has(text, "U_OVERWRITE_WIDTH", "1"));
}

TEST(RtlConfig, EqualHardwareOfAnotherNameHasTheSamePackage) {
  OverlayHardware hardware = find_overlay_hardware("1x16_i8w8a32_15_15_18_17", {});
  const std::string text = rtl_config(hardware);
  hardware.name = "other";
  EXPECT_EQ(rtl_config(hardware), text);
}

TEST(RtlConfig, RefusesPortsTheHardwareHasNot) {
  OverlayHardware hardware;
  hardware.name = "odd";
  for (const int bits : {16, 1024}) {
    hardware.memory_width_bits = bits;
    hardware.max_burst_beats = 16;
    Diagnostics diagnostics;
    verify_rtl(hardware, diagnostics);
    ASSERT_EQ(diagnostics.errors().size(), 1u) << bits;
    EXPECT_EQ(diagnostics.errors()[0].op, "memory_width_bits");
    EXPECT_NE(diagnostics.errors()[0].hint.find(bits == 16 ? "32" : "512"), std::string::npos);
  }
  hardware.memory_width_bits = 512;
  hardware.max_burst_beats = 128;
  Diagnostics diagnostics;
  verify_rtl(hardware, diagnostics);
  ASSERT_EQ(diagnostics.errors().size(), 1u);
  EXPECT_EQ(diagnostics.errors()[0].op, "max_burst_beats");
  EXPECT_THROW(rtl_config(hardware), Error);
}

TEST(RtlConfig, WritesSourcesOnceAndInReadingOrder) {
  OverlayHardware hardware;
  hardware.name = "default";
  const fs::path root = fs::path(testing::TempDir()) / "rtl_config_test";
  fs::remove_all(root);
  create_folder(root / "rtl" / "checks");
  create_folder(root / "rtl" / "overlay");
  write_text_file(root / "rtl" / "overlay" / "b.sv", "module b; endmodule\n");
  write_text_file(root / "rtl" / "overlay" / "a.sv", "module a; endmodule\n");
  write_text_file(root / "rtl" / "overlay" / "notes.txt", "");
  EXPECT_THROW(write_rtl(hardware, root / "out", root / "rtl"), Error);  // no checks
  write_text_file(root / "rtl" / "checks" / "c.sv", "module c; endmodule\n");
  const std::vector<fs::path> files = write_rtl(hardware, root / "out", root / "rtl");
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].filename(), "overlay_config.sv");
  EXPECT_EQ(files[1].filename(), "c.sv");
  EXPECT_EQ(files[2].filename(), "a.sv");
  EXPECT_EQ(files[3].filename(), "b.sv");
  const auto time = fs::last_write_time(files[0]);
  write_rtl(hardware, root / "out", root / "rtl");
  EXPECT_EQ(fs::last_write_time(files[0]), time);
  EXPECT_THROW(write_rtl(hardware, root / "out", root / "missing"), Error);
  fs::remove_all(root);
}

TEST(Registers, OffsetsAreAlignedAndDistinct) {
  int last = -4;
  for (const DeviceRegister& r : kRegisters) {
    EXPECT_EQ(r.offset % 4, 0) << r.name;
    EXPECT_GT(int(r.offset), last) << r.name;
    last = r.offset;
  }
}

TEST(Registers, DescribeTheHardware) {
  OverlayHardware hardware;
  EXPECT_EQ(hardware_register(hardware, register_offset("HW_WIDTHS")), 0x08200808u);
  EXPECT_EQ(hardware_register(hardware, register_offset("HW_DEPTHS")), 0x0B0A0B0Du);
  EXPECT_THROW(hardware_register(hardware, register_offset("CYCLES")), Error);
}

TEST(Registers, PageShowsTheTable) {
  const std::string page =
      read_text_file(fs::path(TILEWRIGHT_SOURCE_DIR) / "docs/reference/overlay_registers.md");
  EXPECT_NE(page.find("\n" + register_table()), std::string::npos)
      << "the table of docs/reference/overlay_registers.md should be:\n"
      << register_table();
}

}  // namespace
}  // namespace tilewright::overlay
