#include "tilewright/hardware/device.h"

#include <gtest/gtest.h>

#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/hardware/preset_files.h"

namespace tilewright {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices";

std::string device_failure(const std::string& text) {
  try {
    parse_device(text, "board.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Device, PresetsReadAndAreNamedAfterTheirFiles) {
  const std::vector<std::string> names = preset_names(kFolder, "device");
  EXPECT_EQ(names, (std::vector<std::string>{"f1-vu9p", "ice40-hx8k", "ice40-up5k", "lfe5u-85f", "xc7z010",
                                             "xc7z020", "xcvu9p", "xczu3eg"}));
  for (const std::string& name : names) EXPECT_EQ(find_device(name, kFolder).name, name);
}

TEST(Device, PresetHoldsTheDataSheet) {
  const Device device = find_device("xc7z020", kFolder);
  EXPECT_EQ(device.family, synthesis::DeviceFamily::kXc7);
  EXPECT_EQ(device.part, "xc7z020clg400-1");
  EXPECT_EQ(device.has, (synthesis::Resources{.lut = 53200, .ff = 106400, .dsp = 220, .bram = 280}));
  EXPECT_EQ(find_device("ice40-hx8k", kFolder).nextpnr_arguments,
            (std::vector<std::string>{"--hx8k", "--package", "ct256"}));
}

TEST(Device, BoardStatesItsMemoryAndClock) {
  const Device device = find_device("f1-vu9p", kFolder);
  EXPECT_EQ(device.has.dsp, 5640);
  EXPECT_EQ(device.has.bram, 4320);
  EXPECT_EQ(device.clock_mhz, 125);
  ASSERT_TRUE(device.memory.has_value());
  EXPECT_EQ(*device.memory, (DeviceMemory{4, 64, 128, 90}));
  const MemoryModel channel = device.memory->model();
  EXPECT_EQ(channel, find_memory_model("fixed:128:1:90"));
  EXPECT_FALSE(find_device("xcvu9p", kFolder).memory.has_value());
}

TEST(Device, PrintsAndReadsBack) {
  for (const std::string& name : preset_names(kFolder, "device")) {
    const Device device = find_device(name, kFolder);
    EXPECT_EQ(parse_device(print_device(device), "printed.yaml"), device) << print_device(device);
  }
}

TEST(Device, DevicesAreNoOverlayPresets) {
  for (const std::string& name : overlay_preset_names(kFolder)) ADD_FAILURE() << name;
}

TEST(Device, UnknownNameListsTheKnownOnes) {
  try {
    find_device("xc7z999", kFolder);
    FAIL() << "an unknown device was found";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("lfe5u-85f, xc7z010, xc7z020"), std::string::npos)
        << error.what();
  }
}

TEST(Device, EveryProblemIsReportedWithItsLine) {
  const std::string text =
      device_failure("kind: array\nfamily: spartan\npart: p1\npackage: q\nlut: many\nbrams: 3\n");
  for (const char* part : {"board.yaml:1 (kind)", "board.yaml:2 (family)", "board.yaml:5 (lut)", "(ff)",
                           "board.yaml:6 (brams): unknown field", "xc7, xcup, ecp5, ice40"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " not in\n" << text;
  }
}

TEST(Device, RulesAcrossFields) {
  const std::string start = "lut: 10\nff: 10\npackage: q\n";
  EXPECT_EQ(device_failure(start + "family: xc7\npart: p1\n"), "");
  EXPECT_NE(device_failure(start + "family: xc7\npart: 'p1; exec rm'\n").find("(part)"), std::string::npos);
  EXPECT_NE(device_failure(start + "family: xc7\npart: p1\nnextpnr: [--x]\n").find("(nextpnr)"),
            std::string::npos);
  EXPECT_NE(device_failure(start + "family: ice40\npart: p1\n").find("(nextpnr)"), std::string::npos);
  EXPECT_NE(device_failure(start + "family: ice40\npart: p1\nnextpnr: --x\n").find("a list of words"),
            std::string::npos);
  const std::string part = start + "family: xc7\npart: p1\n";
  EXPECT_NE(device_failure(part + "dram: {port_bytes: 12, latency_cycles: 1}\n").find("port_bytes 12"),
            std::string::npos);
  EXPECT_NE(device_failure(part + "dram: {port_bytes: 8}\n").find("latency_cycles"), std::string::npos);
  EXPECT_NE(device_failure(part + "dram: {port_bytes: 8, latency_cycles: 1, efficiency_percent: 0}\n")
                .find("efficiency_percent"),
            std::string::npos);
  EXPECT_NE(device_failure(part + "clock_mhz: fast\n").find("(clock_mhz)"), std::string::npos);
  EXPECT_NE(device_failure("family: xc7\npart: p1\npackage: q\nlut: 0\nff: 1\n").find("(lut)"),
            std::string::npos);
}

// A device file is data: nextpnr would run a script that its arguments name, also one that no option
// precedes.
TEST(Device, NextpnrArgumentsOnlyChooseThePart) {
  const auto with = [](const std::string& arguments) {
    return device_failure("lut: 10\nff: 10\npackage: q\nfamily: ecp5\npart: p1\nnextpnr: [" + arguments +
                          "]\n");
  };
  for (const char* good : {"--85k", "--um5g-25k, --package, CABGA381", "--85k, --speed, '6', --package, p-1",
                           "--package, ct256, --hx8k"}) {
    EXPECT_EQ(with(good), "") << good;
  }
  const std::pair<const char*, const char*> kForeign[] = {
      {"--run, evil", "--run"},
      {"--85k, --pre-pack, evil", "--pre-pack"},
      {"--85k, --run=evil", "--run=evil"},
      {"--85k, evil", "evil"},
      {"evil", "evil"},
      {"--85k, --package, ct256, evil", "evil"},
      {"--85k, --package", "--package"},
      {"--package, --run, evil", "--package"},
      {"--package, --85k", "--package"},
      {"--package=ct256", "--package=ct256"},
      {"--package, '../ct256'", "--package"},
      {"--package, ''", "--package"},
      {"''", ""},
      {"--8", "--8"},
      {"-l, log", "-l"},
  };
  for (const auto& [arguments, named] : kForeign) {
    EXPECT_NE(with(arguments).find(std::string("device 'board' (nextpnr): '") + named +
                                   "' does not name a part of a family; e.g. [--hx8k, --package, ct256]"),
              std::string::npos)
        << arguments;
  }
}

TEST(Device, MisfitsNameResourceNeedHaveAndHint) {
  const Device device = find_device("ice40-hx8k", kFolder);
  Diagnostics diagnostics;
  report_misfits(device, {.lut = 7680, .ff = 10, .dsp = 0, .bram = 32}, diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  report_misfits(device, {.lut = 7681, .ff = 10, .dsp = 4, .bram = 33}, diagnostics);
  ASSERT_EQ(diagnostics.errors().size(), 3u);
  EXPECT_EQ(diagnostics.errors()[0].kind, ErrorKind::kInfeasible);
  EXPECT_EQ(to_string(diagnostics.errors()[2]),
            "device 'ice40-hx8k' (BRAM): the design needs 33, the device has 32; smaller buffers or "
            "read_queue_beats need less; or take a larger device");
}

}  // namespace
}  // namespace tilewright
