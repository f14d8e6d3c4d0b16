// Vector clocks (Fidge 1988, Mattern 1989) with tokens as the messages. No channel joins load and store, so
// an order between them goes through a NOP of compute; a module that needs several tokens from one side takes
// all but the last with NOPs of its own.
#include "support/overlay/token_placement_testing.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tilewright::overlay {
namespace {

using Part = TokenPlacement::Part;

constexpr size_t kMostTokens = 20;  // that superfluous ones leave on a channel

int channel(int from, int to) {
  return from == Part::kLoad ? 0 : from == Part::kStore ? 3 : to == Part::kLoad ? 1 : 2;
}

Dependencies& dependencies(Instruction& instruction) {
  return std::visit([](auto& i) -> Dependencies& { return i.dependencies; }, instruction);
}
bool& pop_bit(Dependencies& d, int from, int to) { return from < to ? d.pop_prev : d.pop_next; }
bool& push_bit(Dependencies& d, int from, int to) { return from < to ? d.push_next : d.push_prev; }

Instruction nop(int part) {
  MemoryInstruction i;
  i.is_store = part == Part::kStore;
  i.memory_type = part == Part::kLoad    ? MemoryType::kInput
                  : part == Part::kStore ? MemoryType::kOutput
                                         : MemoryType::kUop;
  return i;
}

}  // namespace

// Appends with the pops that were collected for it.
void TokenPlacement::add(int part, Instruction instruction) {
  if (part == kCompute) {
    const auto* gemm = std::get_if<GemmInstruction>(&instruction);
    beside_ = gemm != nullptr && gemm->beside_alu;
  }
  dependencies(instruction) = pops_[size_t(part)];
  pops_[size_t(part)] = {};
  instructions_.push_back(std::move(instruction));
  last_[size_t(part)] = uint32_t(instructions_.size());
  clocks_[size_t(part)][size_t(part)] = last_[size_t(part)];
  for (const int to : {part - 1, part + 1}) {
    if (to < 0 || to >= kParts || !chatty_ || tokens_[size_t(channel(part, to))].size() > kMostTokens)
      continue;
    if (random_.chance(0.25) && !(part == kCompute && to == kStore && beside_)) push(part, to);
  }
}

// Adds a token to the last instruction of `from`. A GEMM beside an ALU instruction may be done before it, so
// its token would promise store too much.
void TokenPlacement::push(int from, int to) {
  if (from == kCompute && to == kStore && beside_) add(kCompute, nop(kCompute));
  bool& bit = push_bit(dependencies(instructions_[last_[size_t(from)] - 1]), from, to);
  if (bit) return;  // the NOP came with one
  bit = true;
  tokens_[size_t(channel(from, to))].push_back(clocks_[size_t(from)]);
}

// The next instruction of `to` takes a token; one takes at most one from each side.
void TokenPlacement::pop(int from, int to) {
  if (pop_bit(pops_[size_t(to)], from, to)) add(to, nop(to));
  pop_bit(pops_[size_t(to)], from, to) = true;
  std::deque<Clock>& queue = tokens_[size_t(channel(from, to))];
  Clock& clock = clocks_[size_t(to)];
  for (size_t p = 0; p < kParts; ++p) clock[p] = std::max(clock[p], queue.front()[p]);
  queue.pop_front();
}

// Makes the next instruction of `to` start after instruction `number` of `from` is done.
void TokenPlacement::order(int from, uint32_t number, int to) {
  if (clocks_[size_t(to)][size_t(from)] >= number) return;
  if (from != kCompute && to != kCompute) {
    order(from, number, kCompute);
    add(kCompute, nop(kCompute));
    return order(kCompute, last_[kCompute], to);
  }
  while (clocks_[size_t(to)][size_t(from)] < number) {
    if (tokens_[size_t(channel(from, to))].empty()) push(from, to);
    pop(from, to);
  }
}

void TokenPlacement::append(Part part, const Instruction& instruction, const Accesses& accesses) {
  Clock needed{};
  const auto need = [&](const Clock& clock) {
    for (size_t p = 0; p < kParts; ++p) needed[p] = std::max(needed[p], clock[p]);
  };
  for (const Touched* t : accesses.reads) need(t->written);
  for (const Touched* t : accesses.writes) need(t->written), need(t->read);
  for (int other = 0; other < kParts; ++other) {
    if (other != part) order(other, needed[size_t(other)], part);
  }
  for (const int from : {part - 1, part + 1}) {
    if (from < 0 || from >= kParts || tokens_[size_t(channel(from, part))].empty()) continue;
    if (!pop_bit(pops_[part], from, part) && random_.chance(0.25)) pop(from, part);
  }
  add(part, instruction);
  for (Touched* t : accesses.reads) t->read[part] = last_[part];
  for (Touched* t : accesses.writes) t->written[part] = last_[part];
}

void TokenPlacement::drain(int from, int to) {
  while (!tokens_[size_t(channel(from, to))].empty()) pop(from, to);
  add(to, nop(to));
}

void TokenPlacement::finish() {
  chatty_ = false;
  drain(kCompute, kLoad);
  drain(kCompute, kStore);
  order(kLoad, last_[kLoad], kCompute);
  order(kStore, last_[kStore], kCompute);
  drain(kLoad, kCompute);
  drain(kStore, kCompute);
  add(kCompute, FinishInstruction{});
}

}  // namespace tilewright::overlay
