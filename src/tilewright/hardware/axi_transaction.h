// One burst on an AXI port, as simulators and the AXI memory record it.
#pragma once

#include <cstdint>

namespace tilewright {

// Who asks: of a read, its ID (the overlay's three read masters; a port with one reader: kFetch).
enum class AxiClient : uint8_t { kFetch = 0, kCompute = 1, kLoad = 2, kStore = 3 };

// In the cycle in which its address was accepted.
struct AxiTransaction {
  uint64_t cycle = 0, address = 0;  // bytes, aligned to a beat
  uint32_t beats = 0;
  AxiClient client = AxiClient::kFetch;  // kStore: a write
  bool operator==(const AxiTransaction&) const = default;
};

}  // namespace tilewright
