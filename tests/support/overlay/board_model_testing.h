// A board in simulation, reached by its serial line only: rtl/boards/overlay_board.sv with the overlay in it,
// or the netlist that synthesis made of both.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/overlay/serial_bridge_testing.h"

namespace tilewright::overlay {

class BoardModel : public ByteLine {
 public:
  static constexpr int kCyclesPerBit = 12;  // as the board's parameter

  // Verilates `sources` (packages first; top overlay_board) with the harness of `rtl_folder`/harness, cached
  // in `cache_folder`, and powers it on. Errors: as build_verilated.
  BoardModel(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& rtl_folder,
             const std::filesystem::path& cache_folder);
  ~BoardModel() override;

  void send(std::span<const uint8_t> bytes) override;
  bool receive(std::span<uint8_t> bytes) override;

  uint64_t cycles() const;
  // The first assertion that failed in the model; empty if none.
  std::string complaint() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

// The sources of a simulation of an iCE40 netlist that Yosys wrote to `netlist`: with Yosys' own models of
// the cells. Writes one small file beside the netlist. Errors (unsupported): Yosys' models are not found.
std::vector<std::filesystem::path> ice40_netlist_sources(const std::filesystem::path& netlist);

}  // namespace tilewright::overlay
