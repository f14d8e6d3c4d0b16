// An overlay at the other end of a serial line (rtl/boards/tw_board_serial_bridge.sv): its registers as a
// port of the driver, and the memory of its board.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/overlay/rtl/driver.h"

namespace tilewright::overlay {

// A line that carries bytes in both directions.
class ByteLine {
 public:
  virtual ~ByteLine() = default;
  virtual void send(std::span<const uint8_t> bytes) = 0;
  // Fills `bytes`. False if they do not arrive in time.
  virtual bool receive(std::span<uint8_t> bytes) = 0;
};

class SerialBridge : public RegisterPort {
 public:
  // Synchronises the bridge with a few bytes that it ignores.
  explicit SerialBridge(ByteLine& line);

  // Errors (infeasible) of all reads: no answer.
  uint32_t read32(uint16_t offset) override;
  void write32(uint16_t offset, uint32_t value) override;
  // Polls STATUS, at most `kPolls` times.
  bool wait_for_interrupt() override;

  // The board's memory; addresses and sizes are multiples of 4 below 32 KiB. Errors (internal): others.
  void read_memory(uint32_t address, std::span<std::byte> bytes);
  void write_memory(uint32_t address, std::span<const std::byte> bytes);

 private:
  static constexpr int kPolls = 1000;
  void set_address(uint32_t address);
  uint32_t read_word();
  void append_write(uint32_t value, std::vector<uint8_t>& bytes) const;

  ByteLine& line_;
};

}  // namespace tilewright::overlay
