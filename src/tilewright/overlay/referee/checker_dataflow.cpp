// What each instruction does to scratchpads and DRAM, element by element.
#include <algorithm>
#include <string>

#include "tilewright/overlay/referee/program_checker.h"

namespace tilewright::overlay {
namespace {

// Beyond this many iterations of one instruction its elements are not followed one by one.
constexpr uint64_t kMaxFollowedIterations = uint64_t{1} << 24;

uint64_t last_offset(const LoopNest& loop, uint32_t factor_out, uint32_t factor_in) {
  return uint64_t{loop.iter_out - 1} * factor_out + uint64_t{loop.iter_in - 1} * factor_in;
}

// The largest of one index over a micro-op range.
template <typename Index>
uint64_t largest(const std::vector<MicroOp>& uops, const LoopNest& loop, Index index) {
  uint32_t best = 0;
  for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u) best = std::max(best, uops[u].*index);
  return best;
}

uint64_t iterations(const LoopNest& loop) {
  return uint64_t{loop.iter_out} * loop.iter_in * (loop.uop_end - loop.uop_begin);
}

}  // namespace

bool ProgramChecker::in_range(const char* field, uint64_t last, int64_t depth) {
  if (last < uint64_t(depth)) return true;
  error(
      "out of range", field,
      "index reaches " + std::to_string(last) + " of a scratchpad of " + std::to_string(depth) + " elements");
  return false;
}

std::optional<DramRows> ProgramChecker::dram_rows(const MemoryInstruction& i, int64_t bytes) {
  const uint64_t unit = uint64_t(bytes);
  const DramRows rows{i.dram_base * unit, i.x_size * unit, i.x_stride * unit, i.y_size};
  if (program_.memory_bytes != 0 && rows.end() > program_.memory_bytes) {
    error("out of range", "dram_base",
          "reaches byte " + std::to_string(rows.end()) + " of a memory of " +
              std::to_string(program_.memory_bytes));
    return {};
  }
  return rows;
}

void ProgramChecker::race(const ElementTracker& tracker, bool writing, const char* memory, uint32_t element,
                          std::optional<uint32_t> other) {
  if (!other) return;
  const Queue first = writing ? tracker.reader() : tracker.writer();
  error(std::string("race on ") + memory, "",
        std::string(writing ? "writes" : "reads") + " element " + std::to_string(element) + ", which " +
            module_name(first) + " instruction " + std::to_string(order_.instruction(first, *other)) +
            (writing ? " reads" : " writes") + ", and no token orders the two");
}

void ProgramChecker::follow(const MemoryInstruction& i) {
  if (module_of(i) == kComputeQueue) alu_may_run_ = false;
  if (i.x_size == 0) return;
  if (i.is_store) {
    if (i.memory_type == MemoryType::kOutput) follow_store(i);
  } else if (i.memory_type != MemoryType::kOutput) {
    follow_load(i);
  }
}

