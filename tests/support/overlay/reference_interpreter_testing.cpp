// Unpacks lanes narrower than a byte bit by bit and wraps every result to the accumulator's width. run()
// decodes the whole program into three queues and visits them in turn, each as far as its tokens allow.
#include "support/overlay/reference_interpreter_testing.h"

#include <algorithm>
#include <deque>
#include <string>

#include "tilewright/tensor/quantized_arithmetic.h"

namespace tilewright::overlay {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorKind::kInvalidInput, what);
}

// What a weight or input field of `bits` bits holds: two's complement, one bit as it is.
int8_t lane_of(int32_t field, int bits) { return int8_t(bits == 1 ? field & 1 : field); }

// -1 or +1.
int32_t bipolar(int8_t bit) { return bit != 0 ? 1 : -1; }

// Field `index` of `bits` bits, signed, in the bytes from `bytes` on.
int32_t signed_field(std::span<const std::byte> bytes, int64_t index, int bits) {
  if (bits >= 8) return wrap(int64_t(read_little_endian(&bytes[size_t(index * bits / 8)], bits / 8)), bits);
  uint64_t value = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const int64_t position = index * bits + bit;
    value |= uint64_t((unsigned(bytes[size_t(position / 8)]) >> (position % 8)) & 1u) << bit;
  }
  return wrap(int64_t(value), bits);
}

void set_field(std::span<std::byte> bytes, int64_t index, int bits, int32_t value) {
  for (int bit = 0; bit < bits; ++bit) {
    const int64_t position = index * bits + bit;
    std::byte& byte = bytes[size_t(position / 8)];
    const std::byte mask = std::byte(1u << (position % 8));
    byte = (uint32_t(value) >> bit & 1u) != 0 ? byte | mask : byte & ~mask;
  }
}

const Dependencies& dependencies_of(const Instruction& instruction) {
  return std::visit([](const auto& i) -> const Dependencies& { return i.dependencies; }, instruction);
}

}  // namespace

ReferenceInterpreter::ReferenceInterpreter(OverlayHardware hardware)
    : hardware_(std::move(hardware)),
      layout_(hardware_),
      lanes_(int64_t{hardware_.batch} * hardware_.block_out),
      inputs_(size_t(hardware_.input_depth() * hardware_.batch * hardware_.block_in)),
      weights_(size_t(hardware_.weight_depth() * hardware_.block_out * hardware_.block_in)),
      accumulators_(size_t(hardware_.accumulator_depth() * lanes_)),
      uops_(size_t(hardware_.uop_depth())) {}

void ReferenceInterpreter::load_element(const MemoryInstruction& i, int64_t index,
                                        std::span<const std::byte> dram, int64_t dram_index) {
  const int64_t bytes = element_bytes(hardware_, i.memory_type);
  require((dram_index + 1) * bytes <= int64_t(dram.size()), "LOAD outside of the memory");
  const auto element = dram.subspan(size_t(dram_index * bytes), size_t(bytes));
  if (i.memory_type == MemoryType::kUop) {
    uops_[size_t(index)] = layout_.decode_uop(read_little_endian(element.data(), int(bytes)));
  } else if (i.memory_type == MemoryType::kInput) {
    const int64_t lanes = int64_t{hardware_.batch} * hardware_.block_in;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      inputs_[size_t(index * lanes + lane)] =
          lane_of(signed_field(element, lane, hardware_.input_bits), hardware_.input_bits);
    }
  } else if (i.memory_type == MemoryType::kWeight) {
    const int64_t lanes = int64_t{hardware_.block_out} * hardware_.block_in;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      weights_[size_t(index * lanes + lane)] =
          lane_of(signed_field(element, lane, hardware_.weight_bits), hardware_.weight_bits);
    }
  } else if (i.memory_type == MemoryType::kTable) {
    table_[size_t(index)] = int8_t(element[0]);
  } else if (i.memory_type == MemoryType::kWideTable) {
    wide_table_[size_t(index)] = signed_field(element, 0, 32);
  } else {
    const int bits = i.memory_type == MemoryType::kAccumulator8 ? 8 : hardware_.accumulator_bits;
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      accumulators_[size_t(index * lanes_ + lane)] = signed_field(element, lane, bits);
    }
  }
}

