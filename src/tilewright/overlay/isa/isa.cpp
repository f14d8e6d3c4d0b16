// Encoding and decoding of instructions and micro-ops, field by field, at the positions of an IsaLayout.
#include "tilewright/overlay/isa/isa.h"

#include <string>

#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {
namespace {

[[noreturn]] void does_not_fit(const char* field, int64_t value, int width, bool is_signed) {
  throw Error(ErrorKind::kInternal, "instruction field " + std::string(field) + " cannot hold " +
                                        std::to_string(value) + " in " + std::to_string(width) +
                                        (is_signed ? " signed bits" : " bits"));
}

[[gnu::always_inline]] inline void put(uint64_t* words, const BitField& field, uint64_t value,
                                       const char* name) {
  if (value & ~field.mask()) [[unlikely]] {
    does_not_fit(name, int64_t(value), field.width, false);
  }
  field.put(words, value);
}

[[gnu::always_inline]] inline void put_signed(uint64_t* words, const BitField& field, int64_t value,
                                              const char* name) {
  const bool fits = field.width == 0 ? value == 0
                                     : value >= -(int64_t{1} << (field.width - 1)) &&
                                           value < int64_t{1} << (field.width - 1);
  if (!fits) [[unlikely]] {
    does_not_fit(name, value, field.width, true);
  }
  if (field.width != 0) field.put(words, uint64_t(value));
}

[[noreturn]] void unknown(const std::string& what, uint64_t value) {
  throw Error(ErrorKind::kInvalidInput, "unknown " + what + " " + std::to_string(value));
}

}  // namespace

uint64_t read_little_endian(const std::byte* bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value |= uint64_t(bytes[i]) << (8 * i);
  return value;
}

void append_little_endian(std::vector<std::byte>& out, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) out.push_back(std::byte(value >> (8 * i)));
}

int64_t element_bytes(const OverlayHardware& h, MemoryType type) {
  switch (type) {
    case MemoryType::kUop:
      return h.uop_bytes();
    case MemoryType::kWeight:
      return h.weight_bytes();
    case MemoryType::kInput:
      return h.input_bytes();
    case MemoryType::kAccumulator:
      return h.accumulator_bytes();
    case MemoryType::kAccumulator8:
      return int64_t{h.batch} * h.block_out;
    case MemoryType::kTable:
      return 1;
    case MemoryType::kWideTable:
      return 4;
    case MemoryType::kWeightRows:
    case MemoryType::kWeightColumns:
      return h.input_bytes();
    case MemoryType::kOutput:
      break;
  }
  return h.output_bytes();
}

int64_t scratchpad_depth(const OverlayHardware& h, MemoryType type) {
  switch (type) {
    case MemoryType::kUop:
      return h.uop_depth();
    case MemoryType::kWeight:
    case MemoryType::kWeightRows:
    case MemoryType::kWeightColumns:
      return h.weight_depth();
    case MemoryType::kInput:
      return h.input_depth();
    case MemoryType::kTable:
    case MemoryType::kWideTable:
      return kTableEntries;
    default:
      return h.accumulator_depth();
  }
}

const char* memory_type_name(MemoryType type) {
  switch (type) {
    case MemoryType::kUop:
      return "uop";
    case MemoryType::kWeight:
      return "wgt";
    case MemoryType::kInput:
      return "inp";
    case MemoryType::kAccumulator:
      return "acc";
    case MemoryType::kOutput:
      return "out";
    case MemoryType::kAccumulator8:
      return "acc8";
    case MemoryType::kTable:
      return "tbl";
    case MemoryType::kWideTable:
      return "tbl32";
    case MemoryType::kWeightRows:
      return "wgt_rows";
    case MemoryType::kWeightColumns:
      return "wgt_columns";
  }
  return "?";
}

const char* alu_opcode_name(AluOpcode opcode) {
  static constexpr const char* kNames[] = {"min",     "max",        "add",        "shr",    "mul",
                                           "clip",    "move",       "requantize", "lookup", "lookup_wide",
                                           "row_max", "row_divide", "row_norm"};
  return uint8_t(opcode) < std::size(kNames) ? kNames[uint8_t(opcode)] : "?";
}

void IsaLayout::encode_common(IsaOpcode code, const Dependencies& dependencies, uint64_t* out) const {
  for (int i = 0; i < words; ++i) out[i] = 0;
  opcode.put(out, uint64_t(code));
  pop_prev.put(out, dependencies.pop_prev);
  pop_next.put(out, dependencies.pop_next);
  push_prev.put(out, dependencies.push_prev);
  push_next.put(out, dependencies.push_next);
  version.put(out, 1);
}

