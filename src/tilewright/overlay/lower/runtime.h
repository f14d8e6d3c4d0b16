// The just-in-time runtime: turns buffer transfers, micro-kernels and token requests into instruction bytes
// and a micro-op image, the C++ form of the public VTA runtime interface.
//
// Micro-kernels are cached in the micro-op scratchpad (a ring; a new kernel evicts what it overlaps). The
// image in DRAM only grows: a kernel that is evicted and used again is loaded from its original place, so no
// earlier LOAD can ever see other micro-ops. docs/design/overlay/overlay.md has the rationale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tilewright/overlay/isa/instruction_buffer.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/time/timed_program.h"

namespace tilewright::overlay {

enum class Stage : uint8_t { kLoad = 1, kCompute = 2, kStore = 3 };

// A field of an instruction that follows from the position of the token that a run is for. The token sees
// itself and the lines before it, in blocks of block_in lines.
enum class RunMeasure : uint8_t {
  kPosition,
  kLines,      // position + 1
  kBlocks,     // of them
  kPadding,    // lines that their last block has room for
  kLastLanes,  // lines in it
};
struct RunField {
  uint64_t instruction = 0;  // its number in the program
  BitField field;
  RunMeasure measure = RunMeasure::kPosition;
  int64_t base = 0, factor = 1;  // the field is base + factor * measure
};
int64_t measured_at(RunMeasure measure, int64_t position, int64_t block);

// One recorded kernel: up to two loops around a list of micro-ops, and for ALU kernels the operation.
struct MicroKernel {
  struct Loop {
    uint32_t extent = 1, dst = 0, src = 0, wgt = 0;  // factors per iteration
  };

  bool is_alu = false;
  bool reset = false;       // GEMM: ACC[dst] = 0
  bool bipolar = false;     // GEMM: how 1-bit inputs are read; wide only
  bool beside_alu = false;  // GEMM: may start while the ALU instruction before it runs; wide only
  AluOpcode opcode = AluOpcode::kMin;
  bool use_imm = false;
  int32_t imm = 0;
  int32_t clip_low = 0, clip_high = 0;  // wide only
  Loop outer, inner;
  std::vector<MicroOp> uops;
  // What goes over the blocks that a run's token sees, of at most `visible_blocks`: a loop, or the micro-ops,
  // of which a block has equally many. Of an operation on rows the last element has kLastLanes.
  enum class Visible : uint8_t { kNothing, kOuter, kInner, kMicroOps } visible = Visible::kNothing;
  uint32_t visible_blocks = 1;
  bool visible_lanes = false;
};

using KernelHandle = uint32_t;

// The parts (first micro-op, number) in which the runtime loads and executes a kernel of `uops` micro-ops:
// equal ones of at most half the cache.
std::vector<std::pair<uint32_t, uint32_t>> split_kernel(const OverlayHardware& hardware, uint32_t uops);

// A rectangle in DRAM, in elements of the memory type, and the padding around it (LOAD only).
struct Transfer2D {
  int64_t dram_element = 0;
  uint32_t x_size = 0, y_size = 1, x_stride = 0;
  uint32_t x_pad_before = 0, y_pad_before = 0, x_pad_after = 0, y_pad_after = 0;
  int32_t pad_value = 0;  // wide only
  // Of a run's token: elements by which each position moves dram_element; whether x_size is the blocks that
  // it sees, or y_size the lines, with y_pad_after the rest of their last block.
  int64_t per_position = 0;
  bool visible_columns = false, visible_rows = false;
};

struct RuntimeStatistics {
  uint64_t instructions = 0, nops = 0;
  uint64_t uop_loads = 0;    // LOAD UOP instructions
  uint64_t uop_reloads = 0;  // of these: kernels that had been evicted
  uint64_t uops_loaded = 0;  // micro-ops moved into the scratchpad
  uint64_t evictions = 0;    // kernels dropped from the cache
};

// The result of `synchronize`.
struct RuntimeOutput {
  InstructionBuffer instructions;
  std::vector<std::byte> uops;  // to be placed at the address given to synchronize()
  RuntimeStatistics statistics;
  std::vector<RunField> run_fields;
};

class Runtime {
 public:
  explicit Runtime(const OverlayHardware& hardware);
  // Appends the times of instructions to `timed` instead of their bytes: the same instructions with the same
  // errors, for schedules that are only to be timed. `timed` must outlive it.
  Runtime(const OverlayHardware& hardware, TimedProgram& timed);
  Runtime(Runtime&&) = default;
  Runtime& operator=(Runtime&&) = default;

