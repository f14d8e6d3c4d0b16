#include "tilewright/overlay/tuning/hardware_space.h"

#include <gtest/gtest.h>

#include "tilewright/overlay/rtl/rtl_config.h"

namespace tilewright::overlay {
namespace {

Device part(int64_t port_bytes) {
  Device device;
  device.name = "part";
  device.memory = DeviceMemory{};
  device.memory->port_bytes = port_bytes;
  return device;
}

TEST(HardwareSpace, HasOnlyDescriptionsThatCanBeBuilt) {
  Random random(1);
  for (const int bits : kOperandBits) {
    const KnobSpace space = hardware_space(bits, part(8));
    for (int i = 0; i < 200; ++i) {
      const KnobSpace::Point point = *space.sample(random);
      const OverlayHardware hardware = hardware_at(space.values(point), bits);
      Diagnostics diagnostics;
      verify_rtl(hardware, diagnostics);
      EXPECT_TRUE(diagnostics.ok()) << hardware.name;
      EXPECT_EQ(hardware.input_bits, bits);
      EXPECT_EQ(hardware.alu_lanes * space.value(point, space.knob("alu_share")),
                hardware.batch * hardware.block_out);
    }
  }
}

TEST(HardwareSpace, KeepsTheWordsOfNarrowOperands) {
  for (const int bits : kOperandBits) {
    const KnobSpace space = hardware_space(bits, part(8));
    std::vector<int64_t> values = space.values(0);
    values[space.knob("words")] = 16;
    const OverlayHardware hardware = hardware_at(values, bits);
    EXPECT_EQ(hardware.block_in, 16 * 8 / bits);
    EXPECT_EQ(hardware.input_bytes(), 16 * hardware.batch);
  }
}

TEST(HardwareSpace, TakesThePortFromTheDevice) {
  const auto ports = [](const Device& device) {
    const KnobSpace space = hardware_space(8, device);
    return space.knobs()[space.knob("memory_width_bits")].values;
  };
  EXPECT_EQ(ports(part(8)), (std::vector<int64_t>{32, 64}));
  EXPECT_EQ(ports(part(4)), (std::vector<int64_t>{32}));
  EXPECT_EQ(ports(part(64)), (std::vector<int64_t>{256, 512}));
  EXPECT_EQ(ports(Device{}), (std::vector<int64_t>{32, 64}));
}

TEST(HardwareSpace, NamesDifferentOverlaysDifferently) {
  const KnobSpace space = hardware_space(4, part(8));
  Random random(2);
  const KnobSpace::Point point = *space.sample(random);
  const std::string name = hardware_at(space.values(point), 4).name;
  for (int i = 0; i < 50; ++i) {
    const KnobSpace::Point other = space.neighbour(point, random);
    EXPECT_EQ(other == point, hardware_at(space.values(other), 4).name == name);
  }
}

TEST(HardwareSpace, RefusesOtherWidths) {
  try {
    hardware_space(3, part(8));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no operands of 3 bits; 8, 4, 2 and 1 exist"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright::overlay
