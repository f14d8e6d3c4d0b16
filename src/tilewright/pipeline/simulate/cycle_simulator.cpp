// The driver's accesses on the models in time. A flat list of streams is looked at in every cycle; it counts
// beats, ends tasks and notices when nothing moves any more.
#include "tilewright/pipeline/simulate/cycle_simulator.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/simulate/cycle_netlist.h"
#include "tilewright/pipeline/simulate/design_host.h"

namespace tilewright::pipeline {
namespace {

constexpr uint64_t kNever = UINT64_MAX;
constexpr int kMostLines = 20;

// The driver's side, with everything counted while it waits for the interrupt.
class Run final : public DesignHost<CycleNetlist> {
 public:
  Run(const Design& design, CycleNetlist& netlist, const SimulationOptions& options)
      : DesignHost(netlist, design, options.memory, options.limit_cycles),
        design_(design),
        options_(options),
        netlist_(netlist),
        watch_(options.deadline) {
    // Longer than any transfer, and than the walk of any component through its longest silent stretch.
    patience_ = 100000 + 100 * uint64_t(options.memory.latency);
    add_counters();
    add_queues();
    restart(options.pause_seed);
  }

  bool wait_for_interrupt() override {
    last_move_ = cycle();
    if (!run([&] { return look(); })) raise_stop();
    end_ = cycle() - 1;  // the cycle in which the interrupt came
    return true;
  }

  SimulationResult result(uint64_t cycles) {
    SimulationResult result;
    result.cycles = cycles;
    const uint64_t start = end_ - cycles;
    result.start = start;
    const auto from_start = [&](uint64_t at) { return at + 1 - start; };
    result.first_image_cycles = options_.images == 1 ? cycles : from_start(first_image_);
    for (const uint64_t at : ends_) result.task_end.push_back(at == kNever ? 0 : from_start(at));
    for (const uint64_t at : image_ends_) result.image_end.push_back(from_start(at));
    for (size_t i = 0; i < counters_.size(); ++i) {
      result.busy[netlist_.streams()[i].name] += counters_[i].beats;
    }
    for (const Queue& queue : queues_) result.fifo_level[queue.name] = queue.highest;
    result.read_beats = read_beats();
    result.write_beats = write_beats();
    return result;
  }

 private:
  struct Counter {
    int valid = 0, ready = 0;
    uint64_t beats = 0;
    uint64_t next_end = kNever;  // the beat with which its next task ends
    size_t next_task = 0;        // in `tasks`
    std::vector<size_t> tasks;   // of Design::tasks
    std::vector<uint64_t> task_beats;
  };
  struct Queue {
    std::string name;
    size_t in = 0, out = 0;  // streams
    int64_t highest = 0;
  };

  void add_counters() {
    for (const CycleNetlist::StreamNets& stream : netlist_.streams()) {
      Counter counter{int(stream.valid), int(stream.ready)};
      uint64_t beats = 0;
      for (size_t t = 0; t < design_.tasks.size(); ++t) {
        if (design_.tasks[t].stream != stream.name) continue;
        counter.tasks.push_back(t);
        counter.task_beats.push_back(beats += uint64_t(design_.tasks[t].beats));
      }
      if (!counter.tasks.empty()) counter.next_end = counter.task_beats[0];
      if (!counter.tasks.empty() && counter.tasks.back() + 1 == design_.tasks.size())
        last_ = counters_.size();
      counters_.push_back(std::move(counter));
    }
    ends_.assign(design_.tasks.size(), kNever);
  }

  void add_queues() {
    const netlist::Module& top = *design_.netlist.module(design_.netlist.top);
    const auto stream_of = [&](netlist::NetId valid) {
      const auto& streams = netlist_.streams();
      const auto it =
          std::find_if(streams.begin(), streams.end(), [&](const auto& s) { return s.valid == valid; });
      return size_t(it - streams.begin());
    };
    for (const netlist::Instance& instance : top.instances) {
      if (instance.module != "stream_fifo") continue;
      const size_t in = stream_of(instance.connections.at("in_valid"));
      const size_t out = stream_of(instance.connections.at("out_valid"));
      if (in < counters_.size() && out < counters_.size()) queues_.push_back({instance.name, in, out});
    }
  }

  void end_task(Counter& counter) {
    ends_[counter.tasks[counter.next_task++]] = cycle();
    counter.next_end =
        counter.next_task < counter.tasks.size() ? counter.task_beats[counter.next_task] : kNever;
  }

  // Whether to go on.
  bool look() {
    watch_.check();
    bool moved = false;
    for (Counter& counter : counters_) {
      if ((netlist_.get(counter.valid) & netlist_.get(counter.ready)) == 0) continue;
      moved = true;
      if (++counter.beats == counter.next_end) end_task(counter);
      if (&counter == &counters_[last_] && counter.beats % counter.task_beats.back() == 0)
        image_ends_.push_back(cycle());
    }
    // Beats of this cycle are not among the memory's yet.
    if (write_beats() < first_image_beats()) first_image_ = cycle();
    if (!moved) return cycle() - last_move_ < patience_;
    last_move_ = cycle();
    for (Queue& queue : queues_) {
      queue.highest =
          std::max(queue.highest, int64_t(counters_[queue.in].beats - counters_[queue.out].beats));
    }
    return true;
  }

  uint64_t first_image_beats() const { return uint64_t(design_.output.bytes / design_.port_bytes); }

  [[noreturn]] void raise_stop() const {
    if (cycle() - last_move_ < patience_) {
      throw Error(ErrorKind::kInfeasible, fmt::format("not done after {} cycles", options_.limit_cycles),
                  "allow more cycles");
    }
    std::string text = fmt::format("nothing has moved since cycle {}", last_move_);
    int lines = 0;
    for (const bool offered : {true, false}) {
      for (const CycleNetlist::StreamNets& stream : netlist_.streams()) {
        const bool valid = netlist_.get(int(stream.valid)) != 0, ready = netlist_.get(int(stream.ready)) != 0;
        if (valid != offered || valid == ready || lines++ >= kMostLines) continue;
        text += valid ? fmt::format("\n  '{}' offers '{}', which '{}' does not take", stream.producer,
                                    stream.name, stream.consumer)
                      : fmt::format("\n  '{}' waits for '{}' of '{}'", stream.consumer, stream.name,
                                    stream.producer);
      }
    }
    throw Error(ErrorKind::kInfeasible, text,
                "deepen the queues between the components that wait for each other");
  }

  const Design& design_;
  const SimulationOptions options_;
  CycleNetlist& netlist_;
  DeadlineWatch watch_;
  std::vector<Counter> counters_;
  std::vector<Queue> queues_;
  std::vector<uint64_t> ends_, image_ends_;
  size_t last_ = 0;  // counter of the last task
  uint64_t patience_ = 0, last_move_ = 0, first_image_ = 0, end_ = 0;
};

}  // namespace

SimulationResult simulate(const Design& design, const SimulationOptions& options) {
  CycleNetlist netlist(design.netlist, design.images);
  Run run(design, netlist, options);
  // Times do not depend on the data.
  const std::vector<int32_t> image(size_t(design.input.source.elements()), 0);
  const DesignRun done = run_design(design, run, {size_t(options.images), image});
  return run.result(done.cycles);
}

}  // namespace tilewright::pipeline
