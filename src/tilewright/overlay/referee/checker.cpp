// Decoding, the checks of single instructions, and the order of execution.
#include "tilewright/overlay/referee/checker.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <variant>

#include "tilewright/overlay/isa/assembler.h"
#include "tilewright/overlay/referee/program_checker.h"

namespace tilewright::overlay {
namespace {

// Of the command queues that every program should do with.
constexpr int kQueueDepth = 512;
constexpr size_t kMaxTokens = 255;
constexpr int kReportsPerKind = 10;
Dependencies dependencies_of(const Instruction& instruction) {
  return std::visit([](const auto& i) { return i.dependencies; }, instruction);
}

}  // namespace

Queue module_of(const Instruction& instruction) {
  const auto* memory = std::get_if<MemoryInstruction>(&instruction);
  if (memory == nullptr) return kComputeQueue;
  if (memory->is_store) return kStoreQueue;
  return loads_early(memory->memory_type) ? kLoadQueue : kComputeQueue;
}

void ProgramChecker::run() {
  if (decode()) {
    for (index_ = 0; index_ < instructions_.size(); ++index_) check_alone();
    execute();
  }
  for (const auto& [kind, count] : reports_) {
    if (count <= kReportsPerKind) continue;
    const std::string message = std::to_string(count - kReportsPerKind) + " more like this: " + kind;
    if (warning_kinds_.count(kind) != 0) {
      diagnostics_.warn("program", "", message);
    } else {
      diagnostics_.error(ErrorKind::kInvalidInput, "program", "", message);
    }
  }
}

void ProgramChecker::report(bool warning, const std::string& kind, const std::string& field,
                            const std::string& detail, const std::string& hint) {
  if (++reports_[kind] > kReportsPerKind) return;
  std::string where = "instruction " + std::to_string(index_);
  uint64_t words[IsaLayout::kMaxWords];
  read(index_, words);
  where += " '" + disassemble_instruction(layout_, words) + "'";
  const std::string message = detail.empty() ? kind : kind + ": " + detail;
  if (warning) {
    warning_kinds_[kind] = true;
    diagnostics_.warn(where, field, message, hint);
  } else {
    diagnostics_.error(ErrorKind::kInvalidInput, where, field, message, hint);
  }
}

void ProgramChecker::read(uint64_t index, uint64_t* words) const {
  const size_t size = size_t(hardware_.instruction_bytes());
  for (int w = 0; w < layout_.words; ++w) {
    words[w] = read_little_endian(&program_.instructions[index * size + 8 * size_t(w)], 8);
  }
}

// Fills instructions_. False when the stream cannot be followed.
bool ProgramChecker::decode() {
  const size_t size = size_t(hardware_.instruction_bytes()), count = program_.instructions.size() / size;
  bool ok = true;
  if (program_.instructions.size() % size != 0) {
    diagnostics_.error(
        ErrorKind::kInvalidInput, "program", "",
        std::to_string(program_.instructions.size()) + " bytes are not a whole number of instructions");
    ok = false;
  }
  for (index_ = 0; index_ < count; ++index_) {
    uint64_t words[IsaLayout::kMaxWords];
    time_.check();
    read(index_, words);
    try {
      instructions_.push_back(layout_.decode(words));
    } catch (const Error& problem) {
      error("cannot be decoded", "", problem.diagnostics().front().message);
      ok = false;
      continue;
    }
    if (std::holds_alternative<FinishInstruction>(instructions_.back()) && index_ + 1 != count) {
      error("FINISH is not the last instruction", "FINISH");
      ok = false;
    }
  }
  if (ok && (count == 0 || !std::holds_alternative<FinishInstruction>(instructions_.back()))) {
    diagnostics_.error(ErrorKind::kInvalidInput, "program", "", "the last instruction is not FINISH");
    ok = false;
  }
  return ok;
}

void ProgramChecker::check_memory_alone(const MemoryInstruction& i) {
  const bool pads = i.y_pad_0 != 0 || i.y_pad_1 != 0 || i.x_pad_0 != 0 || i.x_pad_1 != 0;
  if (i.is_store) {
    if (i.x_size == 0) return;
    if (i.memory_type != MemoryType::kOutput) {
      error(std::string("cannot be stored: ") + memory_type_name(i.memory_type), "memory_type", "",
            "only out can");
    }
    if (pads) warn("a STORE has no padding; it is ignored", "pad");
    return;
  }
  if (i.x_size == 0) {
    if (pads) not_portable("a LOAD of no columns with padding fills zeros on some implementations", "pad");
    return;
  }
  if (i.memory_type == MemoryType::kOutput) return error("cannot be loaded: out", "memory_type");
  if (i.memory_type == MemoryType::kAccumulator8)
    not_portable("ACC_8BIT loads exist in one simulator only", "memory_type");
  if (i.y_size == 0) not_portable("a LOAD of no rows is undefined on some implementations", "y_size");
  const bool simple = i.memory_type == MemoryType::kWeight || i.memory_type == MemoryType::kUop;
  if (simple && pads) {
    not_portable(std::string("padding of ") + memory_type_name(i.memory_type) +
                     " loads is ignored by some implementations",
                 "pad");
  }
  if (i.memory_type == MemoryType::kUop && i.y_size > 1) {
    not_portable("UOP loads have one row on some implementations", "y_size");
  }
}

void ProgramChecker::check_loop_alone(const LoopNest& loop, const char* name) {
  const bool empty = loop.uop_begin >= loop.uop_end || loop.iter_out == 0 || loop.iter_in == 0;
  if (empty) {
    error(std::string("empty ") + name, loop.uop_begin >= loop.uop_end ? "uop_end" : "iter_out, iter_in", "",
          "hardware that compares with the end minus one would run away");
  }
}

void ProgramChecker::check_alu_alone(const AluInstruction& i) {
  check_loop_alone(i.loop, "ALU");
  if (i.opcode == AluOpcode::kMul)
    not_portable("mul is missing in the hardware implementations", "alu_opcode");
  if (i.opcode == AluOpcode::kShr && i.use_imm && (i.imm < -16 || i.imm > 15)) {
    not_portable("a shift by an amount outside of -16..15 differs between implementations", "imm");
  }
  const bool clips = i.opcode == AluOpcode::kClip || requantizes(i.opcode);
  if (clips && i.clip_low > i.clip_high) {
    error("clip_low is above clip_high", "clip",
          std::to_string(i.clip_low) + " > " + std::to_string(i.clip_high));
  }
}

void ProgramChecker::check_alone() {
  const Instruction& instruction = instructions_[index_];
  const Dependencies d = dependencies_of(instruction);
  const Queue module = module_of(instruction);
  const ChannelWiring wires = kWiring[module];
  const auto neighbour = [&](bool bit, Channel channel, const char* name) {
    if (bit && channel == kNoChannel) {
      warn(std::string("the ") + module_name(module) + " module has no neighbour for " + name, name, "",
           "it is ignored");
    }
  };
  neighbour(d.pop_prev, wires.pop_prev, "pop_prev");
  neighbour(d.pop_next, wires.pop_next, "pop_next");
  neighbour(d.push_prev, wires.push_prev, "push_prev");
  neighbour(d.push_next, wires.push_next, "push_next");
  if (const auto* memory = std::get_if<MemoryInstruction>(&instruction)) return check_memory_alone(*memory);
  if (const auto* gemm = std::get_if<GemmInstruction>(&instruction)) {
    check_loop_alone(gemm->loop, "GEMM");
    if (gemm->bipolar && hardware_.input_bits != 1) {
      warn("bipolar has no meaning with inputs of " + std::to_string(hardware_.input_bits) + " bits",
           "bipolar");
    }
    return;
  }
  if (const auto* alu = std::get_if<AluInstruction>(&instruction)) return check_alu_alone(*alu);
  if (d.pop_prev || d.pop_next) {
    error("FINISH carries a pop", d.pop_prev ? "pop_prev" : "pop_next", "",
          "let a NOP before it take the token");
  }
}

void ProgramChecker::step(Queue module, const Instruction& instruction) {
  time_.check();
  const Dependencies d = dependencies_of(instruction);
  const ChannelWiring wires = kWiring[module];
  if (d.pop_prev && wires.pop_prev != kNoChannel) order_.pop(module, wires.pop_prev);
  if (d.pop_next && wires.pop_next != kNoChannel) order_.pop(module, wires.pop_next);
  order_.begin(module, uint32_t(index_));
  std::visit([this](const auto& i) { follow(i); }, instruction);
  for (const auto& [push, channel] :
       {std::pair{d.push_prev, wires.push_prev}, {d.push_next, wires.push_next}}) {
    if (!push || channel == kNoChannel) continue;
    order_.push(module, channel);
    if (order_.tokens(channel) <= kMaxTokens || channel_full_[channel]) continue;
    channel_full_[channel] = true;
    error("more than 255 tokens are outstanding", "push", std::string("on ") + channel_name(channel),
          "hardware counters have 8 bits");
  }
}

// Runs the stream in the order of the simulator: load as far as tokens allow, then compute, then store.
void ProgramChecker::execute() {
  std::vector<uint32_t> queues[kQueues];
  std::vector<TokenStep> stream;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const Dependencies d = dependencies_of(instructions_[i]);
    const Queue module = module_of(instructions_[i]);
    queues[module].push_back(uint32_t(i));
    stream.push_back({module, d.pop_prev, d.pop_next, d.push_prev, d.push_next});
  }
  size_t head[kQueues] = {};
  for (bool progress = true; progress;) {
    progress = false;
    for (int m = 0; m < kQueues; ++m) {
      const ChannelWiring wires = kWiring[m];
      for (; head[m] < queues[m].size(); ++head[m], progress = true) {
        index_ = queues[m][head[m]];
        const Dependencies d = dependencies_of(instructions_[index_]);
        if (d.pop_prev && wires.pop_prev != kNoChannel && order_.tokens(wires.pop_prev) == 0) break;
        if (d.pop_next && wires.pop_next != kNoChannel && order_.tokens(wires.pop_next) == 0) break;
        step(Queue(m), instructions_[index_]);
      }
    }
  }
  bool done = true;
  for (int m = 0; m < kQueues; ++m) done &= head[m] == queues[m].size();
  if (!done) return report_deadlock(head, queues);
  index_ = instructions_.size() - 1;
  check_end();
  const int depth = std::min(kQueueDepth, hardware_.command_queue_depth);
  if (!completes(stream, size_t(depth))) {
    error("deadlock with command queues of " + std::to_string(depth), "",
          "fetch stops at a full queue before it reaches the pushes waited for",
          "interleave the modules' instructions");
  }
}

