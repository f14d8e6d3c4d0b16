#include "small_program.h"

#include <algorithm>

#include "tilewright/base/random.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {
namespace {

constexpr uint32_t kUops = 8;
constexpr uint64_t kOutputs = 1 << 15;  // byte address

MemoryInstruction rectangle(MemoryType type, uint32_t dram, uint32_t rows, uint32_t columns,
                            uint32_t stride) {
  MemoryInstruction i;
  i.memory_type = type;
  i.dram_base = dram;
  i.y_size = rows;
  i.x_size = columns;
  i.x_stride = stride;
  return i;
}

}  // namespace

SmallProgram::SmallProgram(const OverlayHardware& h) : hardware(h) {
  instructions.resize(kFinish + 1);
  instructions[kLoadUop] = rectangle(MemoryType::kUop, 0, 1, kUops, kUops);
  instructions[kLoadAcc] = rectangle(MemoryType::kAccumulator, 64, 1, 16, 16);
  MemoryInstruction inputs = rectangle(MemoryType::kInput, 300, 2, 12, 20);
  inputs.dependencies.push_next = true;
  instructions[kLoadInp] = inputs;
  MemoryInstruction weights = rectangle(MemoryType::kWeight, 20, 1, 9, 9);
  weights.dependencies.push_next = true;
  instructions[kLoadWgt] = weights;
  GemmInstruction reset;
  reset.reset = true;
  reset.loop.uop_end = 2;
  reset.dependencies.pop_prev = true;
  instructions[kGemmReset] = reset;
  GemmInstruction gemm;
  gemm.loop.uop_end = kUops;
  gemm.loop.iter_out = 2;
  gemm.loop.src_factor_out = 3;
  gemm.loop.dst_factor_out = 1;
  gemm.dependencies.pop_prev = true;
  instructions[kGemm] = gemm;
  AluInstruction alu;
  alu.opcode = AluOpcode::kAdd;
  alu.use_imm = true;
  alu.imm = -5;
  alu.loop.uop_end = kUops;
  alu.dependencies.push_next = true;
  instructions[kAlu] = alu;
  MemoryInstruction store =
      rectangle(MemoryType::kOutput, uint32_t(kOutputs / uint64_t(h.output_bytes())), 2, 7, 9);
  store.is_store = true;
  store.dependencies.pop_prev = store.dependencies.push_prev = true;
  instructions[kStoreOut] = store;
  MemoryInstruction wait;
  wait.memory_type = MemoryType::kUop;
  wait.dependencies.pop_next = true;
  instructions[kWait] = wait;
  instructions[kFinish] = FinishInstruction{};
}

std::vector<std::byte> SmallProgram::memory() const {
  std::vector<std::byte> memory(kBytes);
  Random random(1);
  for (size_t i = 0; i < kAddress; ++i) memory[i] = std::byte(random.next());
  std::vector<std::byte> bytes;
  for (uint32_t u = 0; u < kUops; ++u) encode(hardware, MicroOp{u % 5, (u * 2) % 16, u, false}, bytes);
  std::copy(bytes.begin(), bytes.end(), memory.begin());
  bytes.clear();
  for (const Instruction& instruction : instructions) encode(hardware, instruction, bytes);
  if (patch) patch(bytes.data());
  std::copy(bytes.begin(), bytes.end(), memory.begin() + kAddress);
  return memory;
}

