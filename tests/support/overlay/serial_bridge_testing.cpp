// The protocol is the one of rtl/boards/tw_board_serial_bridge.sv: 'A' sets an address, 'W' writes and 'R'
// reads a word there and moves on by four. Writes are sent in a row without waiting; nothing answers them.
#include "support/overlay/serial_bridge_testing.h"

#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/overlay/rtl/registers.h"

namespace tilewright::overlay {
namespace {

constexpr uint32_t kRegisterSpace = 0x8000;
constexpr uint8_t kIgnored = 0;

}  // namespace

SerialBridge::SerialBridge(ByteLine& line) : line_(line) {
  const uint8_t bytes[8] = {kIgnored, kIgnored, kIgnored, kIgnored, kIgnored, kIgnored, kIgnored, kIgnored};
  line_.send(bytes);  // more than the arguments of a command cut short
}

void SerialBridge::set_address(uint32_t address) {
  TILEWRIGHT_CHECK(address % 4 == 0 && address < 0x10000, "an address the bridge cannot reach");
  const uint8_t bytes[3] = {'A', uint8_t(address), uint8_t(address >> 8)};
  line_.send(bytes);
}

uint32_t SerialBridge::read_word() {
  const uint8_t command[1] = {'R'};
  line_.send(command);
  uint8_t bytes[4];
  if (!line_.receive(bytes)) {
    throw Error(ErrorKind::kInfeasible, "the board does not answer on its serial line",
                "check the line, its rate, and that the bitstream is loaded");
  }
  return uint32_t(bytes[0]) | uint32_t(bytes[1]) << 8 | uint32_t(bytes[2]) << 16 | uint32_t(bytes[3]) << 24;
}

void SerialBridge::append_write(uint32_t value, std::vector<uint8_t>& bytes) const {
  bytes.push_back('W');
  for (int k = 0; k < 4; ++k) bytes.push_back(uint8_t(value >> 8 * k));
}

uint32_t SerialBridge::read32(uint16_t offset) {
  set_address(kRegisterSpace | offset);
  return read_word();
}

void SerialBridge::write32(uint16_t offset, uint32_t value) {
  set_address(kRegisterSpace | offset);
  std::vector<uint8_t> bytes;
  append_write(value, bytes);
  line_.send(bytes);
}

bool SerialBridge::wait_for_interrupt() {
  for (int poll = 0; poll < kPolls; ++poll) {
    if ((read32(register_offset("STATUS")) & (kStatusDone | kStatusError)) != 0) return true;
  }
  return false;
}

void SerialBridge::read_memory(uint32_t address, std::span<std::byte> bytes) {
  TILEWRIGHT_CHECK(bytes.size() % 4 == 0 && address + bytes.size() <= kRegisterSpace,
                   "not the board's memory");
  set_address(address);
  for (size_t at = 0; at < bytes.size(); at += 4) {
    const uint32_t word = read_word();
    std::memcpy(bytes.data() + at, &word, 4);
  }
}

void SerialBridge::write_memory(uint32_t address, std::span<const std::byte> bytes) {
  TILEWRIGHT_CHECK(bytes.size() % 4 == 0 && address + bytes.size() <= kRegisterSpace,
                   "not the board's memory");
  set_address(address);
  std::vector<uint8_t> stream;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, 4);
    append_write(word, stream);
  }
  line_.send(stream);
}

}  // namespace tilewright::overlay