void ProgramChecker::report_deadlock(const size_t (&head)[kQueues],
                                     const std::vector<uint32_t> (&queues)[kQueues]) {
  for (int m = 0; m < kQueues; ++m) {
    if (head[m] == queues[m].size()) continue;
    index_ = queues[m][head[m]];
    const Dependencies d = dependencies_of(instructions_[index_]);
    const ChannelWiring wires = kWiring[m];
    const bool prev = d.pop_prev && wires.pop_prev != kNoChannel && order_.tokens(wires.pop_prev) == 0;
    error("deadlock", prev ? "pop_prev" : "pop_next",
          std::string("the ") + module_name(Queue(m)) + " queue waits for a token on " +
              channel_name(prev ? wires.pop_prev : wires.pop_next) + " that nothing will push");
  }
}

void ProgramChecker::check_end() {
  for (int c = 0; c < kChannels; ++c) {
    const size_t left = order_.tokens(Channel(c));
    if (left == 0) continue;
    error("tokens are left at FINISH", "", std::to_string(left) + " on " + channel_name(Channel(c)),
          "pop as many tokens as are pushed");
  }
  const uint32_t stores = order_.now(kStoreQueue);
  if (order_.known(kComputeQueue, kStoreQueue) < stores) {
    error("FINISH does not wait for all stores", "",
          "instruction " + std::to_string(order_.instruction(kStoreQueue, stores)) + " may still be running",
          "push a token from the last store and pop it before FINISH");
  }
}

