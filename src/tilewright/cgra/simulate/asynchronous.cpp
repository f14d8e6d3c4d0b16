// An entry of a variable goes through: free, reserved for a thread (its flow has started or its argument is
// on the way), full (the value has come), free again when it has been read. That alone keeps a fast flow from
// overwriting what a slow one still needs.
#include "tilewright/cgra/simulate/asynchronous.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright::cgra {

AsynchronousFabric::AsynchronousFabric(const Configuration& configuration, const Inputs& inputs, int threads,
                                       const AsynchronousLatency& latency, uint64_t seed)
    : inputs_(inputs),
      threads_(threads),
      interfaces_(configuration.fabric.memory_interfaces),
      latency_(latency),
      random_(seed) {
  for (const TileConfiguration& tile : configuration.tiles) {
    for (const MemoryVariable& variable : tile.variables) {
      const size_t entries = size_t(variable.entries);
      ids_[variable.name] = int(states_.size());
      if (variable.argument >= 0) arguments_.push_back(int(states_.size()));
      State state{
          &variable, tile.tile, variable.table, std::vector<int>(entries, -1), std::vector<int>(entries, 0),
          0};
      state.cells.resize(entries, 0);
      states_.push_back(std::move(state));
    }
  }
}

bool AsynchronousFabric::holds(int variable, int thread) const {
  const State& state = states_[size_t(variable)];
  const size_t at = entry(variable, thread);
  return state.owner[at] == thread && state.reads_left[at] > 0;
}

bool AsynchronousFabric::free(int variable, int thread) const {
  return states_[size_t(variable)].owner[entry(variable, thread)] < 0;
}

void AsynchronousFabric::reserve(int variable, int thread) {
  states_[size_t(variable)].owner[entry(variable, thread)] = thread;
}

int32_t AsynchronousFabric::read(int variable, int thread) {
  State& state = states_[size_t(variable)];
  TILEWRIGHT_CHECK(holds(variable, thread), "a flow that has started reads a value that is not there");
  const size_t at = entry(variable, thread);
  if (--state.reads_left[at] == 0) state.owner[at] = -1;
  return state.cells[at];
}

int32_t AsynchronousFabric::table(int variable, int32_t index) const {
  const std::vector<int32_t>& cells = states_[size_t(variable)].cells;
  return cells[table_index(index, cells.size())];
}

void AsynchronousFabric::write(const MemoryWrite& write, int thread, int32_t value) {
  State& state = states_[size_t(variable(write.variable))];
  const int records = int(state.cells.size()) / write.stride;
  state.cells[size_t(thread % records * write.stride + write.offset)] = value;
}

void AsynchronousFabric::send(int variable, int thread, int32_t value, int64_t clock) {
  const int64_t latency = random_.between(latency_.least_message, latency_.most_message);
  messages_.insert({clock + latency, {variable, thread, value}});
}

void AsynchronousFabric::request(int variable, int thread, int32_t value, int64_t clock) {
  requests_.push_back({clock, {variable, thread, value}});
}

void AsynchronousFabric::deliver(const Message& message) {
  if (message.variable < 0) return;
  State& state = states_[size_t(message.variable)];
  const size_t at = entry(message.variable, message.thread);
  TILEWRIGHT_CHECK(state.owner[at] == message.thread && state.reads_left[at] == 0,
                   "a message comes to an entry that does not wait for it");
  state.cells[at] = message.value;
  state.reads_left[at] = state.given->reads;
}

void AsynchronousFabric::advance(int64_t clock) {
  while (!messages_.empty() && messages_.begin()->first <= clock) {
    const Message message = messages_.begin()->second;
    messages_.erase(messages_.begin());
    deliver(message);
  }
  int accepted = 0;
  while (!requests_.empty() && requests_.front().clock <= clock && accepted < interfaces_) {
    const int64_t latency = random_.between(latency_.least_memory, latency_.most_memory);
    messages_.insert({clock + latency, requests_.front().message});
    requests_.pop_front();
    ++accepted;
  }
  if (accepted < std::max(1, interfaces_)) dispatch(clock);
}

bool AsynchronousFabric::can_dispatch(int variable) const {
  const State& state = states_[size_t(variable)];
  return state.dispatched < threads_ && free(variable, state.dispatched);
}

bool AsynchronousFabric::can_dispatch() const {
  return std::any_of(arguments_.begin(), arguments_.end(),
                     [&](int variable) { return can_dispatch(variable); });
}

// The argument that is furthest behind goes next.
void AsynchronousFabric::dispatch(int64_t clock) {
  int chosen = -1;
  for (const int variable : arguments_) {
    if (!can_dispatch(variable)) continue;
    if (chosen < 0 || states_[size_t(variable)].dispatched < states_[size_t(chosen)].dispatched)
      chosen = variable;
  }
  if (chosen < 0) return;
  State& state = states_[size_t(chosen)];
  const int thread = state.dispatched++;
  reserve(chosen, thread);
  send(chosen, thread, argument_value(inputs_, state.given->argument, thread), clock);
}

std::string AsynchronousFabric::state(int variable, int thread) const {
  const State& state = states_[size_t(variable)];
  const size_t at = entry(variable, thread);
  if (state.owner[at] < 0) return fmt::format("entry {} is free", at);
  if (state.reads_left[at] == 0)
    return fmt::format("entry {} waits for the value of thread {}", at, state.owner[at]);
  return fmt::format("entry {} holds the value of thread {}", at, state.owner[at]);
}

}  // namespace tilewright::cgra