void ProgramChecker::follow_load(const MemoryInstruction& i) {
  const uint64_t row = uint64_t{i.x_pad_0} + i.x_size + i.x_pad_1;
  uint64_t rows_written = uint64_t{i.y_pad_0} + i.y_size + i.y_pad_1;
  if (transposes(i.memory_type)) rows_written = ceil_div(rows_written, uint64_t(hardware_.block_in));
  const uint64_t total = rows_written * row;
  if (total == 0 ||
      !in_range("sram_base", i.sram_base + total - 1, scratchpad_depth(hardware_, i.memory_type)))
    return;
  if (i.y_size > 0) {
    const std::optional<DramRows> rows = dram_rows(i, element_bytes(hardware_, i.memory_type));
    if (!rows) return;
    const Queue module = module_of(i);
    if (const std::optional<uint32_t> store = dram_.load(order_, module, *rows)) {
      error("race on DRAM", "dram_base",
            "reads bytes that store instruction " + std::to_string(order_.instruction(kStoreQueue, *store)) +
                " writes, and no token orders the two");
    }
  }
  if (i.memory_type == MemoryType::kUop) return load_uops(i);
  if (i.memory_type == MemoryType::kTable || i.memory_type == MemoryType::kWideTable) {
    // Compute loads and reads them, in order.
    auto& loaded = i.memory_type == MemoryType::kTable ? table_loaded_ : wide_table_loaded_;
    for (uint64_t e = i.sram_base; e < i.sram_base + total; ++e) loaded[e] = true;
    return;
  }
  std::optional<uint32_t> conflict;
  uint32_t at = 0;
  ElementTracker& tracker = i.memory_type == MemoryType::kInput ? inputs_
                            : loads_early(i.memory_type)        ? weights_
                                                                : accumulators_;
  for (uint64_t e = i.sram_base; e < i.sram_base + total; ++e) {
    const std::optional<uint32_t> other = tracker.write(order_, uint32_t(e));
    if (other && !conflict) conflict = other, at = uint32_t(e);
    if (&tracker == &accumulators_) output_valid_[e] = false;
  }
  race(tracker, true, memory_type_name(i.memory_type), at, conflict);
}

void ProgramChecker::load_uops(const MemoryInstruction& i) {
  const uint64_t bytes = uint64_t(hardware_.uop_bytes());
  const uint64_t row = uint64_t{i.x_pad_0} + i.x_size + i.x_pad_1;
  bool outside = false;
  for (uint64_t y = 0; y < uint64_t{i.y_pad_0} + i.y_size + i.y_pad_1; ++y) {
    for (uint64_t x = 0; x < row; ++x) {
      const uint64_t target = i.sram_base + y * row + x;
      uops_[target] = MicroOp{};
      uop_loaded_[target] = true;
      if (y < i.y_pad_0 || y >= uint64_t{i.y_pad_0} + i.y_size || x < i.x_pad_0 ||
          x >= uint64_t{i.x_pad_0} + i.x_size) {
        continue;
      }
      const uint64_t address = (i.dram_base + (y - i.y_pad_0) * i.x_stride + (x - i.x_pad_0)) * bytes;
      if (address < program_.uop_address || address - program_.uop_address + bytes > program_.uops.size()) {
        outside = true;
        uop_loaded_[target] = false;
        continue;
      }
      uops_[target] =
          layout_.decode_uop(read_little_endian(&program_.uops[address - program_.uop_address], int(bytes)));
    }
  }
  if (outside) error("loads micro-ops from outside of the micro-op image", "dram_base");
}

void ProgramChecker::follow_store(const MemoryInstruction& i) {
  const uint64_t total = uint64_t{i.y_size} * i.x_size;
  if (total == 0 || !in_range("sram_base", i.sram_base + total - 1, hardware_.accumulator_depth())) return;
  if (const std::optional<DramRows> rows = dram_rows(i, hardware_.output_bytes())) {
    if (const std::optional<DramTracker::Load> load = dram_.store(order_, *rows)) {
      error("race on DRAM", "dram_base",
            std::string("writes bytes that ") + module_name(load->module) + " instruction " +
                std::to_string(order_.instruction(load->module, load->position)) +
                " reads, and no token orders the two");
    }
  }
  std::optional<uint32_t> conflict;
  uint32_t at = 0;
  bool unwritten = false, loaded_only = false;
  for (uint64_t e = i.sram_base; e < i.sram_base + total; ++e) {
    const std::optional<uint32_t> other = accumulators_.read(order_, uint32_t(e));
    if (other && !conflict) conflict = other, at = uint32_t(e);
    unwritten |= !accumulators_.ever_written(uint32_t(e));
    loaded_only |= accumulators_.ever_written(uint32_t(e)) && !output_valid_[e];
  }
  race(accumulators_, false, "acc", at, conflict);
  if (unwritten) warn("stores accumulators that nothing wrote", "sram_base");
  if (loaded_only) {
    not_portable("stores accumulators that no GEMM or ALU wrote since they were loaded or reset", "sram_base",
                 "shift them by 0 first");
  }
}