std::vector<Mistake> mistakes(const OverlayHardware& h) {
  const size_t bytes = size_t(h.instruction_bytes());
  const bool wide = h.isa == IsaVersion::kWide;
  // Replaces `width` bits at `bit` of an encoded instruction.
  const auto replace = [bytes](uint32_t index, int bit, int width, uint32_t value) {
    return [=](SmallProgram& p) {
      p.patch = [=](std::byte* program) {
        for (int b = 0; b < width; ++b) {
          std::byte& at = program[index * bytes + size_t(bit + b) / 8];
          const std::byte mask = std::byte(1 << (bit + b) % 8);
          at = (value >> b & 1) != 0 ? at | mask : at & ~mask;
        }
      };
    };
  };
  const uint32_t inp = uint32_t(h.input_depth()), wgt = uint32_t(h.weight_depth());
  const uint32_t acc = uint32_t(h.accumulator_depth()), uop = uint32_t(h.uop_depth());
  const uint32_t inputs = uint32_t(SmallProgram::kBytes / uint64_t(h.input_bytes()));
  const uint32_t outputs = uint32_t(SmallProgram::kBytes / uint64_t(h.output_bytes()));
  const int type_bit = wide ? 11 : 7;
  const IsaLayout layout(h);
  using enum HardwareError;
  std::vector<Mistake> list{
      {"opcode of a load", replace(kLoadWgt, 0, 3, 6), {kLoadWgt}, kIllegal},
      {"opcode of a GEMM", replace(kGemm, 0, 3, 5), {kGemm}, kIllegal},
      {"memory type of a load", replace(kLoadInp, type_bit, 3, 7), {kLoadInp}, kIllegal},
      {"load of OUT",
       [](SmallProgram& p) { p.memory_at(kLoadAcc).memory_type = MemoryType::kOutput; },
       {kLoadAcc},
       kIllegal},
      {"store of ACC",
       [](SmallProgram& p) { p.memory_at(kStoreOut).memory_type = MemoryType::kAccumulator; },
       {kStoreOut},
       kIllegal},
      {"ALU operation",
       replace(kAlu, layout.alu_opcode.word * 64 + layout.alu_opcode.shift, layout.alu_opcode.width,
               uint32_t(layout.last_alu_opcode()) + 1),
       {kAlu},
       kIllegal},
      {"INP range",
       [=](SmallProgram& p) { p.memory_at(kLoadInp).sram_base = inp - 4; },
       {kLoadInp},
       kScratchpadRange},
      {"WGT range",
       [=](SmallProgram& p) { p.memory_at(kLoadWgt).sram_base = wgt - 8; },
       {kLoadWgt},
       kScratchpadRange},
      {"ACC range of a load",
       [=](SmallProgram& p) { p.memory_at(kLoadAcc).sram_base = acc - 15; },
       {kLoadAcc},
       kScratchpadRange},
      {"UOP range of a load",
       [=](SmallProgram& p) { p.memory_at(kLoadUop).sram_base = uop - 3; },
       {kLoadUop},
       kScratchpadRange},
      {"range of padding alone",
       [=](SmallProgram& p) {
         p.memory_at(kLoadInp).sram_base = inp - 4;
         p.memory_at(kLoadInp).y_size = 0;
         p.memory_at(kLoadInp).y_pad_1 = 1;
       },
       {kLoadInp},
       kScratchpadRange},
      {"dst of a GEMM",
       [=](SmallProgram& p) { p.gemm().loop.dst_factor_out = acc - 1; },
       {kGemm},
       kScratchpadRange},
      {"src of a GEMM",
       [=](SmallProgram& p) { p.gemm().loop.src_factor_out = inp - 1; },
       {kGemm},
       kScratchpadRange},
      {"wgt of a GEMM",
       [=](SmallProgram& p) { p.gemm().loop.wgt_factor_out = wgt - 1; },
       {kGemm},
       kScratchpadRange},
      {"micro-ops of a GEMM",
       [=](SmallProgram& p) { p.gemm().loop.uop_end = uop + 1; },
       {kGemm},
       kScratchpadRange},
      {"dst of an ALU",
       [=](SmallProgram& p) { p.alu().loop.iter_in = 2, p.alu().loop.dst_factor_in = acc - 1; },
       {kAlu},
       kScratchpadRange},
      {"src of an ALU",
       [=](SmallProgram& p) {
         p.alu().use_imm = false;
         p.alu().loop.iter_in = 2;
         p.alu().loop.src_factor_in = acc - 1;
       },
       {kAlu},
       kScratchpadRange},
      {"ACC range of a store",
       [=](SmallProgram& p) { p.memory_at(kStoreOut).sram_base = acc - 13; },
       {kStoreOut},
       kScratchpadRange},
      {"end of the memory, load",
       [=](SmallProgram& p) { p.memory_at(kLoadInp).dram_base = inputs - 20; },
       {kLoadInp},
       kAddress},
      {"end of the memory, store",
       [=](SmallProgram& p) { p.memory_at(kStoreOut).dram_base = outputs - 10; },
       {kStoreOut},
       kAddress},
      {"beyond all addresses, load",
       [](SmallProgram& p) { p.memory_at(kLoadWgt).dram_base = 0xFFFFFFF0; },
       {kLoadWgt},
       kAddress},
      {"beyond all addresses, micro-ops",
       [](SmallProgram& p) { p.memory_at(kLoadUop).dram_base = 0x80000000; },
       {kLoadUop},
       kAddress},
      {"beyond all addresses, store",
       [](SmallProgram& p) { p.memory_at(kStoreOut).dram_base = 0xFFFFFFFF; },
       {kStoreOut},
       kAddress},
      {"a token that nobody pushes",
       [](SmallProgram& p) { p.alu().dependencies.push_next = false; },
       {kWait, kStoreOut},
       kDeadlock},
      {"FINISH in the middle",
       [](SmallProgram& p) { p.instructions[kAlu] = FinishInstruction{}; },
       {kAlu},
       kNoFinish},
  };
  // With a queue of one, fetch is stuck before it reaches the store.
  if (h.command_queue_depth > 1) {
    list.push_back({"a load that waits for ever",
                    [](SmallProgram& p) { p.memory_at(kLoadWgt).dependencies.pop_next = true; },
                    {kLoadWgt, kGemm, kStoreOut},
                    kDeadlock});
  }
  if (h.row_functions) {
    const int form_bit = layout.memory.form.word * 64 + layout.memory.form.shift;
    list.push_back({"form of an input load", replace(kLoadInp, form_bit, 2, 1), {kLoadInp}, kIllegal});
    list.push_back({"form of a weight load", replace(kLoadWgt, form_bit, 2, 3), {kLoadWgt}, kIllegal});
    list.push_back({"WGT range of rows",
                    [=](SmallProgram& p) {
                      p.memory_at(kLoadWgt).memory_type = MemoryType::kWeightRows;
                      p.memory_at(kLoadWgt).sram_base = wgt - 8;
                    },
                    {kLoadWgt},
                    kScratchpadRange});
    list.push_back({"the last parameter of a row",
                    [=](SmallProgram& p) {
                      p.alu().opcode = AluOpcode::kRowMax;
                      p.alu().loop.uop_end = 1;
                      p.alu().loop.iter_out = 2;
                      p.alu().loop.dst_factor_out = acc - 2;
                    },
                    {kAlu},
                    kScratchpadRange});
  }
  if (h.gemm_beside_alu) {
    list.push_back({"a GEMM beside an ALU on its half of ACC",
                    [](SmallProgram& p) {
                      AluInstruction alu = p.alu();
                      alu.dependencies = {};
                      alu.dependencies.pop_prev = true;
                      p.instructions[kGemmReset] = alu;
                      p.gemm().beside_alu = true;
                    },
                    {kGemm},
                    kBank});
  }
  if (wide) list.push_back({"version", replace(kLoadAcc, 7, 4, 2), {kLoadAcc}, kIllegal});
  return list;
}

}  // namespace tilewright::overlay