  // Before the first kernel: all micro-ops are in the scratchpad when the program starts, as they stand in
  // the image, which must then fit it.
  void expect_micro_ops() { preloaded_ = true; }

  // One LOAD of `transfer` to scratchpad element `sram` / one STORE of accumulators. Errors (internal): a
  // value that its field cannot hold, named.
  void load_buffer_2d(MemoryType type, uint32_t sram, const Transfer2D& transfer);
  void store_buffer_2d(uint32_t sram, const Transfer2D& transfer);

  // Adds a kernel to the image; it may be pushed any number of times. A kernel of more than half the cache
  // becomes several instructions, each with a part of its micro-ops. Errors (internal): no micro-op, an empty
  // loop, an index beyond its field; (infeasible): a kernel that has to be split and whose result depends on
  // the order of iterations.
  KernelHandle record(const MicroKernel& kernel);
  // Brings the micro-ops of all kernels recorded so far from `first` on into the cache with one LOAD. Does
  // nothing where they do not fit it together, or where one of them is there already.
  void prefetch(KernelHandle first);
  // Emits the kernel, after a LOAD of its micro-ops when they are not in the cache.
  void push(KernelHandle handle);

  // `to` waits for / `from` signals one token. Neighbouring stages only. A pop attaches to the next
  // instruction of its stage, a push to the last one; NOPs appear where that is impossible.
  void dep_push(Stage from, Stage to);
  void dep_pop(Stage from, Stage to);

  // Appends the closing token sequence and FINISH, resolves micro-op addresses for an image at byte
  // `uop_image_address`, and returns everything emitted since the last call; the runtime is empty afterwards
  // and kernel handles are void.
  RuntimeOutput synchronize(uint64_t uop_image_address);
  // The same for a runtime that appends times; the whole result is in its TimedProgram.
  void synchronize_times(uint64_t uop_image_address);

  const OverlayHardware& hardware() const { return hardware_; }
  // Bytes that the micro-op image has so far.
  uint64_t uop_image_bytes() const { return image_.size() * 4; }
  uint64_t instruction_count() const { return count_; }
  KernelHandle kernel_count() const { return KernelHandle(kernels_.size()); }
  const RuntimeStatistics& statistics() const { return statistics_; }

 private:
  static constexpr size_t kNone = ~size_t{0};

  // A run of micro-ops that is loaded and executed as one.
  struct Part {
    uint32_t image_offset = 0, size = 0;  // in micro-ops
    uint32_t cache_begin = 0;
    bool is_alu = false, resident = false, ever_loaded = false;
    MicroKernel::Visible visible = MicroKernel::Visible::kNothing;
    bool visible_lanes = false;
    uint32_t of_block = 0;  // micro-ops of a visible block
    int32_t imm = 0;
    uint64_t words[4] = {};  // the instruction, but for the micro-op range and tokens
    TimedInstruction timed;  // the same where only times are wanted
  };
  struct Kernel {
    uint32_t first_part = 0, part_count = 0;
  };

  uint64_t* append(Stage stage);
  void emit_nop(Stage stage);
  void emit(Stage stage, MemoryInstruction& instruction);
  void append_uop(const MicroOp& uop);
  void encode_kernel(const MicroKernel& kernel, uint64_t* words);
  TimedInstruction time_kernel(const MicroKernel& kernel, uint32_t begin, uint32_t size) const;
  uint8_t take_pending(Stage stage);
  void check_fields(const MemoryInstruction& instruction) const;
  void close();
  void make_resident(std::span<Part> parts);
  void vary(BitField field, RunMeasure measure, int64_t base, int64_t factor);
  void vary(const Transfer2D& transfer);
  void vary(const Part& part);

  OverlayHardware hardware_;
  IsaLayout layout_;
  uint32_t cache_depth_ = 0;
  TimedProgram* timed_ = nullptr;  // takes the instructions instead of instructions_
  InstructionBuffer instructions_;
  uint64_t count_ = 0;
  std::vector<uint32_t> image_;
  std::vector<Kernel> kernels_;
  std::vector<Part> parts_;
  std::deque<uint32_t> resident_;  // parts in the cache, oldest first
  uint32_t cache_cursor_ = 0;
  bool preloaded_ = false;
  // Positions in words (instructions may move while the buffer grows) or, of times, in compute's queue.
  std::vector<size_t> uop_loads_;  // instructions whose dram_base is relative to the image
  bool pending_[4][2] = {};        // per stage: pops (of the previous, next stage) not attached yet
  size_t last_[4] = {kNone, kNone, kNone, kNone};  // the last instruction of each stage
  RuntimeStatistics statistics_;
  std::vector<RunField> run_fields_;
};

}  // namespace tilewright::overlay