namespace {

// LOAD and STORE are most of what a runtime emits; their positions are known at compile time.
template <bool wide_version>
void encode_memory(const MemoryInstruction& i, uint64_t* out) {
  constexpr IsaLayout::Memory kFields = IsaLayout::memory_fields(wide_version);
  put(out, kFields.memory_type, uint64_t(i.memory_type) & 7, "memory_type");
  put(out, kFields.form, uint64_t(i.memory_type) >> 3, "memory_type");
  put(out, kFields.sram_base, i.sram_base, "sram_base");
  put(out, kFields.dram_base, i.dram_base, "dram_base");
  put(out, kFields.y_size, i.y_size, "y_size");
  put(out, kFields.x_size, i.x_size, "x_size");
  put(out, kFields.x_stride, i.x_stride, "x_stride");
  put(out, kFields.y_pad_0, i.y_pad_0, "y_pad_0");
  put(out, kFields.y_pad_1, i.y_pad_1, "y_pad_1");
  put(out, kFields.x_pad_0, i.x_pad_0, "x_pad_0");
  put(out, kFields.x_pad_1, i.x_pad_1, "x_pad_1");
  put_signed(out, kFields.pad_value, i.pad_value, "pad_value");
}

}  // namespace

void IsaLayout::encode(const MemoryInstruction& i, uint64_t* out) const {
  if (!has_rows && uint8_t(i.memory_type) > 7) does_not_fit("memory_type", int64_t(i.memory_type), 3, false);
  encode_common(i.is_store ? IsaOpcode::kStore : IsaOpcode::kLoad, i.dependencies, out);
  wide ? encode_memory<true>(i, out) : encode_memory<false>(i, out);
}

void IsaLayout::encode_loop(const Loop& fields, bool reset, const LoopNest& loop, uint64_t* out) const {
  put(out, fields.reset, reset, "reset");
  put(out, fields.uop_begin, loop.uop_begin, "uop_begin");
  put(out, fields.uop_end, loop.uop_end, "uop_end");
  put(out, fields.iter_out, loop.iter_out, "iter_out");
  put(out, fields.iter_in, loop.iter_in, "iter_in");
  put(out, fields.dst_factor_out, loop.dst_factor_out, "dst_factor_out");
  put(out, fields.dst_factor_in, loop.dst_factor_in, "dst_factor_in");
  put(out, fields.src_factor_out, loop.src_factor_out, "src_factor_out");
  put(out, fields.src_factor_in, loop.src_factor_in, "src_factor_in");
  put(out, fields.wgt_factor_out, loop.wgt_factor_out, "wgt_factor_out");
  put(out, fields.wgt_factor_in, loop.wgt_factor_in, "wgt_factor_in");
}

void IsaLayout::encode(const GemmInstruction& i, uint64_t* out) const {
  encode_common(IsaOpcode::kGemm, i.dependencies, out);
  encode_loop(gemm, i.reset, i.loop, out);
  put(out, bipolar, i.bipolar, "bipolar");
  put(out, beside_alu, i.beside_alu, "beside_alu");
}

void IsaLayout::encode(const AluInstruction& i, uint64_t* out) const {
  encode_common(IsaOpcode::kAlu, i.dependencies, out);
  encode_loop(alu, i.reset, i.loop, out);
  if (i.opcode > last_alu_opcode()) does_not_fit("alu_opcode", int64_t(i.opcode), alu_opcode.width, false);
  put(out, alu_opcode, uint64_t(i.opcode), "alu_opcode");
  put(out, use_imm, i.use_imm, "use_imm");
  put_signed(out, imm, i.imm, "imm");
  put_signed(out, clip_low, i.clip_low, "clip_low");
  put_signed(out, clip_high, i.clip_high, "clip_high");
}

void IsaLayout::encode(const FinishInstruction& i, uint64_t* out) const {
  encode_common(IsaOpcode::kFinish, i.dependencies, out);
}

uint64_t IsaLayout::encode(const MicroOp& op) const {
  uint64_t word = 0;
  put(&word, uop.dst, op.dst, "dst");
  put(&word, uop.src, op.src, "src");
  put(&word, uop.wgt, op.wgt, "wgt");
  put(&word, uop.overwrite, op.overwrite, "overwrite");
  return word;
}

LoopNest IsaLayout::decode_loop(const Loop& fields, const uint64_t* in) const {
  const auto get = [in](const BitField& field) { return uint32_t(field.get(in)); };
  return {get(fields.uop_begin),      get(fields.uop_end),        get(fields.iter_out),
          get(fields.iter_in),        get(fields.dst_factor_out), get(fields.dst_factor_in),
          get(fields.src_factor_out), get(fields.src_factor_in),  get(fields.wgt_factor_out),
          get(fields.wgt_factor_in)};
}

