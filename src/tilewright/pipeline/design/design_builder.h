// What the builders of both shapes share: the frame of a design (control, memory ports) and the chain after a
// feeder (array, finish).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/design/wiring.h"

namespace tilewright::pipeline {

class DesignBuilder {
 public:
  DesignBuilder(const Network& network, const Allocation& allocation);

  const Network& network() const { return network_; }
  const Allocation& allocation() const { return allocation_; }
  Wiring& wiring() { return wiring_; }
  Design& design() { return design_; }
  // One cycle long, at the beginning of every image (streaming: of every run).
  netlist::NetId start() const { return start_; }
  // A net that is 1 while something is still working; done waits for all of them.
  void add_busy(netlist::NetId net) { busy_.push_back(net); }

  // The `count` elements of an image as they come from memory, without the padding of the last beat of the
  // port, at most a beat's worth at a time. Sets the layout's bytes.
  Stream input_elements(int64_t count, int bits);
  // Takes the `count` elements of a result to memory, the last beat filled up.
  void output_elements(Stream elements, int64_t count);
  // The weights, `weight_channels` ports side by side.
  Stream weight_beats();

  // A rom_walker over `contents`; `rows` of its task table: base, outer, repeats, words.
  struct WalkerRow {
    int64_t base = 0, outer = 1, repeats = 1, words = 1;
  };
  Stream rom(const std::string& name, MemoryImage contents, const std::vector<WalkerRow>& rows,
             netlist::MemoryKind kind);
  // One over all words again and again, with counters no wider than that takes; of up to 64 words in logic.
  Stream cycled_rom(const std::string& name, MemoryImage contents, netlist::MemoryKind kind);

  // The finish of what `layers` (one per task) send through it.
  struct FinishTask {
    const Layer* layer = nullptr;
    int64_t beats = 0;  // in all
    int64_t drain = 1;  // per set of sums
  };
  Stream finish(const std::string& name, Stream sums, Stream parameters, Stream* residual,
                const std::vector<FinishTask>& tasks, int64_t pf, int result_bits);
  // Whether any layer has a multiplier other than 1: the words of its finish store it.
  static int multiplier_bits(const std::vector<FinishTask>& tasks);

  // Connects the rest and returns the design.
  Design finished();

 private:
  netlist::Module& top() { return design_.netlist.modules[0]; }
  Stream add_rom(const std::string& name, MemoryImage contents, const std::vector<WalkerRow>& rows,
                 netlist::MemoryKind kind, const netlist::Parameters& counters);
  // Makes ports of the design from the ports of a component that begin with `prefix`, as `renamed`...; notes
  // them for an instance.
  void export_ports(const std::string& component, const netlist::Parameters& parameters,
                    const std::string& prefix, const std::string& renamed,
                    std::map<std::string, netlist::NetId>& connections);
  Stream read_port(const std::string& name, netlist::NetId base, netlist::NetId bytes, int channel,
                   int element_bits);
  netlist::Parameters read_parameters() const;
  void connect_reads();
  void connect_reader(const std::string& port, const std::map<std::string, netlist::NetId>& master);
  netlist::NetId concatenated(const std::vector<netlist::NetId>& nets, const std::string& name);

  const Network& network_;
  const Allocation& allocation_;
  Design design_;
  Wiring wiring_;
  netlist::NetId start_, input_base_, input_bytes_, output_base_, output_bytes_;
  netlist::NetId weight_bytes_ = netlist::kNoNet;
  std::vector<netlist::NetId> weight_bases_;
  std::vector<netlist::NetId> busy_, errors_;
  // By channel, the read masters' nets by port name.
  std::map<int, std::vector<std::map<std::string, netlist::NetId>>> readers_;
};

// The builders of the two shapes: build() without its checks, on a network whose first layer is unrolled.
Design build_streaming(const Network& network, const Allocation& allocation);
Design build_processors(const Network& network, const Allocation& allocation);

}  // namespace tilewright::pipeline
