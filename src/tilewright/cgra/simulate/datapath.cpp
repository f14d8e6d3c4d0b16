// Links that take clocks are delay lines: what arrives was put on them earlier, so their order does not
// matter. Links within the clock form chains through the tiles; each is settled when it is first asked for,
// and a chain that comes back to itself is a fault.
#include "tilewright/cgra/simulate/datapath.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tilewright::cgra {

Datapath::Datapath(const Configuration& configuration)
    : tiles_(configuration.fabric.tiles()),
      ii_(configuration.ii),
      latency_(configuration.fabric.operation_latency_cycles),
      registers_per_tile_(configuration.fabric.delay_registers),
      hops_(configuration.fabric.hops_per_cycle),
      pass_through_(configuration.fabric.pass_through) {
  entries_.assign(size_t(tiles_) * size_t(ii_), nullptr);
  for (const TileConfiguration& tile : configuration.tiles) {
    busy_tiles_.push_back(tile.tile);
    for (const SpokeEntry& entry : tile.spoke)
      entries_[size_t(tile.tile) * size_t(ii_) + size_t(entry.slot)] = &entry;
  }
  links_of_.assign(size_t(tiles_) * size_t(tiles_), -1);
  for (const FabricLink& given : fabric_links(configuration.fabric)) {
    links_of_[size_t(given.from) * size_t(tiles_) + size_t(given.to)] = int(links_.size());
    Link link;
    link.from = given.from;
    link.to = given.to;
    link.cycles = given.cycles;
    link.carried.resize(size_t(given.cycles));
    links_.push_back(std::move(link));
  }
  results_.resize(size_t(tiles_) * size_t(latency_ + 1));
  registers_.resize(size_t(tiles_) * size_t(registers_per_tile_));
  next_registers_ = registers_;
}

const MovingValue& Datapath::at(int tile, const ValueSource& source) const {
  switch (source.kind) {
    case ValueSource::Kind::kRegister:
      return registers_[register_index(tile, source.index)];
    case ValueSource::Kind::kLink:
      return links_[size_t(link_id(source.index, tile))].arrived;
    case ValueSource::Kind::kResult:
      break;
  }
  return results_[result_index(tile, clock_)];
}

const MovingValue& Datapath::taken(int tile, const ValueSource& source) {
  return source.kind == ValueSource::Kind::kLink ? settle(link_id(source.index, tile)) : at(tile, source);
}

// What arrives over a link within this clock.
const MovingValue& Datapath::settle(int id) {
  Link& link = links_[size_t(id)];
  if (link.settled == clock_) return link.arrived;
  if (link.settling) {
    throw FaultStop{{FaultKind::kTooManyHops, clock_, link.from,
                     fmt::format("routes within the clock form a cycle over the link from tile {} to {}",
                                 link.from, link.to)}};
  }
  link.settling = true;
  link.arrived = {};
  if (const SpokeEntry* entry = this->entry(link.from, int(clock_ % ii_))) {
    for (const SpokeEntry::Output& output : entry->outputs) {
      if (output.to != link.to) continue;
      link.arrived = taken(link.from, output.from);
      ++link.arrived.hops;
    }
  }
  link.settling = false;
  link.settled = clock_;
  if (link.arrived.valid && link.arrived.hops > hops_) {
    throw FaultStop{{FaultKind::kTooManyHops, clock_, link.to,
                     fmt::format("a value of tile {} crosses {} links within the clock, at most {}",
                                 link.arrived.origin_tile, link.arrived.hops, hops_)}};
  }
  return link.arrived;
}

void Datapath::count_passing(int tile, const SpokeEntry& entry) const {
  std::set<std::pair<int, int64_t>> passing;
  for (const SpokeEntry::Output& output : entry.outputs) {
    const MovingValue& value = at(tile, output.from);
    if (value.valid && value.origin_tile != tile) passing.insert({value.origin_tile, value.birth});
  }
  if (int(passing.size()) > pass_through_) {
    throw FaultStop{{FaultKind::kTooManyPassing, clock_, tile,
                     fmt::format("{} values pass tile {}, at most {}", passing.size(), tile, pass_through_)}};
  }
}

void Datapath::move(int64_t clock) {
  clock_ = clock;
  for (Link& link : links_) {
    if (link.cycles == 0) continue;
    link.arrived = std::exchange(link.carried[size_t(clock % link.cycles)], {});
    link.settled = clock;
  }
  for (const int tile : busy_tiles_) {
    const SpokeEntry* entry = this->entry(tile, int(clock % ii_));
    if (!entry) continue;
    for (const SpokeEntry::Output& output : entry->outputs) {
      const int id = link_id(tile, output.to);
      Link& link = links_[size_t(id)];
      if (link.cycles == 0) {
        settle(id);
        continue;
      }
      MovingValue& carried = link.carried[size_t(clock % link.cycles)];
      carried = taken(tile, output.from);
      carried.hops = 0;
    }
    for (const ValueSource& input : entry->inputs) taken(tile, input);
    for (const SpokeEntry::Keep& keep : entry->registers) taken(tile, keep.from);
    if (pass_through_ > 0) count_passing(tile, *entry);
  }
}

void Datapath::start(int tile, int32_t bits) {
  results_[result_index(tile, clock_ + latency_)] = {true, bits, tile, clock_ + latency_, 0};
}

void Datapath::end() {
  std::fill(next_registers_.begin(), next_registers_.end(), MovingValue{});
  for (const int tile : busy_tiles_) {
    if (const SpokeEntry* entry = this->entry(tile, int(clock_ % ii_))) {
      for (const SpokeEntry::Keep& keep : entry->registers) {
        MovingValue& next = next_registers_[register_index(tile, keep.delay_register)];
        next = at(tile, keep.from);
        next.hops = 0;
      }
    }
    results_[result_index(tile, clock_)] = {};
  }
  registers_.swap(next_registers_);
}

}  // namespace tilewright::cgra
