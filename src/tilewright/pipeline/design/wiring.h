// Streams and components in a netlist module: the builders of both shapes use it to say "this component,
// between these streams".
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

// The nets of a stream. `elements` of `element_bits` each per beat; both 0 for a stream without such
// structure.
struct Stream {
  netlist::NetId valid = netlist::kNoNet, ready = netlist::kNoNet, data = netlist::kNoNet,
                 last = netlist::kNoNet;
  int width = 0;
  int64_t elements = 0;
  int element_bits = 0;
};

class Wiring {
 public:
  Wiring(netlist::Module& module, MemoryImages& images) : module_(module), images_(images) {}

  netlist::Module& module() { return module_; }

  // New nets for a stream of `elements` of `element_bits`.
  Stream stream(const std::string& name, int64_t elements, int element_bits);
  // A constant net; equal ones are one net.
  netlist::NetId constant(int width, uint64_t value);

  // An instance whose ports PORT_valid, PORT_ready, PORT_data and, where the component has it, PORT_last are
  // those of the streams, the other ports those of `others`. A stream without `last` nets gets one where the
  // component drives it, and 1 where the component reads it.
  void add(const std::string& instance, const std::string& component, netlist::Parameters parameters,
           std::vector<std::pair<std::string, Stream*>> streams,
           std::map<std::string, netlist::NetId> others = {});

  // The same elements, `elements` per beat, through stream_width where needed (resize_path); `count` of them
  // make an image.
  Stream resized(const std::string& name, Stream in, int64_t elements, int64_t count);
  // Behind a queue of `depth` beats; 0: as it is.
  Stream queued(const std::string& name, Stream in, int64_t depth);
  // `count` copies.
  std::vector<Stream> forked(const std::string& name, Stream in, int64_t count);
  // Side by side, a power of two of them.
  Stream joined(const std::string& name, std::vector<Stream> parts);
  // Passes `keep` beats, drops `drop`, adds `add` zero ones, again and again; as it is where both are 0.
  Stream framed(const std::string& name, Stream in, int64_t keep, int64_t drop, int64_t added);

  // Stores contents under "NAME.hex" and returns that.
  std::string image(const std::string& name, MemoryImage contents);

 private:
  netlist::Module& module_;
  MemoryImages& images_;
  std::map<std::pair<int, uint64_t>, netlist::NetId> constants_;
};

// The parameter KIND of a memory: "registers", "lutram", "block", "ultra".
const char* kind_text(netlist::MemoryKind kind);
// Where a small memory of that many words fits best.
const char* small_memory_kind(int64_t words, int64_t width);

}  // namespace tilewright::pipeline