void check_program(const OverlayHardware& hardware, const ProgramImage& program, Diagnostics& diagnostics,
                   Deadline* deadline) {
  try {
    ProgramChecker(hardware, program, diagnostics, deadline).run();
  } catch (const Error& error) {
    for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
  }
}

void check_program(const RawProgram& program, Diagnostics& diagnostics, Deadline* deadline) {
  Diagnostics sections;
  program.verify(sections);
  if (!sections.ok()) {
    for (const Diagnostic& problem : sections.errors()) diagnostics.add(problem);
    return;
  }
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  // Zero pages that nothing touches cost nothing.
  const std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(std::calloc(program.memory_bytes, 1)));
  if (memory == nullptr) {
    return diagnostics.error(
        ErrorKind::kInvalidInput, "program", "memory_bytes",
        "this machine cannot provide " + std::to_string(program.memory_bytes) + " bytes");
  }
  for (const RawImage& image : program.load) {
    if (!image.bytes.empty())
      std::memcpy(memory.get() + image.address, image.bytes.data(), image.bytes.size());
  }
  const std::span<const std::byte> all(memory.get(), program.memory_bytes);
  const uint64_t size = program.instruction_count * uint64_t(program.hardware.instruction_bytes());
  check_program(program.hardware,
                {all.subspan(program.instruction_address, size), all, 0, program.memory_bytes}, diagnostics,
                deadline);
}

}  // namespace tilewright::overlay
