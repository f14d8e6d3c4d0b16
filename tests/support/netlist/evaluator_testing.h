// Runs small designs without components, clock by clock, two-state, nets of at most 64 bits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/netlist/operation.h"

namespace tilewright::netlist {

// Words of memories by the file names that netlists give.
using MemoryContents = std::map<std::string, std::vector<uint64_t>>;

// A cycle is: set inputs, settle(), look at outputs, edge().
class Evaluator {
 public:
  // A verified design. As after power-up: memories and what they last read as `contents` say or zero, and not
  // reset. Errors (unsupported): components, wider nets; (invalid input): contents that are missing.
  explicit Evaluator(const Netlist& design, const MemoryContents& contents = {});
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // A port of the top. Errors (internal): there is none.
  int port(const std::string& name) const;
  uint64_t get(int port) const { return values_[size_t(port)]; }
  void set(int port, uint64_t value) { values_[size_t(port)] = value; }

  void settle();
  // The rising edge, with rst as given.
  void edge(bool reset = false);
  // Holds rst for four cycles with the inputs as they are.
  void reset();

 private:
  struct Words {
    std::vector<uint64_t> words;
    std::vector<uint64_t> read;  // what each port shows
  };
  struct Queue {
    std::vector<uint64_t> words;
    uint64_t head = 0, tail = 0, count = 0;
  };
  struct Delay {
    std::vector<uint64_t> stages;
    int phase = 0;
  };

  void order_operators();
  bool high(NetId net) const { return net == kNoNet || values_[size_t(net)] != 0; }
  uint64_t value(NetId net) const { return values_[size_t(net)]; }
  void step_memories();
  void step_queues(bool reset);
  void step_delays(bool reset);
  void step_machines(bool reset);
  void show();

  const Module module_;
  std::vector<uint64_t> values_;  // by net
  std::vector<CellOperator> operators_;
  std::vector<uint64_t> registers_;
  std::vector<Words> memories_;
  std::vector<Queue> queues_;
  std::vector<Delay> delays_;
  std::vector<size_t> states_;
};

}  // namespace tilewright::netlist