void ReferenceInterpreter::pad_element(const MemoryInstruction& i, int64_t index) {
  if (i.memory_type == MemoryType::kUop) {
    uops_[size_t(index)] = MicroOp{};
  } else if (i.memory_type == MemoryType::kInput) {
    const int64_t lanes = int64_t{hardware_.batch} * hardware_.block_in;
    std::fill_n(inputs_.begin() + index * lanes, lanes,
                lane_of(wrap(i.pad_value, hardware_.input_bits), hardware_.input_bits));
  } else if (i.memory_type == MemoryType::kWeight) {
    const int64_t lanes = int64_t{hardware_.block_out} * hardware_.block_in;
    std::fill_n(weights_.begin() + index * lanes, lanes,
                lane_of(wrap(i.pad_value, hardware_.weight_bits), hardware_.weight_bits));
  } else if (i.memory_type == MemoryType::kTable) {
    table_[size_t(index)] = int8_t(wrap(i.pad_value, 8));
  } else if (i.memory_type == MemoryType::kWideTable) {
    wide_table_[size_t(index)] = i.pad_value;
  } else {
    std::fill_n(accumulators_.begin() + index * lanes_, lanes_,
                wrap(i.pad_value, hardware_.accumulator_bits));
  }
}

void ReferenceInterpreter::store_element(int64_t index, std::span<std::byte> dram, int64_t dram_index) {
  const int64_t bytes = hardware_.output_bytes();
  require((dram_index + 1) * bytes <= int64_t(dram.size()), "STORE outside of the memory");
  const auto element = dram.subspan(size_t(dram_index * bytes), size_t(bytes));
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    set_field(element, lane, hardware_.output_bits, accumulators_[size_t(index * lanes_ + lane)]);
  }
}

void ReferenceInterpreter::execute(const MemoryInstruction& i, std::span<std::byte> dram) {
  if (i.x_size == 0) return;
  require(i.is_store == (i.memory_type == MemoryType::kOutput), "LOAD of OUT or STORE of another memory");
  const int64_t bytes = element_bytes(hardware_, i.memory_type);
  if (i.is_store) {
    if (i.y_size == 0) return;
    require(int64_t{i.sram_base} + int64_t{i.y_size} * i.x_size <= scratchpad_depth(hardware_, i.memory_type),
            "STORE outside of OUT");
    for (int64_t y = 0; y < i.y_size; ++y) {
      for (int64_t x = 0; x < i.x_size; ++x) {
        store_element(i.sram_base + y * i.x_size + x, dram, i.dram_base + y * i.x_stride + x);
        counters_.output_store_bytes += uint64_t(bytes);
      }
    }
    return;
  }
  const int64_t rows = int64_t{i.y_pad_0} + i.y_size + i.y_pad_1,
                columns = int64_t{i.x_pad_0} + i.x_size + i.x_pad_1;
  if (rows == 0) return;
  if (transposes(i.memory_type)) return load_transposed(i, dram);
  require(i.sram_base + rows * columns <= scratchpad_depth(hardware_, i.memory_type),
          "LOAD outside of a scratchpad");
  uint64_t& moved = i.memory_type == MemoryType::kUop      ? counters_.uop_load_bytes
                    : i.memory_type == MemoryType::kInput  ? counters_.input_load_bytes
                    : i.memory_type == MemoryType::kWeight ? counters_.weight_load_bytes
                                                           : counters_.accumulator_load_bytes;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t y = row - i.y_pad_0, x = column - i.x_pad_0, index = i.sram_base + row * columns + column;
      if (y < 0 || y >= i.y_size || x < 0 || x >= i.x_size) {
        pad_element(i, index);
      } else {
        load_element(i, index, dram, i.dram_base + y * i.x_stride + x);
        moved += uint64_t(bytes);
      }
    }
  }
}

// Lane by lane: element (row, column) of the padded box is row, or column, `row` modulo the block.
void ReferenceInterpreter::load_transposed(const MemoryInstruction& i, std::span<const std::byte> dram) {
  const int64_t block = hardware_.block_in, columns = int64_t{i.x_pad_0} + i.x_size + i.x_pad_1;
  const int64_t rows = int64_t{i.y_pad_0} + i.y_size + i.y_pad_1;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t target = i.sram_base + row / block * columns + column;
      require(target < hardware_.weight_depth(), "LOAD outside of WGT");
      const int64_t y = row - i.y_pad_0, x = column - i.x_pad_0;
      const bool inside = y >= 0 && y < i.y_size && x >= 0 && x < i.x_size;
      const int64_t source = (i.dram_base + y * i.x_stride + x) * block;
      require(!inside || source + block <= int64_t(dram.size()), "LOAD outside of the memory");
      for (int64_t lane = 0; lane < block; ++lane) {
        const bool as_row = i.memory_type == MemoryType::kWeightRows;
        const int64_t place = as_row ? row % block * block + lane : lane * block + row % block;
        weights_[size_t(target * block * block + place)] =
            inside ? int8_t(dram[size_t(source + lane)]) : int8_t(wrap(i.pad_value, 8));
      }
      if (inside) counters_.weight_load_bytes += uint64_t(block);
    }
  }
}

