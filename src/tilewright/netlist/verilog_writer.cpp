// Memories are arrays with one clocked process per port, the pattern that synthesis turns into RAM. What
// starts as zero on an FPGA is set to zero for simulators that would start with unknown values.
#include "tilewright/netlist/verilog_writer.h"

#include <bit>

#include "tilewright/netlist/verilog.h"

namespace tilewright::netlist {
namespace {

const char* ram_style(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kRegisters:
      return "registers";
    case MemoryKind::kLutRam:
      return "distributed";
    case MemoryKind::kBlockRam:
      return "block";
    case MemoryKind::kUltraRam:
      return "ultra";
  }
  return "";
}

// The condition that an access goes to `bank`, and its word there.
std::string in_bank(const MemoryText::Access& access, int bank, int bank_bits) {
  if (bank_bits == 0) return access.enable;
  if (access.address_bits == bank_bits) {
    return fmt::format("{} && {} == {}", access.enable, access.address, literal(bank_bits, uint64_t(bank)));
  }
  return fmt::format("{} && {}[{}:0] == {}", access.enable, access.address, bank_bits - 1,
                     literal(bank_bits, uint64_t(bank)));
}

std::string word_of(const MemoryText::Access& access, int bank_bits) {
  if (bank_bits == 0) return access.address;
  if (access.address_bits == bank_bits) return "1'd0";
  return fmt::format("{}[{}:{}]", access.address, access.address_bits - 1, bank_bits);
}

std::string bank_of(const MemoryText::Access& access, int bank_bits) {
  return access.address_bits == bank_bits ? access.address
                                          : fmt::format("{}[{}:0]", access.address, bank_bits - 1);
}

void write_zeros(VerilogWriter& out, const std::string& name, const std::string& index, int width,
                 int64_t words) {
  out.line(0, "`ifndef SYNTHESIS");
  out.line(1, "initial for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}'d0;", index, words, name, width);
  out.line(0, "`endif");
}

void write_cleared(VerilogWriter& out, const std::string& name, int width) {
  out.line(0, "`ifndef SYNTHESIS");
  out.line(1, "initial {} = {}'d0;", name, width);
  out.line(0, "`endif");
}

void write_start(VerilogWriter& out, const MemoryText& text, int bank, int64_t words) {
  const Memory& memory = *text.memory;
  const std::string& name = text.banks[size_t(bank)];
  if (!memory.contents.empty()) {
    const std::string file =
        memory.banks == 1 ? memory.contents : fmt::format("{}.{}", memory.contents, bank);
    out.line(1, "initial $readmemh(\"{}\", {});", file, name);
    return;
  }
  write_zeros(out, name, text.index, memory.width, words);
}

}  // namespace

void VerilogWriter::declare(int depth, const std::string& kind, const std::string& name, int width,
                            bool all_read, const std::string& end) {
  if (!all_read) line(depth, "/* verilator lint_off UNUSEDSIGNAL */");
  line(depth, "{}{}{}{}", kind, range(width), name, end);
  if (!all_read) line(depth, "/* verilator lint_on UNUSEDSIGNAL */");
}

std::string comment_text(const std::string& line) {
  std::string text;
  for (const char c : line) text += c >= ' ' && c <= '~' && c != '\\' ? c : '?';
  return text;
}

void write_heading(VerilogWriter& out, const std::vector<std::string>& lines) {
  if (!lines.empty()) out.line(0, "");
  for (size_t i = 0; i < lines.size(); ++i) {
    out.line(1, "// {}{}", i == 0 ? "---- " : "     ", comment_text(lines[i]));
  }
}

std::string range(int width) { return width == 1 ? "" : fmt::format("[{}:0] ", width - 1); }

std::string literal(int width, uint64_t value) { return fmt::format("{}'h{:x}", width, value); }

int index_bits(int64_t count) { return count <= 2 ? 1 : int(std::bit_width(uint64_t(count - 1))); }

