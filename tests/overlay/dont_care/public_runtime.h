// Programs as the public VTA runtime makes them from a compiler's calls: deferred pops, folded pushes, its
// three no-operations, the ring of micro-op kernels, the closing sequence of a synchronisation. Written from
// the description of its interface; shares nothing with overlay/lower/runtime.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {

// What its calls name.
enum PublicStage { kNoStage, kLoadStage, kComputeStage, kStoreStage, kPublicStages };

// A recorded GEMM or ALU kernel: at most two loops around micro-ops.
struct PublicKernel {
  struct Loop {
    uint32_t extent = 1, dst = 0, src = 0, wgt = 0;
  };
  bool alu = false, reset = false, use_imm = false;
  AluOpcode opcode = AluOpcode::kAdd;
  int32_t imm = 0;
  std::vector<Loop> loops;
  std::vector<MicroOp> uops;
};

class PublicRuntime {
 public:
  // Micro-ops are laid out from element `uop_base` of the memory on.
  PublicRuntime(const OverlayHardware& hardware, uint32_t uop_base)
      : hardware_(hardware), uop_base_(uop_base) {}

  // Of the instruction, everything but the dependencies counts.
  void load(const MemoryInstruction& instruction);
  void store(const MemoryInstruction& instruction);
  void push(const PublicKernel& kernel);
  void dep_pop(PublicStage from, PublicStage to);
  void dep_push(PublicStage from, PublicStage to);
  // Ends the program.
  void synchronize();

  const std::vector<Instruction>& instructions() const { return stream_; }
  // The micro-ops as they stand in memory. What the kernel that loads one does not read of it is zero, or
  // drawn.
  const std::vector<MicroOp>& uops() const { return image_; }
  std::vector<MicroOp> uops_with_random_dont_cares(Random& random) const;
  int64_t no_operations() const { return no_operations_; }

 private:
  enum class Reads { kAll, kDestinations, kDestinationsAndSources };
  struct Cached {
    Reads reads = Reads::kAll;
    std::vector<MicroOp> uops;
    uint32_t begin = 0;
  };

  // An instruction of `stage`; it takes the pops that wait for one.
  template <typename T>
  void create(PublicStage stage, T instruction, PublicStage can_push);
  void commit_pops(PublicStage stage);
  void no_operation(PublicStage stage, const Dependencies& dependencies);
  uint32_t place(const PublicKernel& kernel);

  const OverlayHardware& hardware_;
  const uint32_t uop_base_;
  std::vector<Instruction> stream_;
  PublicStage last_ = kNoStage;  // whose pushes the last instruction can take
  Dependencies pending_[kPublicStages];
  std::vector<Cached> cache_;
  uint32_t cursor_ = 0;
  std::vector<MicroOp> image_;
  std::vector<Reads> image_reads_;
  int64_t no_operations_ = 0;
};

struct PublicProgram {
  std::vector<std::byte> memory;  // random data, micro-ops, instructions
  uint64_t address = 0, count = 0;
  int64_t no_operations = 0, resets = 0;
  // The same with random values in what the kernels do not read of their micro-ops, and where those stand.
  std::vector<std::byte> wild_memory;
  uint64_t uop_address = 0, uop_bytes = 0;
};

// A random loop nest - tiled dense layers, padded 3x3 convolutions, element-wise chains without a load stage
// - with one or two virtual threads. `hardware` has the plain encoding.
PublicProgram public_program(const OverlayHardware& hardware, Random& random);

}  // namespace tilewright::overlay
