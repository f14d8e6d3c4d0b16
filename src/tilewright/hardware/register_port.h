// Devices behind memory-mapped registers, the overlay and generated designs: the rows of their tables, the
// bits that all of them have, and the port that drivers work through. All registers have 32 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tilewright/base/error.h"

namespace tilewright {

struct DeviceRegister {
  const char* name;     // REG_<name> in the RTL
  uint16_t offset;      // bytes
  const char* access;   // "r", "rw"
  const char* meaning;  // one line
  int words = 1;        // of 32 bits, one after the other
};

// Errors (internal): there is no such register.
constexpr uint16_t register_offset(std::span<const DeviceRegister> table, std::string_view name) {
  for (const DeviceRegister& r : table) {
    if (name == r.name) return r.offset;
  }
  throw Error(ErrorKind::kInternal, "no register is called " + std::string(name));
}

// Of CONTROL, written and read.
enum ControlBits : uint32_t { kControlStart = 1, kControlRunning = 1 };
enum StatusBits : uint32_t { kStatusDone = 1, kStatusError = 2 };

class RegisterPort {
 public:
  virtual ~RegisterPort() = default;
  virtual uint32_t read32(uint16_t offset) = 0;
  virtual void write32(uint16_t offset, uint32_t value) = 0;
  // Returns when the interrupt is high, or false if the port has given up waiting. A port without an
  // interrupt may poll STATUS.
  virtual bool wait_for_interrupt() = 0;
};

}  // namespace tilewright