void write_memory(VerilogWriter& out, const MemoryText& text) {
  const Memory& memory = *text.memory;
  const int bank_bits = std::bit_width(unsigned(memory.banks)) - 1;
  const int64_t words = memory.words / memory.banks;
  for (int bank = 0; bank < memory.banks; ++bank) {
    const std::string& name = text.banks[size_t(bank)];
    out.line(1, "(* ram_style = \"{}\" *) logic {}{} [0:{}];", ram_style(memory.kind), range(memory.width),
             name, words - 1);
    write_start(out, text, bank, words);
    for (size_t i = 0; i < text.reads.size(); ++i) {
      const MemoryText::Access& read = text.reads[i];
      const std::string& data = bank_bits == 0 ? read.data : text.bank_data[i][size_t(bank)];
      if (bank_bits > 0) out.line(1, "logic {}{};", range(memory.width), data);
      write_cleared(out, data, memory.width);
      out.line(1, "always_ff @(posedge clk) if ({}) {} <= {}[{}];", in_bank(read, bank, bank_bits), data,
               name, word_of(read, bank_bits));
    }
    if (text.writes.empty()) continue;
    // One process, so that of several writes to one word the last wins.
    out.line(1, "always_ff @(posedge clk) begin");
    for (const MemoryText::Access& write : text.writes) {
      out.line(2, "if ({}) {}[{}] <= {};", in_bank(write, bank, bank_bits), name, word_of(write, bank_bits),
               write.data);
    }
    out.line(1, "end");
  }
  for (size_t i = 0; i < text.reads.size() && bank_bits > 0; ++i) {
    const MemoryText::Access& read = text.reads[i];
    out.line(1, "logic {}{};", range(bank_bits), text.selects[i]);
    write_cleared(out, text.selects[i], bank_bits);
    out.line(1, "always_ff @(posedge clk) if ({}) {} <= {};", read.enable, text.selects[i],
             bank_of(read, bank_bits));
    std::string chosen = text.bank_data[i][0];
    for (int bank = 1; bank < memory.banks; ++bank) {
      chosen = fmt::format("{} == {} ? {} : {}{}{}", text.selects[i], literal(bank_bits, uint64_t(bank)),
                           text.bank_data[i][size_t(bank)], bank > 1 ? "(" : "", chosen, bank > 1 ? ")" : "");
    }
    out.line(1, "assign {} = {};", read.data, chosen);
  }
}

void write_fifo(VerilogWriter& out, const FifoText& t) {
  const int pointer = index_bits(t.depth), count = std::bit_width(uint64_t(t.depth));
  out.line(1, "logic {}{} [0:{}];", range(t.width), t.name, t.depth - 1);
  write_zeros(out, t.name, t.index, t.width, t.depth);
  out.line(1, "logic {}{}, {};", range(pointer), t.head, t.tail);
  out.line(1, "logic {}{};", range(count), t.count);
  out.line(1, "logic {}, {};", t.push, t.pop);
  out.line(1, "assign {} = {} != {};", t.in_ready, t.count, literal(count, uint64_t(t.depth)));
  out.line(1, "assign {} = {} != {};", t.out_valid, t.count, literal(count, 0));
  out.line(1, "assign {} = {}[{}];", t.out_data, t.name, t.head);
  out.line(1, "assign {} = {} && {};", t.push, t.in_valid, t.in_ready);
  out.line(1, "assign {} = {} && {};", t.pop, t.out_valid, t.out_ready);
  out.line(1, "always_ff @(posedge clk) begin");
  out.line(2, "if ({}) {}[{}] <= {};", t.push, t.name, t.tail, t.in_data);
  out.line(2, "if (rst) begin");
  out.line(3, "{} <= {};", t.head, literal(pointer, 0));
  out.line(3, "{} <= {};", t.tail, literal(pointer, 0));
  out.line(3, "{} <= {};", t.count, literal(count, 0));
  out.line(2, "end else begin");
  for (const auto& [condition, index] : {std::pair(t.push, t.tail), std::pair(t.pop, t.head)}) {
    out.line(3, "if ({}) {} <= {} == {} ? {} : {} + {};", condition, index, index,
             literal(pointer, uint64_t(t.depth - 1)), literal(pointer, 0), index, literal(pointer, 1));
  }
  out.line(3, "if ({} && !{}) {} <= {} + {};", t.push, t.pop, t.count, t.count, literal(count, 1));
  out.line(3, "if ({} && !{}) {} <= {} - {};", t.pop, t.push, t.count, t.count, literal(count, 1));
  out.line(2, "end");
  out.line(1, "end");
}

