// The description of one overlay: instruction set, tensor intrinsic, element widths, scratchpads and memory.
// Geometry follows reference "VTA instruction set": INP elements are batch x block_in, WGT elements block_out
// x block_in, ACC and OUT elements batch x block_out; one element is what one micro-op reads or writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {

enum class IsaVersion {
  kVta,   // 128-bit instructions, 32-bit micro-ops, the public encoding and its portable subset
  kWide,  // 256-bit instructions, 64-bit micro-ops, extensions (src/tilewright/overlay/isa/isa.h)
};

// The number of arrays that make up each on-chip memory: of words, interleaved (cyclic) or in runs (block),
// or of bits of every word. Ports and cycles do not change, only the synthesis result.
struct MemoryPartition {
  enum class Kind { kCyclic, kBlock };
  enum class Dimension { kDepth, kWidth };
  Kind kind = Kind::kBlock;
  Dimension dimension = Dimension::kDepth;
  int factor = 1;  // power of two, at most 32; 1: undivided. Small memories take as much of it as they can.
  bool operator==(const MemoryPartition&) const = default;
};

struct OverlayHardware {
  std::string name;
  IsaVersion isa = IsaVersion::kVta;
  int batch = 1, block_in = 16, block_out = 16;                                 // powers of two
  int input_bits = 8, weight_bits = 8, accumulator_bits = 32, output_bits = 8;  // powers of two
  int64_t uop_buffer_bytes = 1 << 15, input_buffer_bytes = 1 << 15;
  int64_t weight_buffer_bytes = 1 << 18, accumulator_buffer_bytes = 1 << 17;
  int64_t dram_bytes = int64_t{1} << 30;  // simulated memory
  int memory_width_bits = 64;             // data bus
  // Of the hardware that runs it (docs/design/overlay/overlay_rtl.md); no influence on results. Powers of
  // two.
  int alu_lanes = 0;              // accumulator lanes that one ALU cycle works on; 0: all of an element
  int command_queue_depth = 512;  // instructions that wait in front of each module
  int read_queue_beats = 256;     // read data of each reader; bounds its outstanding requests
  int max_burst_beats = 64;       // at most 4 KiB
  bool gemm_beside_alu = false;   // GEMM may run beside an ALU instruction where the program allows it
  bool lookup_table =
      false;  // requantised outputs may pass through a table of 256 bytes; isa wide, 8-bit outputs
  // Reductions over whole rows for softmax and norms, a table of 256 words, and activations loaded as
  // weights: what attention needs. With lookup_table, batch 1, equal blocks, 8-bit operands, 32-bit
  // accumulators.
  bool row_functions = false;
  MemoryPartition memory_partition;
  double clock_mhz = 100;

  // Bytes of one element of each memory, in DRAM as in the scratchpad.
  int64_t uop_bytes() const { return isa == IsaVersion::kVta ? 4 : 8; }
  int64_t instruction_bytes() const { return isa == IsaVersion::kVta ? 16 : 32; }
  int64_t input_bytes() const { return int64_t{batch} * block_in * input_bits / 8; }
  int64_t weight_bytes() const { return int64_t{block_out} * block_in * weight_bits / 8; }
  int64_t accumulator_bytes() const { return int64_t{batch} * block_out * accumulator_bits / 8; }
  int64_t output_bytes() const { return int64_t{batch} * block_out * output_bits / 8; }
  // Elements in each scratchpad; OUT has the depth of ACC.
  int64_t uop_depth() const { return uop_buffer_bytes / uop_bytes(); }
  int64_t input_depth() const { return input_buffer_bytes / input_bytes(); }
  int64_t weight_depth() const { return weight_buffer_bytes / weight_bytes(); }
  int64_t accumulator_depth() const { return accumulator_buffer_bytes / accumulator_bytes(); }
  // Cycles of an ALU step: an accumulator element has batch * block_out lanes.
  int alu_slices() const { return alu_lanes == 0 ? 1 : batch * block_out / alu_lanes; }
  // MACs of one GEMM micro-op.
  int64_t macs_per_uop() const { return int64_t{batch} * block_in * block_out; }

  bool operator==(const OverlayHardware&) const = default;

  // Every rule the description breaks (sizes that are not powers of two, buffers that the encoding cannot
  // address, an element that is not a whole number of bytes, ...), each naming the field and a value that
  // would fit.
  void verify(Diagnostics& diagnostics) const;
};

// Reads a YAML description, an unmodified public vta_config.json, or a text that consists of the short form
// "1x16_i8w8a32_15_15_18_17" (batch x block, widths, log2 bytes of UOP, INP, WGT, ACC). Fields that are
// absent take the defaults above, except name (the file's stem) and output_bits (input_bits). Errors (invalid
// input): all problems at once, each with its line.
OverlayHardware read_overlay_hardware(const std::filesystem::path& path);
OverlayHardware parse_overlay_hardware(const std::string& text, const std::string& source_name);
// The YAML form; parses back to an equal description.
std::string print_overlay_hardware(const OverlayHardware& hardware);
// The short form. Errors (unsupported): it has one block size and power-of-two widths only.
std::string overlay_short_form(const OverlayHardware& hardware);

// `name_or_path`: a file, the name of a preset (NAME.yaml in `preset_folder`), or a short form. Errors
// (invalid input): none of them, listing the known presets; whatever reading reports.
OverlayHardware find_overlay_hardware(const std::string& name_or_path,
                                      const std::filesystem::path& preset_folder);
// The names of the presets in `preset_folder`, sorted; none when there is no such folder.
std::vector<std::string> overlay_preset_names(const std::filesystem::path& preset_folder);

}  // namespace tilewright
