// The package is written line by line from the hardware's numbers, IsaLayout and the register table, so a
// position stands in one place only: the layout that the simulators decode with.
#include "tilewright/overlay/rtl/rtl_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/isa/isa_layout.h"
#include "tilewright/overlay/rtl/registers.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

class Package {
 public:
  void number(const std::string& name, int64_t value) {
    text_ += fmt::format("  localparam int {} = {};\n", name, value);
  }
  void word(const std::string& name, int bits, uint32_t value) {
    text_ += fmt::format("  localparam logic [{}:0] {} = {}'h{:0{}x};\n", bits - 1, name, bits, value,
                         (bits + 3) / 4);
  }
  // A field that the encoding lacks is one bit at 0, never looked at.
  void field(const std::string& name, const BitField& field) {
    number(name + "_LSB", field.width == 0 ? 0 : field.word * 64 + field.shift);
    number(name + "_WIDTH", field.width == 0 ? 1 : field.width);
  }
  void comment(const std::string& text) { text_ += "\n  // " + text + "\n"; }
  // Nameless, so that equal hardware has equal text.
  std::string finish() const {
    return "// Written by Tilewright (src/tilewright/overlay/rtl/rtl_config.cpp) for one hardware "
           "description.\n"
           "// verilator lint_off UNUSEDPARAM\n"
           "package overlay_config;\n" +
           text_ + "endpackage\n// verilator lint_on UNUSEDPARAM\n";
  }

 private:
  std::string text_;
};

void add_sizes(Package& p, const OverlayHardware& h) {
  p.comment("tensors and widths");
  p.number("WIDE", h.isa == IsaVersion::kWide);
  p.number("BATCH", h.batch);
  p.number("BLOCK_IN", h.block_in);
  p.number("BLOCK_OUT", h.block_out);
  p.number("INP_BITS", h.input_bits);
  p.number("WGT_BITS", h.weight_bits);
  p.number("ACC_BITS", h.accumulator_bits);
  p.number("OUT_BITS", h.output_bits);
  p.number("ALU_LANES", h.alu_lanes == 0 ? h.batch * h.block_out : h.alu_lanes);
  p.number("GEMM_BESIDE_ALU", h.gemm_beside_alu);
  p.number("LOOKUP_TABLE", h.lookup_table);
  p.number("ROW_FUNCTIONS", h.row_functions);
  p.number("LOG_PARTITION", floor_log2(h.memory_partition.factor));
  p.number("PARTITION_CYCLIC", h.memory_partition.kind == MemoryPartition::Kind::kCyclic);
  p.number("PARTITION_WIDTH", h.memory_partition.dimension == MemoryPartition::Dimension::kWidth);
  p.number("INSTR_BITS", h.instruction_bytes() * 8);
  p.number("UOP_BITS", h.uop_bytes() * 8);
  p.comment("log2 depths");
  p.number("LOG_UOP", floor_log2(h.uop_depth()));
  p.number("LOG_INP", floor_log2(h.input_depth()));
  p.number("LOG_WGT", floor_log2(h.weight_depth()));
  p.number("LOG_ACC", floor_log2(h.accumulator_depth()));
  p.number("LOG_COMMAND_QUEUE", floor_log2(h.command_queue_depth));
  p.number("LOG_READ_QUEUE", floor_log2(h.read_queue_beats));
  p.comment("memory port; log2 bytes of one element of each memory");
  p.number("MEM_BITS", h.memory_width_bits);
  p.number("ADDR_BITS", address_bits(h));
  p.number("MAX_BURST", h.max_burst_beats);
  p.number("LOG_MEM_BYTES", floor_log2(h.memory_width_bits / 8));
  p.number("LOG_INSTR_BYTES", floor_log2(h.instruction_bytes()));
  p.number("LOG_UOP_BYTES", floor_log2(h.uop_bytes()));
  p.number("LOG_INP_BYTES", floor_log2(h.input_bytes()));
  p.number("LOG_WGT_BYTES", floor_log2(h.weight_bytes()));
  p.number("LOG_ACC_BYTES", floor_log2(h.accumulator_bytes()));
  p.number("LOG_ACC8_BYTES", floor_log2(int64_t{h.batch} * h.block_out));
  p.number("LOG_OUT_BYTES", floor_log2(h.output_bytes()));
}

