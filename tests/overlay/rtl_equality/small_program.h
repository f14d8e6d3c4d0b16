// A program of ten instructions, one of each kind, to plant mistakes in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/overlay/isa/isa.h"
#include "tilewright/overlay/rtl/registers.h"

namespace tilewright::overlay {

// Positions in the program.
enum SmallProgramIndex : uint32_t {
  kLoadUop = 0,
  kLoadAcc = 1,
  kLoadInp = 2,
  kLoadWgt = 3,
  kGemmReset = 4,
  kGemm = 5,
  kAlu = 6,
  kStoreOut = 7,
  kWait = 8,
  kFinish = 9,
};

struct SmallProgram {
  explicit SmallProgram(const OverlayHardware& hardware);

  MemoryInstruction& memory_at(uint32_t index) { return std::get<MemoryInstruction>(instructions[index]); }
  GemmInstruction& gemm() { return std::get<GemmInstruction>(instructions[kGemm]); }
  AluInstruction& alu() { return std::get<AluInstruction>(instructions[kAlu]); }

  // A memory of kBytes with micro-ops, random data and the program at kAddress.
  static constexpr uint64_t kBytes = 1 << 16, kAddress = 3 << 14;
  std::vector<std::byte> memory() const;

  OverlayHardware hardware;
  std::vector<Instruction> instructions;
  // Applied to the encoded program, for what instructions cannot express.
  std::function<void(std::byte* program)> patch;
};

// A mistake, the instructions that every engine has to name for it, and what the hardware calls it.
struct Mistake {
  std::string name;
  std::function<void(SmallProgram&)> plant;
  std::vector<uint32_t> named;
  HardwareError code = HardwareError::kNone;
};

// Those that the hardware's instruction set can express.
std::vector<Mistake> mistakes(const OverlayHardware& hardware);

}  // namespace tilewright::overlay