void ReferenceInterpreter::execute(const GemmInstruction& i, std::span<std::byte>) {
  const LoopNest& l = i.loop;
  require(l.uop_end <= hardware_.uop_depth(), "GEMM beyond the micro-op scratchpad");
  for (int64_t y = 0; y < l.iter_out; ++y) {
    for (int64_t x = 0; x < l.iter_in; ++x) {
      for (uint32_t u = l.uop_begin; u < l.uop_end; ++u) {
        const MicroOp& op = uops_[u];
        const int64_t d = op.dst + y * l.dst_factor_out + x * l.dst_factor_in;
        const int64_t s = op.src + y * l.src_factor_out + x * l.src_factor_in;
        const int64_t w = op.wgt + y * l.wgt_factor_out + x * l.wgt_factor_in;
        require(d < hardware_.accumulator_depth(), "GEMM dst outside of ACC");
        int32_t* acc = &accumulators_[size_t(d * lanes_)];
        if (i.reset) {
          std::fill_n(acc, lanes_, 0);
          ++counters_.gemm_reset_uops;
          continue;
        }
        require(s < hardware_.input_depth() && w < hardware_.weight_depth(), "GEMM src or wgt out of range");
        const int columns = hardware_.block_in;
        const bool bipolar_inputs = hardware_.input_bits == 1 && i.bipolar;
        const bool bipolar_weights = hardware_.weight_bits == 1;
        for (int b = 0; b < hardware_.batch; ++b) {
          const int8_t* input = &inputs_[size_t((s * hardware_.batch + b) * columns)];
          for (int o = 0; o < hardware_.block_out; ++o, ++acc) {
            const int8_t* weight = &weights_[size_t((w * hardware_.block_out + o) * columns)];
            int32_t sum = 0;
            for (int k = 0; k < columns; ++k) {
              sum += (bipolar_inputs ? bipolar(input[k]) : int32_t{input[k]}) *
                     (bipolar_weights ? bipolar(weight[k]) : int32_t{weight[k]});
            }
            *acc = wrap((op.overwrite ? int64_t{0} : int64_t{*acc}) + sum, hardware_.accumulator_bits);
          }
        }
        ++counters_.gemm_uops;
      }
    }
  }
}

namespace {

// In 128 bits, so that no step can overflow before the definition says so: a single rounding is modulo 2^64.
int64_t requantize_product(__int128 product, int32_t shift) {
  const int amount = shift & 63;
  if ((shift & 96) == 96) {
    const __int128 first = (product + (__int128{1} << 30)) >> 31, unit = __int128{1} << (amount - 31);
    const __int128 magnitude = first < 0 ? -first : first, rounded = (2 * magnitude + unit) / (2 * unit);
    return int64_t(first < 0 ? -rounded : rounded);
  }
  const __int128 half = amount == 0 ? 0 : __int128{1} << (amount - 1);
  return int64_t(uint64_t(product + half)) >> amount;
}

}  // namespace

