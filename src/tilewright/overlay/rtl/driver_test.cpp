// The driver against a device that is a table of registers.
#include "tilewright/overlay/rtl/driver.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>

#include "support/error_text_testing.h"
#include "tilewright/overlay/rtl/registers.h"

namespace tilewright::overlay {
namespace {

class TableDevice final : public RegisterPort {
 public:
  explicit TableDevice(const OverlayHardware& hardware) {
    for (const DeviceRegister& r : kRegisters) {
      values[r.offset] =
          std::string_view(r.name).starts_with("HW_") ? hardware_register(hardware, r.offset) : 0;
    }
    at("ID") = kOverlayId;
  }
  uint32_t& at(const char* name) { return values[register_offset(name)]; }
  uint32_t read32(uint16_t offset) override { return values.at(offset); }
  void write32(uint16_t offset, uint32_t value) override {
    if (offset == register_offset("CONTROL")) {
      launched = launched || (value & kControlStart) != 0;
    } else {
      values.at(offset) = value;
    }
  }
  bool wait_for_interrupt() override { return finishes; }

  std::map<uint16_t, uint32_t> values;
  bool launched = false, finishes = true;
};

TEST(OverlayDriver, RunsAndReadsCounters) {
  const OverlayHardware hardware = parse_overlay_hardware("name: a\ndram_bytes: 8589934592\n", "a");
  TableDevice device(hardware);
  device.at("STATUS") = kStatusDone;
  for (uint32_t i = 0; i < std::size(kCounterRegisters); ++i) {
    device.values[uint16_t(register_offset("CYCLES") + 4 * i)] = 100 + i;
  }
  OverlayDriver driver(hardware, device);
  const CycleCounters counters = driver.run(0x123456780, 77);
  EXPECT_TRUE(device.launched);
  EXPECT_EQ(device.at("PROGRAM_LO"), 0x23456780u);
  EXPECT_EQ(device.at("PROGRAM_HI"), 1u);
  EXPECT_EQ(device.at("PROGRAM_COUNT"), 77u);
  EXPECT_EQ(counters.cycles, 100u);
  EXPECT_EQ(counters.compute_gemm, 107u);
  EXPECT_EQ(counters.write_beats, 119u);
  device.finishes = false;
  EXPECT_NE(error_text([&] { driver.run(0, 1); }).find("has not finished"), std::string::npos);
  EXPECT_NE(error_text([&] { driver.run(8, 1); }).find("byte 8 is not aligned"), std::string::npos);
}

TEST(OverlayDriver, NamesEveryFieldOfOtherHardware) {
  const OverlayHardware hardware = parse_overlay_hardware("name: a\n", "a");
  OverlayHardware other = hardware;
  other.block_in = 32;
  other.output_bits = 4;
  other.weight_buffer_bytes *= 2;
  TableDevice device(other);
  const std::string text = error_text([&] { OverlayDriver(hardware, device); });
  EXPECT_NE(text.find("block_in): the device has 32, the program was made for 16"), std::string::npos)
      << text;
  EXPECT_NE(text.find("output_bits): the device has 4"), std::string::npos) << text;
  EXPECT_EQ(text.find("input_bits"), std::string::npos) << text;
  device.at("ID") = 0;
  EXPECT_NE(error_text([&] { OverlayDriver(hardware, device); }).find("is not an overlay"),
            std::string::npos);
}

TEST(OverlayDriver, TranslatesErrors) {
  const OverlayHardware hardware = parse_overlay_hardware("name: a\n", "a");
  TableDevice device(hardware);
  OverlayDriver driver(hardware, device);
  for (const HardwareError code :
       {HardwareError::kIllegal, HardwareError::kScratchpadRange, HardwareError::kAddress,
        HardwareError::kBus, HardwareError::kTokenOverflow, HardwareError::kNoFinish, HardwareError::kBank}) {
    device.at("STATUS") = kStatusError | uint32_t(code) << 8;
    device.at("ERROR_INDEX") = 42;
    EXPECT_EQ(error_text([&] { driver.run(0, 1); }).find("instruction 42: "), 0u) << int(code);
  }
  device.at("STATUS") = kStatusError | uint32_t(HardwareError::kDeadlock) << 8;
  device.at("WAIT_LOAD") = 7;
  device.at("WAIT_COMPUTE") = ~0u;
  device.at("WAIT_STORE") = 9;
  const std::string text = error_text([&] { driver.run(0, 1); });
  EXPECT_NE(text.find("instruction 7 (load queue): deadlock"), std::string::npos) << text;
  EXPECT_NE(text.find("instruction 9 (store queue): deadlock"), std::string::npos) << text;
  EXPECT_EQ(text.find("compute"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilewright::overlay
