// A unit has only the ports of those that use it; its grants go back to their bit of `ready`, all other bits
// are 0.
#include "tilewright/pipeline/design/tensor_memories.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {

using netlist::NetId;
using netlist::Operation;

namespace {

// First in the lowest bits.
NetId together(Wiring& wiring, std::vector<NetId> nets, int width, const std::string& name) {
  if (nets.size() == 1) return nets[0];
  std::reverse(nets.begin(), nets.end());
  return wiring.module().add_assign(Operation::kConcatenate, std::move(nets), width, 0, name);
}

// The ports of one direction of a unit, side by side; a unit nobody reads (or writes) gets one that is idle.
struct Side {
  std::vector<size_t> users;  // indices of the ports
  std::vector<NetId> valid, address, part, data;
  int count() const { return int(valid.size()); }
};

class UnitBuilder {
 public:
  UnitBuilder(Wiring& wiring, const TensorMemories& memories, int unit)
      : wiring_(wiring), memories_(memories), unit_(unit), name_(fmt::format("tensors{}", unit)) {
    address_bits_ = address_bits(memories.unit_words[size_t(unit)]);
    part_bits_ = address_bits(memories.word_elements / memories.part_elements);
  }

  // The nets of the memory's ports; grants[port] get this unit's bit.
  ComponentSink::Nets nets(std::vector<std::vector<NetId>>& read_grants,
                           std::vector<std::vector<NetId>>& write_grants) {
    const Side reads = side(memories_.reads, false), writes = side(memories_.writes, true);
    netlist::Module& m = wiring_.module();
    const int word_bits = int(memories_.word_elements) * memories_.element_bits;
    const int part_width = int(memories_.part_elements) * memories_.element_bits;
    const NetId rd_ready = m.add_net(name_ + "_rd_ready", reads.count());
    const NetId wr_ready = m.add_net(name_ + "_wr_ready", writes.count());
    const NetId rd_data = m.add_net(name_ + "_rd_data", word_bits);
    hand_out(reads, rd_ready, "_read", read_grants);
    hand_out(writes, wr_ready, "_write", write_grants);
    const auto all = [&](const std::vector<NetId>& nets, int each, const char* what) {
      return together(wiring_, nets, int(nets.size()) * each, name_ + what);
    };
    return {{"rd_valid", all(reads.valid, 1, "_rd_valid")},
            {"rd_ready", rd_ready},
            {"rd_address", all(reads.address, address_bits_, "_rd_address")},
            {"rd_data", rd_data},
            {"wr_valid", all(writes.valid, 1, "_wr_valid")},
            {"wr_ready", wr_ready},
            {"wr_address", all(writes.address, address_bits_, "_wr_address")},
            {"wr_part", all(writes.part, part_bits_, "_wr_part")},
            {"wr_data", all(writes.data, part_width, "_wr_data")}};
  }

 private:
  Side side(const std::vector<TensorPort>& ports, bool writes) {
    netlist::Module& m = wiring_.module();
    Side result;
    for (size_t i = 0; i < ports.size(); ++i) {
      if ((ports[i].units >> unit_ & 1) == 0) continue;
      const std::string port = name_ + "_" + ports[i].name;
      result.users.push_back(i);
      result.valid.push_back(
          m.add_assign(Operation::kSlice, {ports[i].valid}, 1, uint64_t(unit_), port + "_valid"));
      result.address.push_back(
          m.add_assign(Operation::kSlice, {ports[i].address}, address_bits_, 0, port + "_address"));
      if (writes) {
        result.part.push_back(ports[i].part);
        result.data.push_back(ports[i].data);
      }
    }
    if (result.users.empty()) {
      result.valid.push_back(wiring_.constant(1, 0));
      result.address.push_back(wiring_.constant(address_bits_, 0));
      result.part.push_back(wiring_.constant(part_bits_, 0));
      result.data.push_back(wiring_.constant(int(memories_.part_elements) * memories_.element_bits, 0));
    }
    return result;
  }

  void hand_out(const Side& side, NetId ready, const char* what, std::vector<std::vector<NetId>>& grants) {
    for (std::vector<NetId>& bits : grants) bits.push_back(wiring_.constant(1, 0));
    for (size_t i = 0; i < side.users.size(); ++i) {
      grants[side.users[i]].back() = wiring_.module().add_assign(Operation::kSlice, {ready}, 1, i,
                                                                 fmt::format("{}{}_grant{}", name_, what, i));
    }
  }

  Wiring& wiring_;
  const TensorMemories& memories_;
  const int unit_;
  const std::string name_;
  int address_bits_ = 1, part_bits_ = 1;
};

// What comes back from all units to the ports.
void hand_out(Wiring& wiring, const TensorMemories& memories, const std::vector<NetId>& data,
              const std::vector<std::vector<NetId>>& read_grants,
              const std::vector<std::vector<NetId>>& write_grants) {
  netlist::Module& m = wiring.module();
  const int units = int(data.size()), word_bits = int(memories.word_elements) * memories.element_bits;
  const NetId all_data = together(wiring, data, units * word_bits, "tensor_data");
  const auto grant = [&](const std::vector<TensorPort>& ports,
                         const std::vector<std::vector<NetId>>& grants) {
    for (size_t i = 0; i < ports.size(); ++i) {
      m.connect(ports[i].ready, together(wiring, grants[i], units, ports[i].name + "_grants"));
    }
  };
  grant(memories.reads, read_grants);
  grant(memories.writes, write_grants);
  for (const TensorPort& port : memories.reads) m.connect(port.data, all_data);
}

}  // namespace

int address_bits(int64_t words) { return std::max(1, int(std::bit_width(uint64_t(words - 1)))); }

void connect_tensor_memories(ComponentSink& sink, const TensorMemories& memories, netlist::MemoryKind kind) {
  std::vector<std::vector<NetId>> read_grants(memories.reads.size()), write_grants(memories.writes.size());
  std::vector<NetId> data;
  const int units = int(memories.unit_words.size()),
            word_bits = int(memories.word_elements) * memories.element_bits;
  for (int u = 0; u < units; ++u) {
    const auto users = [&](const std::vector<TensorPort>& ports) {
      const auto uses = [&](const TensorPort& port) { return (port.units >> u & 1) != 0; };
      return std::max<int64_t>(1, std::count_if(ports.begin(), ports.end(), uses));
    };
    ComponentSink::Nets nets;
    if (Wiring* const wiring = sink.wiring()) {
      nets = UnitBuilder(*wiring, memories, u).nets(read_grants, write_grants);
      data.push_back(nets.at("rd_data"));
    }
    sink.add(Label("tensors") + int64_t{u}, "tensor_memory",
             {{"WIDTH", int64_t{word_bits}},
              {"PARTS", memories.word_elements / memories.part_elements},
              {"WORDS", memories.unit_words[size_t(u)]},
              {"READERS", users(memories.reads)},
              {"WRITERS", users(memories.writes)},
              {"KIND", std::string(kind_text(kind))}},
             {}, std::move(nets));
  }
  if (sink.wiring() != nullptr) hand_out(*sink.wiring(), memories, data, read_grants, write_grants);
}

}  // namespace tilewright::pipeline