void add_loop(Package& p, const std::string& prefix, const IsaLayout::Loop& loop) {
  p.field(prefix + "_RESET", loop.reset);
  p.field(prefix + "_UBEGIN", loop.uop_begin);
  p.field(prefix + "_UEND", loop.uop_end);
  p.field(prefix + "_IOUT", loop.iter_out);
  p.field(prefix + "_IIN", loop.iter_in);
  p.field(prefix + "_DFO", loop.dst_factor_out);
  p.field(prefix + "_DFI", loop.dst_factor_in);
  p.field(prefix + "_SFO", loop.src_factor_out);
  p.field(prefix + "_SFI", loop.src_factor_in);
}

void add_fields(Package& p, const IsaLayout& layout) {
  p.comment("instruction fields: bit of the instruction, width");
  p.field("OP", layout.opcode);
  p.field("POP_PREV", layout.pop_prev);
  p.field("POP_NEXT", layout.pop_next);
  p.field("PUSH_PREV", layout.push_prev);
  p.field("PUSH_NEXT", layout.push_next);
  p.field("VERSION", layout.version);
  const IsaLayout::Memory& m = layout.memory;
  p.field("M_TYPE", m.memory_type);
  p.field("M_SRAM", m.sram_base);
  p.field("M_DRAM", m.dram_base);
  p.field("M_YSIZE", m.y_size);
  p.field("M_XSIZE", m.x_size);
  p.field("M_XSTRIDE", m.x_stride);
  p.field("M_YPAD0", m.y_pad_0);
  p.field("M_YPAD1", m.y_pad_1);
  p.field("M_XPAD0", m.x_pad_0);
  p.field("M_XPAD1", m.x_pad_1);
  p.field("M_PADVAL", m.pad_value);
  p.field("M_FORM", m.form);
  add_loop(p, "G", layout.gemm);
  p.field("G_WFO", layout.gemm.wgt_factor_out);
  p.field("G_WFI", layout.gemm.wgt_factor_in);
  p.field("G_BIPOLAR", layout.bipolar);
  p.number("G_BIPOLAR_PRESENT", layout.bipolar.width);
  p.field("G_BESIDE", layout.beside_alu);
  p.number("G_BESIDE_PRESENT", layout.beside_alu.width);
  add_loop(p, "A", layout.alu);
  p.field("A_OP", layout.alu_opcode);
  p.field("A_USEIMM", layout.use_imm);
  p.field("A_IMM", layout.imm);
  p.field("A_CLIPLO", layout.clip_low);
  p.field("A_CLIPHI", layout.clip_high);
  p.field("U_DST", layout.uop.dst);
  p.field("U_SRC", layout.uop.src);
  p.field("U_WGT", layout.uop.wgt);
  p.field("U_OVERWRITE", layout.uop.overwrite);
}

void add_registers(Package& p, const OverlayHardware& h) {
  p.comment("register addresses; what the HW registers read");
  for (const DeviceRegister& r : kRegisters) p.word(std::string("REG_") + r.name, 12, r.offset);
  p.word("OVERLAY_ID", 32, kOverlayId);
  for (const DeviceRegister& r : kRegisters) {
    if (std::string_view(r.name).starts_with("HW_")) {
      p.word(std::string("VALUE_") + r.name, 32, hardware_register(h, r.offset));
    }
  }
  const std::pair<const char*, HardwareError> kErrors[] = {
      {"ILLEGAL", HardwareError::kIllegal},    {"SCRATCHPAD", HardwareError::kScratchpadRange},
      {"ADDRESS", HardwareError::kAddress},    {"BUS", HardwareError::kBus},
      {"DEADLOCK", HardwareError::kDeadlock},  {"TOKEN", HardwareError::kTokenOverflow},
      {"NO_FINISH", HardwareError::kNoFinish}, {"BANK", HardwareError::kBank},
  };
  p.comment("error codes");
  for (const auto& [name, code] : kErrors) p.word(std::string("ERROR_") + name, 4, uint32_t(code));
}

// Files change only when their content does, so that tools that compare times keep their work.
void write_if_different(const fs::path& path, const std::string& text) {
  if (fs::is_regular_file(path) && read_text_file(path) == text) return;
  write_text_file(path, text);
}

}  // namespace