Instruction IsaLayout::decode(const uint64_t* in) const {
  const auto get = [in](const BitField& field) { return uint32_t(field.get(in)); };
  const Dependencies dependencies{get(pop_prev) != 0, get(pop_next) != 0, get(push_prev) != 0,
                                  get(push_next) != 0};
  if (wide && get(version) != 1) unknown("instruction version", get(version));
  switch (IsaOpcode(get(opcode))) {
    case IsaOpcode::kLoad:
    case IsaOpcode::kStore: {
      const MemoryType type = memory_type(in);
      if (!knows(type) && get(memory.x_size) != 0) unknown("memory type", uint64_t(type));
      MemoryInstruction i;
      i.is_store = IsaOpcode(get(opcode)) == IsaOpcode::kStore;
      i.dependencies = dependencies;
      i.memory_type = type;
      i.sram_base = get(memory.sram_base);
      i.dram_base = get(memory.dram_base);
      i.y_size = get(memory.y_size);
      i.x_size = get(memory.x_size);
      i.x_stride = get(memory.x_stride);
      i.y_pad_0 = get(memory.y_pad_0);
      i.y_pad_1 = get(memory.y_pad_1);
      i.x_pad_0 = get(memory.x_pad_0);
      i.x_pad_1 = get(memory.x_pad_1);
      i.pad_value = int32_t(memory.pad_value.get_signed(in));
      return i;
    }
    case IsaOpcode::kGemm:
      return GemmInstruction{dependencies, get(gemm.reset) != 0, decode_loop(gemm, in), get(bipolar) != 0,
                             get(beside_alu) != 0};
    case IsaOpcode::kAlu: {
      const uint32_t code = get(alu_opcode);
      if (code > uint32_t(last_alu_opcode())) unknown("ALU operation", code);
      return AluInstruction{dependencies,
                            get(alu.reset) != 0,
                            decode_loop(alu, in),
                            AluOpcode(code),
                            get(use_imm) != 0,
                            int32_t(imm.get_signed(in)),
                            int32_t(clip_low.get_signed(in)),
                            int32_t(clip_high.get_signed(in))};
    }
    case IsaOpcode::kFinish:
      return FinishInstruction{dependencies};
  }
  unknown("opcode", get(opcode));
}

MicroOp IsaLayout::decode_uop(uint64_t word) const {
  return {uint32_t(uop.dst.get(&word)), uint32_t(uop.src.get(&word)), uint32_t(uop.wgt.get(&word)),
          uop.overwrite.get(&word) != 0};
}

void encode(const OverlayHardware& hardware, const Instruction& instruction, std::vector<std::byte>& out) {
  const IsaLayout layout(hardware);
  uint64_t words[IsaLayout::kMaxWords];
  std::visit([&](const auto& i) { layout.encode(i, words); }, instruction);
  for (int w = 0; w < layout.words; ++w) append_little_endian(out, words[w], 8);
}

void encode(const OverlayHardware& hardware, const MicroOp& uop, std::vector<std::byte>& out) {
  append_little_endian(out, IsaLayout(hardware).encode(uop), int(hardware.uop_bytes()));
}

Instruction decode_instruction(const OverlayHardware& hardware, std::span<const std::byte> bytes) {
  const IsaLayout layout(hardware);
  if (int64_t(bytes.size()) < hardware.instruction_bytes()) {
    throw Error(ErrorKind::kInvalidInput, "an instruction of " + std::to_string(bytes.size()) +
                                              " bytes is cut off; it needs " +
                                              std::to_string(hardware.instruction_bytes()));
  }
  uint64_t words[IsaLayout::kMaxWords];
  for (int w = 0; w < layout.words; ++w) words[w] = read_little_endian(bytes.data() + 8 * w, 8);
  return layout.decode(words);
}

MicroOp decode_uop(const OverlayHardware& hardware, std::span<const std::byte> bytes) {
  if (int64_t(bytes.size()) < hardware.uop_bytes()) {
    throw Error(ErrorKind::kInvalidInput, "a micro-op of " + std::to_string(bytes.size()) +
                                              " bytes is cut off; it needs " +
                                              std::to_string(hardware.uop_bytes()));
  }
  return IsaLayout(hardware).decode_uop(read_little_endian(bytes.data(), int(hardware.uop_bytes())));
}

}  // namespace tilewright::overlay