// Whether every micro-op of the range has been loaded.
bool ProgramChecker::uops_usable(const LoopNest& loop) {
  if (loop.uop_begin >= loop.uop_end || loop.iter_out == 0 || loop.iter_in == 0) return false;
  if (!in_range("uop_end", uint64_t{loop.uop_end} - 1, hardware_.uop_depth())) return false;
  const auto missing =
      std::find(uop_loaded_.begin() + loop.uop_begin, uop_loaded_.begin() + loop.uop_end, false);
  if (missing == uop_loaded_.begin() + loop.uop_end) return true;
  error("uses micro-ops that were never loaded", "uop_begin, uop_end",
        "micro-op " + std::to_string(missing - uop_loaded_.begin()));
  return false;
}

void ProgramChecker::follow(const GemmInstruction& i) {
  alu_may_run_ &= hardware_.gemm_beside_alu && i.beside_alu;
  if (alu_may_run_ && i.dependencies.push_next) {
    error("a GEMM beside an ALU instruction pushes to store", "push_next",
          "store cannot tell its token from one that the ALU instruction's end would push",
          "let the ALU instruction push, or clear beside_alu");
  }
  const LoopNest& l = i.loop;
  if (!uops_usable(l)) return;
  bool ok =
      in_range("dst", largest(uops_, l, &MicroOp::dst) + last_offset(l, l.dst_factor_out, l.dst_factor_in),
               hardware_.accumulator_depth());
  if (!i.reset) {
    ok &=
        in_range("src", largest(uops_, l, &MicroOp::src) + last_offset(l, l.src_factor_out, l.src_factor_in),
                 hardware_.input_depth());
    ok &=
        in_range("wgt", largest(uops_, l, &MicroOp::wgt) + last_offset(l, l.wgt_factor_out, l.wgt_factor_in),
                 hardware_.weight_depth());
  }
  if (!ok) return;
  if (iterations(l) > kMaxFollowedIterations) {
    return warn("too many iterations to follow element by element", "iter_out, iter_in",
                std::to_string(iterations(l)));
  }
  std::optional<uint32_t> conflicts[3];
  uint32_t at[3] = {}, recent[2] = {UINT32_MAX, UINT32_MAX};
  const auto note = [&](int which, std::optional<uint32_t> other, uint32_t element) {
    if (other && !conflicts[which]) conflicts[which] = other, at[which] = element;
  };
  // A reset clears ACC alone on some implementations. Where a block of inputs is several of outputs, the
  // compiler stores cleared lanes without a channel; what they hold means nothing.
  const bool stores_cleared = hardware_.block_out < hardware_.block_in;
  bool reused = false, unwritten = false, unwritten_sums = false;
  unsigned banks = 0;
  for (uint32_t y = 0; y < l.iter_out; ++y) {
    for (uint32_t x = 0; x < l.iter_in; ++x) {
      time_.check();
      for (uint32_t u = l.uop_begin; u < l.uop_end; ++u) {
        const uint32_t d = uops_[u].dst + y * l.dst_factor_out + x * l.dst_factor_in;
        unwritten_sums |= !i.reset && !uops_[u].overwrite && !accumulators_.ever_written(d);
        note(0, accumulators_.write(order_, d), d);
        banks |= bank(d);
        output_valid_[d] = !i.reset || stores_cleared;
        if (i.reset) continue;
        const uint32_t s = uops_[u].src + y * l.src_factor_out + x * l.src_factor_in;
        const uint32_t w = uops_[u].wgt + y * l.wgt_factor_out + x * l.wgt_factor_in;
        note(1, inputs_.read(order_, s), s);
        note(2, weights_.read(order_, w), w);
        unwritten |= !inputs_.ever_written(s) || !weights_.ever_written(w);
        reused |= d == recent[0] || d == recent[1];
        recent[1] = recent[0];
        recent[0] = d;
      }
    }
  }
  if (alu_may_run_ && alu_banks_ != 0 && (banks ^ alu_banks_) != 3u) {
    error("a GEMM beside an ALU instruction uses that one's half of ACC", "dst, beside_alu", "",
          "beside_alu needs one half for each");
  }
  race(accumulators_, true, "acc", at[0], conflicts[0]);
  race(inputs_, false, "inp", at[1], conflicts[1]);
  race(weights_, false, "wgt", at[2], conflicts[2]);
  if (unwritten) warn("reads inputs or weights that nothing wrote", "src, wgt");
  if (unwritten_sums) warn("reads accumulators that nothing wrote", "dst", "", "reset them first");
  if (reused)
    not_portable("a GEMM dst is used again within 2 micro-ops", "dst", "order the micro-ops by dst last");
}

