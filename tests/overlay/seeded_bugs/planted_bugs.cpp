#include "planted_bugs.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tilewright::seeded_bugs {

using overlay::AluInstruction;
using overlay::AluOpcode;
using overlay::GemmInstruction;
using overlay::Instruction;
using overlay::MemoryInstruction;
using overlay::MemoryType;
using overlay::MicroOp;

namespace {

// The `number`-th instruction of type T for which `wanted` holds, counted from the end when negative.
template <typename T, typename Wanted>
T* find(OpenProgram& open, Wanted&& wanted, int number = 0) {
  std::vector<T*> found;
  for (Instruction& instruction : open.instructions) {
    T* typed = std::get_if<T>(&instruction);
    if (typed != nullptr && wanted(*typed)) found.push_back(typed);
  }
  const int index = number < 0 ? int(found.size()) + number : number;
  return index < 0 || index >= int(found.size()) ? nullptr : found[size_t(index)];
}

bool is_load(const MemoryInstruction& m, MemoryType type) {
  return !m.is_store && m.memory_type == type && m.x_size > 0;
}
bool is_store(const MemoryInstruction& m) { return m.is_store && m.x_size > 0; }
bool is_compute(const Instruction& instruction) {
  if (const auto* m = std::get_if<MemoryInstruction>(&instruction)) {
    return !m->is_store && m->memory_type != MemoryType::kInput && m->memory_type != MemoryType::kWeight;
  }
  return !std::holds_alternative<overlay::FinishInstruction>(instruction);
}
bool is_load_stage(const Instruction& instruction) {
  const auto* m = std::get_if<MemoryInstruction>(&instruction);
  return m != nullptr && !m->is_store && !is_compute(instruction);
}
overlay::Dependencies& dependencies(Instruction& instruction) {
  return std::visit([](auto& i) -> overlay::Dependencies& { return i.dependencies; }, instruction);
}

// Clears the `number`-th push and the pop that it serves: the token is forgotten on both sides.
bool forget_token(OpenProgram& open, bool (*from)(const Instruction&), bool overlay::Dependencies::*push,
                  bool (*to)(const Instruction&), bool overlay::Dependencies::*pop, int number) {
  Instruction *pusher = nullptr, *popper = nullptr;
  int pushes = 0, pops = 0;
  for (Instruction& instruction : open.instructions) {
    if (from(instruction) && dependencies(instruction).*push && pushes++ == number) pusher = &instruction;
    if (to(instruction) && dependencies(instruction).*pop && pops++ == number) popper = &instruction;
  }
  if (pusher == nullptr || popper == nullptr) return false;
  dependencies(*pusher).*push = false;
  dependencies(*popper).*pop = false;
  return true;
}

bool is_store_stage(const Instruction& instruction) {
  const auto* m = std::get_if<MemoryInstruction>(&instruction);
  return m != nullptr && m->is_store;
}

bool last_row_not_stored(OpenProgram& open) {
  auto* store = find<MemoryInstruction>(
      open, [](const auto& m) { return is_store(m) && m.y_size > 1; }, -1);
  if (store == nullptr) return false;
  --store->y_size;
  return true;
}
bool store_one_element_on(OpenProgram& open) {
  auto* store = find<MemoryInstruction>(open, is_store);
  ++store->dram_base;
  return true;
}
bool store_stride_off_by_one(OpenProgram& open) {
  auto* store = find<MemoryInstruction>(open, [](const auto& m) { return is_store(m) && m.y_size > 1; });
  if (store == nullptr) return false;
  ++store->x_stride;
  return true;
}
bool load_push_missing(OpenProgram& open) {
  for (Instruction& instruction : open.instructions) {
    if (!is_load_stage(instruction) || !dependencies(instruction).push_next) continue;
    dependencies(instruction).push_next = false;
    return true;
  }
  return false;
}
bool compute_pop_missing(OpenProgram& open) {
  for (Instruction& instruction : open.instructions) {
    if (!is_compute(instruction) || !dependencies(instruction).pop_prev) continue;
    dependencies(instruction).pop_prev = false;
    return true;
  }
  return false;
}
bool load_to_compute_forgotten(OpenProgram& open) {
  return forget_token(open, is_load_stage, &overlay::Dependencies::push_next, is_compute,
                      &overlay::Dependencies::pop_prev, 0);
}
bool compute_to_load_forgotten(OpenProgram& open) {
  return forget_token(open, is_compute, &overlay::Dependencies::push_prev, is_load_stage,
                      &overlay::Dependencies::pop_next, 0);
}
bool compute_to_store_forgotten(OpenProgram& open) {
  return forget_token(open, is_compute, &overlay::Dependencies::push_next, is_store_stage,
                      &overlay::Dependencies::pop_prev, 0);
}
bool store_to_compute_forgotten(OpenProgram& open) {
  return forget_token(open, is_store_stage, &overlay::Dependencies::push_prev, is_compute,
                      &overlay::Dependencies::pop_next, 0);
}
bool pads_swapped(OpenProgram& open) {
  auto* load = find<MemoryInstruction>(
      open, [](const auto& m) { return is_load(m, MemoryType::kInput) && m.x_pad_0 != m.x_pad_1; });
  if (load == nullptr) return false;
  std::swap(load->x_pad_0, load->x_pad_1);
  return true;
}
bool top_pad_at_the_bottom(OpenProgram& open) {
  auto* load = find<MemoryInstruction>(
      open, [](const auto& m) { return is_load(m, MemoryType::kInput) && m.y_pad_0 > 0; });
  if (load == nullptr) return false;
  load->y_pad_1 += load->y_pad_0;
  load->y_pad_0 = 0;
  return true;
}
bool padded_with_zero(OpenProgram& open) {
  bool any = false;
  for (Instruction& instruction : open.instructions) {
    auto* load = std::get_if<MemoryInstruction>(&instruction);
    if (load == nullptr || load->pad_value == 0) continue;
    load->pad_value = 0;
    any = true;
  }
  return any;
}
bool input_row_stride_off_by_one(OpenProgram& open) {
  auto* load = find<MemoryInstruction>(open, [](const auto& m) {
    return is_load(m, MemoryType::kInput) && m.y_size > 1 && m.x_stride > m.x_size;
  });
  if (load == nullptr) return false;
  ++load->x_stride;
  return true;
}
bool source_factors_swapped(OpenProgram& open) {
  auto* gemm = find<GemmInstruction>(open, [](const auto& g) {
    return !g.reset && g.loop.iter_out > 1 && g.loop.iter_in > 1 &&
           g.loop.src_factor_out != g.loop.src_factor_in;
  });
  if (gemm == nullptr) return false;
  std::swap(gemm->loop.src_factor_out, gemm->loop.src_factor_in);
  return true;
}
bool last_column_not_computed(OpenProgram& open) {
  auto* gemm = find<GemmInstruction>(open, [](const auto& g) { return !g.reset && g.loop.iter_in > 1; });
  if (gemm == nullptr) return false;
  --gemm->loop.iter_in;
  return true;
}
bool wrong_weight(OpenProgram& open) {
  auto* gemm = find<GemmInstruction>(open, [](const auto& g) { return !g.reset; });
  const auto* load = find<MemoryInstruction>(
      open, [](const auto& m) { return is_load(m, MemoryType::kWeight) && m.x_size * m.y_size > 1; });
  if (gemm == nullptr || load == nullptr) return false;
  for (MicroOp& uop : open.uops) {
    if (uop.wgt >= load->sram_base + 1 && uop.wgt < load->sram_base + load->x_size) {
      --uop.wgt;
      return true;
    }
  }
  return false;
}
// Plain: the reset pass adds up nothing; wide: the first micro-ops accumulate. What the previous tile left
// stays.
bool accumulators_not_cleared(OpenProgram& open) {
  bool any = false;
  for (MicroOp& uop : open.uops) {
    any = any || uop.overwrite;
    uop.overwrite = false;
  }
  for (Instruction& instruction : open.instructions) {
    auto* gemm = std::get_if<GemmInstruction>(&instruction);
    if (gemm == nullptr || !gemm->reset) continue;
    gemm->loop.dst_factor_in = gemm->loop.dst_factor_out = 0;
    gemm->loop.iter_in = gemm->loop.iter_out = 1;
    gemm->loop.uop_end = gemm->loop.uop_begin + 1;
    any = true;
  }
  return any;
}
bool rounding_constant_missing(OpenProgram& open) {
  // Plain programs carry it in the bias: as an immediate, or in the parameters.
  if (open.program.hardware.isa != IsaVersion::kVta) return false;
  const auto* shift = find<AluInstruction>(
      open, [](const auto& a) { return a.opcode == AluOpcode::kShr && a.use_imm && a.imm > 0; });
  if (shift == nullptr) return false;
  const int32_t half = int32_t(1) << (shift->imm - 1);
  if (auto* add = find<AluInstruction>(
          open, [](const auto& a) { return a.opcode == AluOpcode::kAdd && a.use_imm && a.imm != -128; })) {
    const int32_t imm = add->imm;
    for (Instruction& instruction : open.instructions) {
      auto* alu = std::get_if<AluInstruction>(&instruction);
      if (alu != nullptr && alu->opcode == AluOpcode::kAdd && alu->use_imm && alu->imm == imm)
        alu->imm -= half;
    }
    return true;
  }
  const int64_t bytes = open.program.hardware.accumulator_bytes();
  bool any = false;
  std::vector<uint32_t> seen;
  for (Instruction& instruction : open.instructions) {
    const auto* load = std::get_if<MemoryInstruction>(&instruction);
    if (load == nullptr || !is_load(*load, MemoryType::kAccumulator)) continue;
    for (uint32_t element = load->dram_base; element < load->dram_base + load->x_size; ++element) {
      if (std::find(seen.begin(), seen.end(), element) != seen.end()) continue;
      seen.push_back(element);
      for (int64_t lane = 0; lane < bytes; lane += 4) {
        std::byte* at = open.program.memory.data() + int64_t(element) * bytes + lane;
        int32_t value;
        std::memcpy(&value, at, 4);
        value -= half;
        std::memcpy(at, &value, 4);
      }
      any = true;
    }
  }
  return any;
}
bool shift_off_by_one(OpenProgram& open) {
  bool any = false;
  for (Instruction& instruction : open.instructions) {
    auto* alu = std::get_if<AluInstruction>(&instruction);
    if (alu == nullptr || alu->opcode != AluOpcode::kShr || !alu->use_imm || alu->imm <= 0) continue;
    --alu->imm;
    any = true;
  }
  return any;
}
bool maximum_not_taken(OpenProgram& open) {
  bool any = false;
  for (Instruction& instruction : open.instructions) {
    auto* alu = std::get_if<AluInstruction>(&instruction);
    if (alu == nullptr || alu->opcode != AluOpcode::kMin || !alu->use_imm) continue;
    alu->opcode = AluOpcode::kMax;
    any = true;
  }
  return any;
}
bool requantized_by_the_next_block(OpenProgram& open) {
  auto* load =
      find<MemoryInstruction>(open, [](const auto& m) { return is_load(m, MemoryType::kAccumulator); });
  if (load == nullptr) return false;
  ++load->dram_base;
  return true;
}
// The defect of the original runtime: a kernel that was evicted drops out of the image, what follows moves
// up.
bool evicted_kernel_leaves_the_image(OpenProgram& open) {
  std::vector<std::pair<uint32_t, uint32_t>> loads;  // image offset, size
  const auto base = uint32_t(open.program.uop_address / uint64_t(open.program.hardware.uop_bytes()));
  std::vector<bool> dropped_later;
  for (size_t i = 0; i < open.instructions.size(); ++i) {
    const auto* load = std::get_if<MemoryInstruction>(&open.instructions[i]);
    if (load != nullptr && is_load(*load, MemoryType::kUop))
      loads.push_back({load->dram_base - base, load->x_size});
  }
  if (open.program.statistics.evictions == 0 || loads.size() < 3) return false;
  const auto [offset, size] = loads.front();
  if (offset + size >= open.uops.size()) return false;
  const std::vector<MicroOp> before = open.uops;
  std::copy(open.uops.begin() + offset + size, open.uops.end(), open.uops.begin() + offset);
  return before != open.uops;
}
// Of the loads that repeat an earlier one, the first that changes a micro-op in the scratchpad.
bool reload_after_eviction_missing(OpenProgram& open) {
  if (open.program.statistics.uop_reloads == 0) return false;
  const auto base = uint32_t(open.program.uop_address / uint64_t(open.program.hardware.uop_bytes()));
  std::vector<uint32_t> seen;
  std::vector<size_t> held(size_t(open.program.hardware.uop_depth()), open.uops.size());  // image offsets
  for (Instruction& instruction : open.instructions) {
    auto* load = std::get_if<MemoryInstruction>(&instruction);
    if (load == nullptr || !is_load(*load, MemoryType::kUop)) continue;
    bool changes = false;
    for (uint32_t i = 0; i < load->x_size; ++i) {
      size_t& old = held[load->sram_base + i];
      const size_t fresh = load->dram_base - base + i;
      changes = changes || old == open.uops.size() || open.uops[old] != open.uops[fresh];
      old = fresh;
    }
    if (changes && std::find(seen.begin(), seen.end(), load->dram_base) != seen.end()) {
      load->x_size = load->y_size = 0;
      return true;
    }
    seen.push_back(load->dram_base);
  }
  return false;
}
bool weight_blocks_transposed(OpenProgram& open) {
  const auto* load =
      find<MemoryInstruction>(open, [](const auto& m) { return is_load(m, MemoryType::kWeight); });
  const int block = open.program.hardware.block_out;
  // Square blocks of bytes.
  if (load == nullptr || block < 2 || open.program.hardware.weight_bytes() != int64_t{block} * block)
    return false;
  std::byte* weights = open.program.memory.data() + int64_t(load->dram_base) * block * block;
  bool changed = false;
  for (int row = 0; row < block; ++row) {
    for (int col = 0; col < row; ++col) {
      changed = changed || weights[row * block + col] != weights[col * block + row];
      std::swap(weights[row * block + col], weights[col * block + row]);
    }
  }
  return changed;
}
bool second_buffer_reads_the_first(OpenProgram& open) {
  uint32_t second = 0;
  for (const Instruction& instruction : open.instructions) {
    const auto* load = std::get_if<MemoryInstruction>(&instruction);
    if (load != nullptr && is_load(*load, MemoryType::kInput) && load->dependencies.pop_next) break;
    if (load != nullptr && is_load(*load, MemoryType::kInput)) second = std::max(second, load->sram_base);
  }
  if (second == 0) return false;
  bool any = false;
  for (Instruction& instruction : open.instructions) {
    auto* gemm = std::get_if<GemmInstruction>(&instruction);
    if (gemm == nullptr || gemm->reset) continue;
    for (MicroOp& uop : open.uops) {
      if (uop.src < second) continue;
      uop.src -= second;
      any = true;
    }
    break;
  }
  return any;
}
bool finish_does_not_wait(OpenProgram& open) {
  if (open.instructions.size() < 2) return false;
  dependencies(open.instructions[open.instructions.size() - 2]) = {};
  return true;
}
bool accumulator_slot_overlaps(OpenProgram& open) {
  auto* store = find<MemoryInstruction>(open, is_store, -1);
  if (store == nullptr || store->sram_base == 0) return false;
  --store->sram_base;
  return true;
}
bool weights_of_the_next_channels(OpenProgram& open) {
  auto* load = find<MemoryInstruction>(
      open, [](const auto& m) { return is_load(m, MemoryType::kWeight) && m.x_size > 1; });
  if (load == nullptr) return false;
  ++load->dram_base;
  return true;
}

}  // namespace

