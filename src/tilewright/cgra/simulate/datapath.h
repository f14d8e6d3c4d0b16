// The synchronous fabric's state from clock to clock: results, links and delay registers of all tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/simulate/fault.h"

namespace tilewright::cgra {

// A value on its way. Bits are all the hardware has; the rest lets the simulator count and explain.
struct MovingValue {
  bool valid = false;
  int32_t bits = 0;
  int origin_tile = -1;
  int64_t birth = 0;  // clock at which it was a result
  int hops = 0;       // links crossed within this clock
};

class Datapath {
 public:
  // Keeps a reference to `configuration`, which has been verified.
  explicit Datapath(const Configuration& configuration);

  // Sets the values of all links for `clock`. Throws FaultStop.
  void move(int64_t clock);
  // The values available on a tile in the clock of the last move().
  const MovingValue& at(int tile, const ValueSource& source) const;
  // The result of an instruction that starts in this clock.
  void start(int tile, int32_t bits);
  // Delay registers take their next values; the clock ends.
  void end();

  // Null where nothing is configured.
  const SpokeEntry* entry(int tile, int slot) const {
    return entries_[size_t(tile) * size_t(ii_) + size_t(slot)];
  }

 private:
  struct Link {
    int from = 0, to = 0, cycles = 0;
    std::vector<MovingValue> carried;  // by clock of departure mod cycles
    MovingValue arrived;               // in the clock `settled`
    int64_t settled = -1;
    bool settling = false;
  };
  int link_id(int from, int to) const { return links_of_[size_t(from) * size_t(tiles_) + size_t(to)]; }
  const MovingValue& settle(int id);
  const MovingValue& taken(int tile, const ValueSource& source);
  void count_passing(int tile, const SpokeEntry& entry) const;
  size_t result_index(int tile, int64_t clock) const {
    return size_t(tile) * size_t(latency_ + 1) + size_t(clock % (latency_ + 1));
  }
  size_t register_index(int tile, int number) const {
    return size_t(tile) * size_t(registers_per_tile_) + size_t(number);
  }

  int tiles_ = 0, ii_ = 1, latency_ = 1, registers_per_tile_ = 0, hops_ = 1, pass_through_ = 0;
  int64_t clock_ = -1;
  std::vector<const SpokeEntry*> entries_;  // [tile][slot]
  std::vector<int> links_of_;               // [from][to] -> link, -1
  std::vector<Link> links_;
  std::vector<MovingValue> results_;                     // [tile][clock mod (latency + 1)]
  std::vector<MovingValue> registers_, next_registers_;  // [tile][register]
  std::vector<int> busy_tiles_;
};

}  // namespace tilewright::cgra