void ProgramChecker::follow(const AluInstruction& i) {
  alu_may_run_ = hardware_.gemm_beside_alu;
  alu_banks_ = 0;
  const LoopNest& l = i.loop;
  if (!uops_usable(l)) return;
  const uint32_t read = elements_read(i), written = elements_written(i.opcode);
  const bool tensor = read > 0, rows = works_on_rows(i.opcode);
  bool ok = in_range(
      "dst",
      largest(uops_, l, &MicroOp::dst) + last_offset(l, l.dst_factor_out, l.dst_factor_in) + written - 1,
      hardware_.accumulator_depth());
  if (tensor) {
    ok &= in_range(
        "src",
        largest(uops_, l, &MicroOp::src) + last_offset(l, l.src_factor_out, l.src_factor_in) + read - 1,
        hardware_.accumulator_depth());
  }
  if (!ok) return;
  if (iterations(l) > kMaxFollowedIterations) {
    return warn("too many iterations to follow element by element", "iter_out, iter_in",
                std::to_string(iterations(l)));
  }
  std::optional<uint32_t> conflict;
  uint32_t at = 0, previous = UINT32_MAX;
  bool unwritten = false, reused = false, elsewhere = false;
  for (uint32_t y = 0; y < l.iter_out; ++y) {
    for (uint32_t x = 0; x < l.iter_in; ++x) {
      time_.check();
      for (uint32_t u = l.uop_begin; u < l.uop_end; ++u) {
        const uint32_t d = uops_[u].dst + y * l.dst_factor_out + x * l.dst_factor_in;
        const uint32_t s = uops_[u].src + y * l.src_factor_out + x * l.src_factor_in;
        unwritten |= i.opcode != AluOpcode::kMove && !rows && !accumulators_.ever_written(d);
        for (uint32_t k = 0; k < read; ++k) unwritten |= !accumulators_.ever_written(s + k);
        elsewhere |= !tensor && s != d;
        alu_banks_ |= bank(d) | bank(d + written - 1) | (tensor ? bank(s) | bank(s + read - 1) : 0);
        reused |= !rows && (d == previous || (tensor && s == previous));
        previous = d;
        for (uint32_t k = 0; k < written; ++k) {
          const std::optional<uint32_t> other = accumulators_.write(order_, d + k);
          if (other && !conflict) conflict = other, at = d + k;
          output_valid_[d + k] = true;
        }
      }
    }
  }
  race(accumulators_, true, "acc", at, conflict);
  if (i.opcode == AluOpcode::kLookup && !table_loaded_.all()) {
    warn("looks up entries of the table that nothing loaded", "alu_opcode");
  }
  if (i.opcode == AluOpcode::kLookupWide && !wide_table_loaded_.all()) {
    warn("looks up entries of the wide table that nothing loaded", "alu_opcode");
  }
  if (unwritten) warn("reads accumulators that nothing wrote", "dst, src");
  if (elsewhere)
    not_portable("an immediate ALU step reads src instead of dst on some implementations", "src",
                 "make src equal dst");
  if (reused) not_portable("an ALU step reads what the step before it wrote", "dst, src");
}

}  // namespace tilewright::overlay