int32_t ReferenceInterpreter::alu_result(const AluInstruction& alu, int32_t x, int64_t source,
                                         int lane) const {
  const int bits = hardware_.accumulator_bits;
  const auto operand = [&](int64_t offset) {
    return accumulators_[size_t((source + offset) * lanes_ + lane)];
  };
  const auto y = [&] { return alu.use_imm ? alu.imm : operand(0); };
  switch (alu.opcode) {
    case AluOpcode::kMin:
      return std::min(x, y());
    case AluOpcode::kMax:
      return std::max(x, y());
    case AluOpcode::kAdd:
      return wrap(int64_t{x} + y(), bits);
    case AluOpcode::kShr: {
      const int64_t amount = y();
      if (amount >= 0) return int32_t(int64_t{x} >> std::min<int64_t>(amount, 31));
      return amount <= -32 ? 0 : wrap(int64_t(uint64_t(int64_t{x}) << -amount), bits);
    }
    case AluOpcode::kMul:
      return wrap(int64_t{x} * y(), bits);
    case AluOpcode::kMove:
      return y();
    case AluOpcode::kClip:
      return std::min(std::max(x, alu.clip_low), alu.clip_high);
    case AluOpcode::kRequantize:
    case AluOpcode::kLookup:
    case AluOpcode::kLookupWide: {
      const int64_t sum = wrap(int64_t{x} + operand(0), bits);
      const int64_t scaled = requantize_product(__int128{sum} * operand(1), operand(2));
      const auto result =
          int32_t(std::min<int64_t>(std::max<int64_t>(scaled + alu.imm, alu.clip_low), alu.clip_high));
      if (alu.opcode == AluOpcode::kLookupWide) return wide_table_[uint8_t(result + 128)];
      return alu.opcode == AluOpcode::kLookup ? table_[uint8_t(result + 128)] : result;
    }
    default:
      return 0;  // operations on rows
  }
}

namespace {

// The largest r with r * r * highest <= 2^62, by bisection.
int32_t root_of_inverse(uint64_t highest) {
  uint64_t low = 0, high = uint64_t{1} << 17;
  while (high - low > 1) {
    const uint64_t r = (low + high) / 2;
    ((unsigned __int128){r} * r * highest <= (unsigned __int128){1} << 62 ? low : high) = r;
  }
  return int32_t(low);
}

}  // namespace

// From the page, in 128 bits; everything wraps where it says so.
void ReferenceInterpreter::execute_rows(const AluInstruction& i) {
  const LoopNest& l = i.loop;
  if (l.iter_out == 0 || l.iter_in == 0 || l.uop_begin >= l.uop_end) return;
  const auto write = [&](int64_t y, const int32_t* numbers) {
    const int64_t d = uops_[l.uop_begin].dst + y * l.dst_factor_out;
    for (int k = 0; k < 3; ++k) std::fill_n(accumulators_.begin() + (d + k) * lanes_, lanes_, numbers[k]);
  };
  int32_t out[3] = {}, held[3] = {};  // of this row, of the one before
  for (int64_t y = 0; y < l.iter_out; ++y) {
    std::copy_n(out, 3, held);
    std::vector<int32_t> row;
    for (int64_t x = 0; x < l.iter_in; ++x) {
      for (uint32_t u = l.uop_begin; u < l.uop_end; ++u) {
        const int64_t d = uops_[u].dst + y * l.dst_factor_out + x * l.dst_factor_in;
        const int64_t s = uops_[u].src + y * l.src_factor_out + x * l.src_factor_in;
        require(d + 2 < hardware_.accumulator_depth(), "ALU dst outside of ACC");
        require(s < hardware_.accumulator_depth(), "ALU src outside of ACC");
        const bool last = x + 1 == l.iter_in && u + 1 == l.uop_end;
        const int64_t lanes = last ? std::min<int64_t>(i.imm & 0xFFFF, lanes_) : lanes_;
        row.insert(row.end(), &accumulators_[size_t(s * lanes_)], &accumulators_[size_t(s * lanes_)] + lanes);
        ++counters_.alu_uops;
        counters_.alu_lanes += uint64_t(lanes_);
      }
    }
    const auto number = (unsigned __int128)(uint64_t(uint32_t(i.clip_high)) << 32 | uint32_t(i.clip_low));
    if (y > 0) write(y - 1, held);
    out[0] = out[2] = 0, out[1] = 1;
    if (i.opcode == AluOpcode::kRowMax) {
      int64_t largest = INT32_MIN;
      for (const int32_t value : row) largest = std::max<int64_t>(largest, value);
      out[0] = wrap(-largest, 32);
    } else if (i.opcode == AluOpcode::kRowDivide) {
      uint32_t sum = 0;
      for (const int32_t value : row) sum += uint32_t(value);
      const unsigned __int128 quotient = sum == 0 ? ~(unsigned __int128){0} : number / sum;
      out[1] = int32_t(std::min<unsigned __int128>(quotient, INT32_MAX));
      out[2] = i.imm >> 16 & 63;
    } else {
      int64_t sum = 0;
      uint64_t squares = 0;
      for (const int32_t value : row) {
        sum += wrap(value, 17);
        squares += uint64_t(int64_t{wrap(value, 17)} * wrap(value, 17));
      }
      const int64_t s = (i.imm >> 20 & 1) != 0 ? wrap(sum, 32) : 0;
      const int fraction = i.imm >> 16 & 15;
      const uint64_t v64 = ((uint64_t(row.size() % 65536) * (squares % (uint64_t{1} << 48)) - uint64_t(s * s))
                            << 2 * fraction) +
                           uint64_t(number);
      const unsigned __int128 v = v64 == 0 ? 1 : v64;
      int g = 1;
      while (v >= (unsigned __int128){1} << 2 * g) ++g;
      out[0] = wrap(-s, 32);
      out[1] = root_of_inverse(uint64_t((v << (64 - 2 * g)) >> 32));
      out[2] = std::max(0, g - 1 - fraction);
    }
  }
  write(l.iter_out - 1, out);
}