OpenProgram open_program(overlay::OverlayProgram program) {
  OpenProgram open;
  const auto size = size_t(program.hardware.instruction_bytes()), uop = size_t(program.hardware.uop_bytes());
  for (uint64_t i = 0; i < program.instruction_count; ++i) {
    open.instructions.push_back(overlay::decode_instruction(
        program.hardware, std::span(program.memory).subspan(program.instruction_address + i * size, size)));
  }
  for (uint64_t at = 0; at < program.uop_bytes; at += uop) {
    open.uops.push_back(overlay::decode_uop(
        program.hardware, std::span(program.memory).subspan(program.uop_address + at, uop)));
  }
  open.program = std::move(program);
  return open;
}

overlay::OverlayProgram close_program(OpenProgram open) {
  std::vector<std::byte> bytes;
  for (const Instruction& instruction : open.instructions) encode(open.program.hardware, instruction, bytes);
  std::copy(bytes.begin(), bytes.end(), open.program.memory.begin() + long(open.program.instruction_address));
  bytes.clear();
  for (const MicroOp& uop : open.uops) encode(open.program.hardware, uop, bytes);
  std::copy(bytes.begin(), bytes.end(), open.program.memory.begin() + long(open.program.uop_address));
  return std::move(open.program);
}

std::vector<Bug> all_bugs() {
  return {{"the last row of a tile is not stored", last_row_not_stored},
          {"a tile is stored one element on", store_one_element_on},
          {"the row stride of a store is off by one", store_stride_off_by_one},
          {"a load does not signal", load_push_missing},
          {"compute does not wait for a load", compute_pop_missing},
          {"a load-to-compute token is forgotten on both sides", load_to_compute_forgotten},
          {"a compute-to-load token is forgotten on both sides", compute_to_load_forgotten},
          {"a compute-to-store token is forgotten on both sides", compute_to_store_forgotten},
          {"a store-to-compute token is forgotten on both sides", store_to_compute_forgotten},
          {"left and right padding are swapped", pads_swapped, 0.7},
          {"the top padding is at the bottom", top_pad_at_the_bottom, 0.7},
          {"padding is zero instead of the pad value", padded_with_zero, 0.7},
          {"the row stride of an input load is off by one", input_row_stride_off_by_one, 0.7},
          {"the source factors of the two loops are swapped", source_factors_swapped, 0.7},
          {"the last column of a tile is not computed", last_column_not_computed, 0.7},
          {"a micro-op reads the neighbouring weight", wrong_weight, 0.7},
          {"accumulators are not cleared", accumulators_not_cleared, 0.7},
          {"the rounding constant is missing", rounding_constant_missing, 0.7},
          {"the shift is off by one", shift_off_by_one, 0.7},
          {"minimum and maximum are mixed up", maximum_not_taken, 0.7},
          {"a block is requantised with the next block's parameters", requantized_by_the_next_block, 0.7},
          {"an evicted kernel leaves the micro-op image", evicted_kernel_leaves_the_image, 0.7},
          {"an evicted kernel is not loaded again", reload_after_eviction_missing, 0.7},
          {"a weight block is transposed", weight_blocks_transposed, 0.7},
          {"the second buffer's micro-ops read the first", second_buffer_reads_the_first, 0.7},
          {"FINISH does not wait for the stores", finish_does_not_wait},
          {"a store reads the neighbouring accumulator", accumulator_slot_overlaps, 0.7},
          {"the weights of a tile start one block late", weights_of_the_next_channels, 0.7}};
}

}  // namespace tilewright::seeded_bugs
