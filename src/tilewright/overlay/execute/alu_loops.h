// ALU instructions on vectors of accumulator lanes. Included by each kernel file inside the region that
// selects its instruction set. The loop nest runs in program order, element by element, because ALU works in
// place.
//
// Vector is a type with: kLanes, Type, load, store, set (all lanes), min, max, add, mul (low 32 bits), shift
// (right arithmetic by y, left by -y where y < 0; saturating amounts), extend (sign-extend from the low 32 -
// up bits), requantize.
#pragma once

#include <cstdint>

#include "tilewright/overlay/execute/kernel_set.h"

namespace tilewright::overlay {
namespace {

// One ALU operation on one vector. Not a lambda: those would be compiled without the selected instruction
// set.
template <class Vector, AluOpcode kOperation, bool kNarrow>
struct AluStep {
  using V = typename Vector::Type;
  int up;  // bits above the accumulator's width
  bool use_imm;
  V imm_vector, low, high;
  int32_t imm;
  size_t lanes;

  V read(const int32_t* p) const {
    const V value = Vector::load(p);
    if constexpr (kNarrow) return Vector::extend(value, up);
    return value;
  }
  void operator()(int32_t* d, const int32_t* s) const {
    if constexpr (kOperation == AluOpcode::kRequantize) {
      V sum = Vector::add(read(d), read(s));
      if constexpr (kNarrow) sum = Vector::extend(sum, up);
      Vector::store(d, Vector::requantize(sum, read(s + lanes), read(s + 2 * lanes), imm, low, high));
    } else if constexpr (kOperation == AluOpcode::kClip) {
      Vector::store(d, Vector::min(Vector::max(read(d), low), high));
    } else {
      Vector::store(d, combine(d, use_imm ? imm_vector : read(s)));
    }
  }
  V combine(const int32_t* d, V y) const {
    if constexpr (kOperation == AluOpcode::kMove) return y;
    const V x = read(d);
    if constexpr (kOperation == AluOpcode::kMin) return Vector::min(x, y);
    if constexpr (kOperation == AluOpcode::kMax) return Vector::max(x, y);
    if constexpr (kOperation == AluOpcode::kAdd) return Vector::add(x, y);
    if constexpr (kOperation == AluOpcode::kShr) return Vector::shift(x, y);
    if constexpr (kOperation == AluOpcode::kMul) return Vector::mul(x, y);
    return x;
  }
};

template <class Vector, AluOpcode kOperation, bool kNarrow>
void run_operation(Scratchpads& pads, const MicroOp* uops, const AluInstruction& alu) {
  const AluStep<Vector, kOperation, kNarrow> step{
      32 - pads.accumulator_bits, alu.use_imm, Vector::set(alu.imm),  Vector::set(alu.clip_low),
      Vector::set(alu.clip_high), alu.imm,     pads.accumulator_lanes};
  const LoopNest& loop = alu.loop;
  const size_t lanes = pads.accumulator_lanes;
  int32_t* const base = pads.accumulator.data();
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      const size_t dst_offset = size_t{y} * loop.dst_factor_out + size_t{x} * loop.dst_factor_in;
      const size_t src_offset = size_t{y} * loop.src_factor_out + size_t{x} * loop.src_factor_in;
      for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u) {
        int32_t* const d = base + (uops[u].dst + dst_offset) * lanes;
        const int32_t* const s = base + (uops[u].src + src_offset) * lanes;
        for (size_t lane = 0; lane < lanes; lane += Vector::kLanes) step(d + lane, s + lane);
      }
    }
  }
}

template <class Vector, bool kNarrow>
void run_alu_width(Scratchpads& pads, const MicroOp* uops, const AluInstruction& alu) {
  switch (alu.opcode) {
    case AluOpcode::kMin:
      return run_operation<Vector, AluOpcode::kMin, kNarrow>(pads, uops, alu);
    case AluOpcode::kMax:
      return run_operation<Vector, AluOpcode::kMax, kNarrow>(pads, uops, alu);
    case AluOpcode::kAdd:
      return run_operation<Vector, AluOpcode::kAdd, kNarrow>(pads, uops, alu);
    case AluOpcode::kShr:
      return run_operation<Vector, AluOpcode::kShr, kNarrow>(pads, uops, alu);
    case AluOpcode::kMul:
      return run_operation<Vector, AluOpcode::kMul, kNarrow>(pads, uops, alu);
    case AluOpcode::kClip:
      return run_operation<Vector, AluOpcode::kClip, kNarrow>(pads, uops, alu);
    case AluOpcode::kMove:
      return run_operation<Vector, AluOpcode::kMove, kNarrow>(pads, uops, alu);
    case AluOpcode::kRequantize:
      return run_operation<Vector, AluOpcode::kRequantize, kNarrow>(pads, uops, alu);
    default:
      return;  // of the executor: lookups on top of requantize, rows
  }
}

template <class Vector>
void run_alu(Scratchpads& pads, const MicroOp* uops, const AluInstruction& alu) {
  if (pads.accumulator_bits == 32) {
    run_alu_width<Vector, false>(pads, uops, alu);
  } else {
    run_alu_width<Vector, true>(pads, uops, alu);
  }
}

}  // namespace
}  // namespace tilewright::overlay
