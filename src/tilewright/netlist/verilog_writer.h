// Lines of SystemVerilog, and the texts of the netlist's primitives that keep state.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

class VerilogWriter {
 public:
  template <typename... Arguments>
  void line(int depth, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.append(size_t(2 * depth), ' ');
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...) + '\n';
  }
  // A declaration; one of which not all bits are read is marked for the linter.
  void declare(int depth, const std::string& kind, const std::string& name, int width, bool all_read,
               const std::string& end);
  const std::string& text() const { return text_; }
  // Leaves the first `size` characters.
  void cut(size_t size) { text_.resize(size); }

 private:
  std::string text_;
};

// Lines of comment, set off from what is before them.
void write_heading(VerilogWriter& out, const std::vector<std::string>& lines);

// "[7:0] "; nothing for one bit.
std::string range(int width);
std::string literal(int width, uint64_t value);
// Bits of an index below `count`, at least 1.
int index_bits(int64_t count);

struct MemoryText {
  struct Access {
    std::string enable, address;
    int address_bits = 1;
    std::string data;
  };
  std::string name;
  const Memory* memory = nullptr;
  std::vector<std::string> banks;
  std::vector<Access> reads, writes;
  std::vector<std::string> selects;                 // per read: the bank of the last access
  std::vector<std::vector<std::string>> bank_data;  // per read and bank
  std::string index;
};
void write_memory(VerilogWriter& out, const MemoryText& text);

struct FifoText {
  std::string name, index, head, tail, count, push, pop;
  std::string in_valid, in_ready, in_data, out_valid, out_ready, out_data;
  int width = 1;
  int64_t depth = 1;
};
void write_fifo(VerilogWriter& out, const FifoText& text);

struct PipelineText {
  std::string name, phase, enable;  // phase, enable: empty if there is none
  std::vector<std::string> stages;
  std::string input, result;
  int width = 1, initiation_interval = 1;
};
void write_pipeline(VerilogWriter& out, const PipelineText& text);

struct StateMachineText {
  std::string state;
  const StateMachine* machine = nullptr;
  std::vector<std::string> states;
  std::vector<std::pair<std::string, int>> outputs;
  std::map<NetId, std::string> conditions;
};
void write_state_machine(VerilogWriter& out, const StateMachineText& text);

}  // namespace tilewright::netlist
