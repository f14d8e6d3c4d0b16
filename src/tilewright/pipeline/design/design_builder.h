// What the designs of both shapes have in common: the frame (control, memory ports) and the chain behind a
// feeder (memories of constants, finish). It describes them to a sink; where the sink wires, it also fills
// in the Design.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/pipeline/component/rom_walker.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/design/network_facts.h"
#include "tilewright/pipeline/design/wiring.h"

namespace tilewright::pipeline {

// The contents of a memory of constants and how it is walked; left empty where the sink does not wire.
struct RomContents {
  MemoryImage words;
  std::vector<RomWalkerRow> rows;
};

// What the parts of layer or engine `index` are called by: "layer3_conv1".
std::string component_prefix(const char* kind, size_t index, const std::string& name);

class DesignBuilder {
 public:
  // `design`: whose netlist the sink wires; nullptr where it does not wire.
  DesignBuilder(const Network& network, const Allocation& allocation, ComponentSink& sink, Design* design);

  ComponentSink& sink() { return sink_; }
  // nullptr where the sink does not wire.
  Wiring* wiring() { return wiring_; }
  Design* design() { return design_; }
  // A heading over what comes next, where there is a netlist to read.
  void begin_section(std::vector<std::string> heading);
  // One cycle long, at the beginning of every image (streaming: of every run).
  netlist::NetId start() const { return start_; }
  // A net that is 1 while something is still working; done waits for all of them.
  void add_busy(netlist::NetId net) { busy_.push_back(net); }

  // The `count` elements of an image as they come from memory, without the padding of the last beat of the
  // port, at most a beat's worth at a time. Sets the layout's bytes. In two parts: the port, and what is
  // behind it.
  Stream input_elements(int64_t count, int bits) { return framed_input(input_beats(bits), count); }
  Stream input_beats(int bits);
  Stream framed_input(Stream beats, int64_t count);
  // Takes the `count` elements of a result to memory, the last beat filled up.
  void output_elements(Stream elements, int64_t count) { output_beats(framed_output(elements, count)); }
  Stream framed_output(Stream elements, int64_t count);
  void output_beats(Stream beats);
  // A beat of a memory port as elements of `bits`.
  Stream port_beats(const Label& name, int bits);
  // The weights, `weight_channels` ports side by side.
  Stream weight_beats();

  // A rom_walker over `words` words of `width` bits, walked by `tasks` rows.
  struct RomSizes {
    int64_t width = 1, words = 1, tasks = 1;
  };
  Stream rom(const Label& name, const RomSizes& sizes, netlist::MemoryKind kind, RomContents contents);
  // One over all words again and again, with counters no wider than that takes; of up to 64 words in logic.
  // `contents`: without rows.
  Stream cycled_rom(const Label& name, int64_t width, int64_t words, netlist::MemoryKind kind,
                    RomContents contents);

  // The finish of what `tasks` rows send through it.
  struct FinishSizes {
    int64_t tasks = 1, tables = 0;  // tables: of layers; a layer in several tasks has one in each
    int sum_bits = 1, multiplier_bits = 32;
    int64_t pf = 1;
    int result_bits = 8;
    bool twice = false;     // shifts from 32 on round twice
    bool products = false;  // of results and residuals
  };
  // One per task; none where the sink does not wire.
  struct FinishTask {
    const Layer* layer = nullptr;
    int64_t beats = 0;  // in all
    int64_t drain = 1;  // per set of sums
  };
  Stream finish(const Label& name, Stream sums, Stream parameters, Stream* residual, const FinishSizes& sizes,
                const std::vector<FinishTask>& tasks);

  // Read masters onto the memory ports, control, and whatever nets are left.
  void finish_frame();

 private:
  netlist::Module& top() { return wiring_->module(); }
  Stream add_rom(const Label& name, const RomSizes& sizes, netlist::MemoryKind kind, RomContents contents,
                 netlist::Parameters parameters);
  std::string finish_table(const Label& name, const std::vector<FinishTask>& tasks, int result_bits,
                           netlist::Parameters& parameters);
  // Makes ports of the design from the ports of a component that begin with `prefix`, as `renamed`...; notes
  // them for an instance.
  void export_ports(const std::string& component, const netlist::Parameters& parameters,
                    const std::string& prefix, const std::string& renamed,
                    std::map<std::string, netlist::NetId>& connections);
  using Master = std::map<std::string, netlist::NetId>;
  Stream read_port(const Label& name, netlist::NetId base, netlist::NetId bytes, int channel,
                   int element_bits);
  netlist::Parameters port_parameters(int64_t queue) const;
  void connect_reads(int channel);
  void connect_reader(const std::string& port, const Master& master);
  netlist::NetId concatenated(const std::vector<netlist::NetId>& nets, const std::string& name);
  ComponentSink::Nets control_nets(netlist::Parameters& parameters);

  const Network& network_;
  const Allocation& allocation_;
  ComponentSink& sink_;
  Wiring* const wiring_;
  Design* const design_;
  netlist::NetId start_ = netlist::kNoNet, input_base_ = netlist::kNoNet, input_bytes_ = netlist::kNoNet,
                 output_base_ = netlist::kNoNet, output_bytes_ = netlist::kNoNet,
                 weight_bytes_ = netlist::kNoNet;
  std::vector<netlist::NetId> weight_bases_;
  std::vector<netlist::NetId> busy_, errors_;
  struct Reader {
    int channel = 0;
    Master nets;  // by port name
  };
  std::vector<Reader> readers_;
};

}  // namespace tilewright::pipeline