int address_bits(const OverlayHardware& hardware) {
  return std::bit_width(uint64_t(hardware.dram_bytes - 1));
}

uint32_t hardware_register(const OverlayHardware& h, uint16_t offset) {
  const auto pack = [](int64_t a, int64_t b, int64_t c, int64_t d) {
    return uint32_t(a | b << 8 | c << 16 | d << 24);
  };
  switch (offset) {
    case register_offset("HW_BATCH"):
      return uint32_t(h.batch);
    case register_offset("HW_BLOCK_IN"):
      return uint32_t(h.block_in);
    case register_offset("HW_BLOCK_OUT"):
      return uint32_t(h.block_out);
    case register_offset("HW_WIDTHS"):
      return pack(h.input_bits, h.weight_bits, h.accumulator_bits, h.output_bits);
    case register_offset("HW_DEPTHS"):
      return pack(floor_log2(h.uop_depth()), floor_log2(h.input_depth()), floor_log2(h.weight_depth()),
                  floor_log2(h.accumulator_depth()));
    case register_offset("HW_MEMORY_WIDTH"):
      return uint32_t(h.memory_width_bits);
    case register_offset("HW_WIDE"):
      return h.isa == IsaVersion::kWide;
    default:
      throw Error(ErrorKind::kInternal, fmt::format("register {:#x} does not describe hardware", offset));
  }
}

std::string register_table() {
  std::string text = "| offset | name | access | meaning |\n|---|---|---|---|\n";
  for (const DeviceRegister& r : kRegisters) {
    text += fmt::format("| 0x{:03X} | `{}` | {} | {} |\n", r.offset, r.name, r.access, r.meaning);
  }
  return text;
}

void verify_rtl(const OverlayHardware& hardware, Diagnostics& diagnostics) {
  const size_t before = diagnostics.errors().size();
  hardware.verify(diagnostics);
  if (diagnostics.errors().size() != before) return;
  const auto error = [&](const char* field, std::string message, std::string hint) {
    diagnostics.error(ErrorKind::kInvalidInput, "overlay '" + hardware.name + "'", field, std::move(message),
                      std::move(hint));
  };
  constexpr int kLeastPort = 32, kMostPort = 512;
  const int port = hardware.memory_width_bits;
  if (port < kLeastPort || port > kMostPort) {
    error("memory_width_bits",
          fmt::format("{} is outside of the hardware's {}..{}", port, kLeastPort, kMostPort),
          fmt::format("{} would fit", std::clamp(port, kLeastPort, kMostPort)));
  }
  const int most_beats = 4096 * 8 / std::max(port, 8);
  if (hardware.max_burst_beats > most_beats) {
    error("max_burst_beats",
          fmt::format("{} beats of {} bits are more than the 4096 bytes of an AXI4 burst",
                      hardware.max_burst_beats, port),
          fmt::format("at most {} fit", most_beats));
  }
}

std::string rtl_config(const OverlayHardware& hardware) {
  Diagnostics diagnostics;
  verify_rtl(hardware, diagnostics);
  diagnostics.raise_if_any();
  Package package;
  add_sizes(package, hardware);
  add_fields(package, IsaLayout(hardware));
  add_registers(package, hardware);
  return package.finish();
}

std::vector<fs::path> write_rtl(const OverlayHardware& hardware, const fs::path& folder,
                                const fs::path& rtl_folder) {
  const std::string package = rtl_config(hardware);
  std::set<fs::path> sources;
  for (const char* part : {"checks", "overlay"}) {
    const size_t before = sources.size();
    if (fs::is_directory(rtl_folder / part)) {
      for (const auto& entry : fs::directory_iterator(rtl_folder / part)) {
        if (entry.path().extension() == ".sv") sources.insert(entry.path());
      }
    }
    if (sources.size() == before) {
      throw Error(ErrorKind::kInvalidInput, "'" + (rtl_folder / part).string() + "' has no .sv files",
                  "name the folder rtl of Tilewright");
    }
  }
  create_folder(folder);
  std::vector<fs::path> written{folder / "overlay_config.sv"};
  write_if_different(written.front(), package);
  for (const fs::path& source : sources) {
    written.push_back(folder / source.filename());
    write_if_different(written.back(), read_text_file(source));
  }
  return written;
}

}  // namespace tilewright::overlay