void ReferenceInterpreter::execute(const AluInstruction& i, std::span<std::byte>) {
  const LoopNest& l = i.loop;
  require(l.uop_end <= hardware_.uop_depth(), "ALU beyond the micro-op scratchpad");
  if (works_on_rows(i.opcode)) return execute_rows(i);
  const bool requantize = requantizes(i.opcode);
  const bool reads = requantize || (!i.use_imm && i.opcode != AluOpcode::kClip);
  for (int64_t y = 0; y < l.iter_out; ++y) {
    for (int64_t x = 0; x < l.iter_in; ++x) {
      for (uint32_t u = l.uop_begin; u < l.uop_end; ++u) {
        const int64_t d = uops_[u].dst + y * l.dst_factor_out + x * l.dst_factor_in;
        const int64_t s = uops_[u].src + y * l.src_factor_out + x * l.src_factor_in;
        require(d < hardware_.accumulator_depth(), "ALU dst outside of ACC");
        require(!reads || s + (requantize ? 2 : 0) < hardware_.accumulator_depth(), "ALU src outside of ACC");
        for (int lane = 0; lane < lanes_; ++lane) {
          int32_t& target = accumulators_[size_t(d * lanes_ + lane)];
          target = wrap(alu_result(i, target, s, lane), hardware_.accumulator_bits);
        }
        ++counters_.alu_uops;
        counters_.alu_lanes += uint64_t(lanes_);
      }
    }
  }
}

RunCounters ReferenceInterpreter::run(std::span<std::byte> dram, uint64_t address, uint64_t count) {
  const uint64_t bytes = uint64_t(hardware_.instruction_bytes());
  require(address <= dram.size() && count <= (dram.size() - address) / bytes,
          "program outside of the memory");
  // Queues 0 load, 1 compute, 2 store; forward[q] from queue q to q + 1, backward[q] from q + 1 to q.
  std::deque<Instruction> queues[3];
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t words[IsaLayout::kMaxWords];
    for (int w = 0; w < layout_.words; ++w)
      words[w] = read_little_endian(&dram[address + i * bytes + 8u * unsigned(w)], 8);
    const Instruction instruction = layout_.decode(words);
    const auto* memory = std::get_if<MemoryInstruction>(&instruction);
    const bool early = memory != nullptr && loads_early(memory->memory_type);
    require(std::holds_alternative<FinishInstruction>(instruction) == (i + 1 == count),
            "FINISH must be the last");
    queues[memory != nullptr && memory->is_store ? 2 : early ? 0 : 1].push_back(instruction);
  }
  require(count > 0, "no FINISH");
  int64_t forward[2] = {}, backward[2] = {};
  counters_ = RunCounters{};
  counters_.instructions = count;
  for (bool progress = true; progress;) {
    progress = false;
    for (int q = 0; q < 3; ++q) {
      while (!queues[q].empty()) {
        const Instruction instruction = queues[q].front();
        const Dependencies& d = dependencies_of(instruction);
        if (q > 0 && d.pop_prev && forward[q - 1] == 0) break;
        if (q < 2 && d.pop_next && backward[q] == 0) break;
        if (q > 0 && d.pop_prev) --forward[q - 1];
        if (q < 2 && d.pop_next) --backward[q];
        std::visit([&](const auto& i) { execute(i, dram); }, instruction);
        if (q > 0 && d.push_prev) ++backward[q - 1];
        if (q < 2 && d.push_next) ++forward[q];
        queues[q].pop_front();
        progress = true;
      }
    }
  }
  require(queues[0].empty() && queues[1].empty() && queues[2].empty(), "deadlock");
  return counters_;
}

}  // namespace tilewright::overlay