void write_pipeline(VerilogWriter& out, const PipelineText& t) {
  for (const std::string& stage : t.stages) out.line(1, "logic {}{};", range(t.width), stage);
  const int phase = index_bits(t.initiation_interval);
  if (!t.phase.empty()) out.line(1, "logic {}{};", range(phase), t.phase);
  out.line(1, "assign {} = {};", t.result, t.stages.back());
  out.line(1, "always_ff @(posedge clk) begin");
  out.line(2, "if (rst) begin");
  for (const std::string& stage : t.stages) out.line(3, "{} <= {}'d0;", stage, t.width);
  if (!t.phase.empty()) out.line(3, "{} <= {};", t.phase, literal(phase, 0));
  out.line(2, "end else {}begin", t.enable.empty() ? "" : fmt::format("if ({}) ", t.enable));
  const std::string taken = t.phase.empty() ? "" : fmt::format("if ({} == {}) ", t.phase, literal(phase, 0));
  out.line(3, "{}{} <= {};", taken, t.stages[0], t.input);
  for (size_t i = 1; i < t.stages.size(); ++i) out.line(3, "{} <= {};", t.stages[i], t.stages[i - 1]);
  if (!t.phase.empty()) {
    out.line(3, "{} <= {} == {} ? {} : {} + {};", t.phase, t.phase,
             literal(phase, uint64_t(t.initiation_interval - 1)), literal(phase, 0), t.phase,
             literal(phase, 1));
  }
  out.line(2, "end");
  out.line(1, "end");
}

void write_state_machine(VerilogWriter& out, const StateMachineText& t) {
  const int bits = index_bits(int64_t(t.states.size()));
  for (size_t i = 0; i < t.states.size(); ++i) {
    out.line(1, "localparam logic {}{} = {};", range(bits), t.states[i], literal(bits, i));
  }
  out.line(1, "logic {}{};", range(bits), t.state);
  out.line(1, "always_ff @(posedge clk) begin");
  out.line(2, "if (rst) {} <= {};", t.state, t.states[0]);
  out.line(2, "else case ({})", t.state);
  for (size_t i = 0; i < t.states.size(); ++i) {
    std::string chain;
    for (const StateMachine::Transition& transition : t.machine->states[i].transitions) {
      const std::string target = fmt::format("{} <= {};", t.state, t.states[size_t(transition.target)]);
      const std::string otherwise = chain.empty() ? "" : " else ";
      if (transition.condition == kNoNet) {
        chain += otherwise + target;
        break;
      }
      chain += fmt::format("{}if ({}) {}", otherwise, t.conditions.at(transition.condition), target);
    }
    if (chain.empty()) chain = fmt::format("{} <= {};", t.state, t.states[i]);
    out.line(3, "{}: {}", t.states[i], chain);
  }
  out.line(3, "default: {} <= {};", t.state, t.states[0]);
  out.line(2, "endcase");
  out.line(1, "end");
  for (size_t output = 0; output < t.outputs.size(); ++output) {
    const auto& [name, width] = t.outputs[output];
    std::string chosen = literal(width, t.machine->states.back().outputs[output]);
    for (size_t i = t.states.size() - 1; i-- > 0;) {
      chosen = fmt::format("{} == {} ? {} : ({})", t.state, t.states[i],
                           literal(width, t.machine->states[i].outputs[output]), chosen);
    }
    out.line(1, "assign {} = {};", name, chosen);
  }
}

}  // namespace tilewright::netlist
