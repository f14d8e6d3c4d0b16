// Tile memories, and the asynchronous fabric that fills them: messages between tiles, requests to memory and
// the dispatch of arguments, each after a random number of clocks.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/graph/operation.h"

namespace tilewright::cgra {

// Latencies in clocks, uniform between least and most.
struct AsynchronousLatency {
  int least_message = 2, most_message = 12;
  int least_memory = 8, most_memory = 40;
};

class AsynchronousFabric {
 public:
  // Keeps references. `threads`: how many of each argument are dispatched.
  AsynchronousFabric(const Configuration& configuration, const Inputs& inputs, int threads,
                     const AsynchronousLatency& latency, uint64_t seed);

  // Delivers what arrives at `clock`, accepts requests to memory (as many as there are interfaces) and
  // dispatches an argument where an interface is left.
  void advance(int64_t clock);

  int variable(const std::string& name) const { return ids_.at(name); }
  bool holds(int variable, int thread) const;
  bool free(int variable, int thread) const;
  void reserve(int variable, int thread);
  // A read of the thread's value, which is there; the last one frees the entry.
  int32_t read(int variable, int thread);
  int32_t table(int variable, int32_t index) const;
  void write(const MemoryWrite& write, int thread, int32_t value);

  // The value becomes known at `clock` and leaves for the variable.
  void send(int variable, int thread, int32_t value, int64_t clock);
  // A load whose value goes to a variable, or a store (variable -1); `clock`: when the request leaves.
  void request(int variable, int thread, int32_t value, int64_t clock);

  // Nothing is under way.
  bool quiet() const { return messages_.empty() && requests_.empty() && !can_dispatch(); }
  // What is in a variable's entry of the thread, in words.
  std::string state(int variable, int thread) const;
  const std::vector<int32_t>& cells(int variable) const { return states_[size_t(variable)].cells; }

 private:
  struct State {
    const MemoryVariable* given = nullptr;
    int tile = 0;
    std::vector<int32_t> cells;
    std::vector<int> owner;       // per entry: its thread; -1: free
    std::vector<int> reads_left;  // per entry; 0: its value has not come yet
    int dispatched = 0;           // arguments on their way or there
  };
  struct Message {
    int variable = -1, thread = 0;  // variable -1: a store that memory confirms
    int32_t value = 0;
  };
  struct Request {
    int64_t clock = 0;
    Message message;
  };
  size_t entry(int variable, int thread) const {
    return size_t(thread) % states_[size_t(variable)].cells.size();
  }
  void deliver(const Message& message);
  bool can_dispatch() const;
  bool can_dispatch(int variable) const;
  void dispatch(int64_t clock);

  const Inputs& inputs_;
  int threads_ = 0, interfaces_ = 0;
  AsynchronousLatency latency_;
  Random random_;
  std::vector<State> states_;
  std::map<std::string, int> ids_;
  std::vector<int> arguments_;  // variables that the dispatch interface fills
  std::multimap<int64_t, Message> messages_;
  std::deque<Request> requests_;
};

}  // namespace tilewright::cgra
