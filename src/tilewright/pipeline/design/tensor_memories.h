// The tensor memories of a processor design, and their readers and writers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/design/wiring.h"

namespace tilewright::pipeline {

// The memory side of a tensor_reader or tensor_writer; bit u of `units`: it uses unit u.
struct TensorPort {
  std::string name;
  uint64_t units = 0;
  netlist::NetId valid = netlist::kNoNet, ready = netlist::kNoNet, address = netlist::kNoNet,
                 part = netlist::kNoNet, data = netlist::kNoNet;
};

struct TensorMemories {
  int64_t word_elements = 1, part_elements = 1;
  int element_bits = 8;
  std::span<const int64_t> unit_words;
  std::vector<TensorPort> reads, writes;  // in falling priority
};

// Bits of an address of `words` words, at least 1.
int address_bits(int64_t words);

// Adds one tensor_memory per unit and connects `ready` and read `data` of all ports.
void connect_tensor_memories(ComponentSink& sink, const TensorMemories& memories, netlist::MemoryKind kind);

}  // namespace tilewright::pipeline
