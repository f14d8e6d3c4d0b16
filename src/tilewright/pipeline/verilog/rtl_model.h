// Any netlist as a Verilated model in this process, its ports by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "activity_pins.h"
#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {

struct RtlModelOptions {
  std::filesystem::path rtl_folder;    // the folder rtl of Tilewright
  std::filesystem::path cache_folder;  // keeps sources and compiled models
  std::filesystem::path wave_file;     // FST waves of everything; empty: none
  bool activity = false;               // counts what switches, instead of waves; some ten times slower
  synthesis::StopRequest stop = {};    // of the compilation
};

// A cycle is: set inputs, settle(), look at anything, edge().
class RtlModel {
 public:
  static constexpr bool kHasData = true;

  // Compiles the model unless the cache has it; as after power-up, not reset. Errors: missing tools
  // (unsupported), what they say about the sources (invalid input).
  RtlModel(const netlist::Netlist& design, const MemoryImages& images, const RtlModelOptions& options);
  ~RtlModel();
  RtlModel(const RtlModel&) = delete;
  RtlModel& operator=(const RtlModel&) = delete;

  // The top's port of this name, by its name in the netlist; rst too. Errors (internal): there is none.
  int port(const std::string& name) const;
  int bits(int port) const { return ports_[size_t(port)].bits; }

  // The lowest 64 bits.
  uint64_t get(int port) const {
    const Port& p = ports_[size_t(port)];
    if (p.bits <= 8) return *static_cast<const uint8_t*>(p.value);
    if (p.bits <= 16) return *static_cast<const uint16_t*>(p.value);
    const uint32_t* const words = static_cast<const uint32_t*>(p.value);
    if (p.bits <= 32) return words[0];
    return words[0] | uint64_t(words[1]) << 32;
  }
  // Higher bits become 0. `value` has to fit.
  void set(int port, uint64_t value);
  // Words of 32 bits, the lowest first, as many as the port has.
  std::vector<uint32_t> get_words(int port) const;
  void get_words(int port, uint32_t* words) const;
  void set_words(int port, const uint32_t* words);

  void settle();
  void edge();
  // Holds rst for some cycles, then lets go; inputs are left as they are.
  void reset();
  // As after power-up: memories as their images say.
  void restart();
  // What switched since power-up, by scope; empty without RtlModelOptions::activity.
  std::span<const ScopeActivity> activity();
  // What an assertion said first; empty if none did.
  std::string complaint() const;

 private:
  struct Port {
    void* value = nullptr;
    int bits = 1;
  };
  struct Library;
  void find_ports();

  std::unique_ptr<Library> library_;
  std::vector<std::string> names_;  // of the netlist, then rst
  std::vector<std::string> printed_;
  std::vector<Port> ports_;
};

}  // namespace tilewright::pipeline
