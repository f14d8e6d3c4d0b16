// The parts of a design stand in sections of its netlist, one for each layer or engine. An engine's time is
// cut where its tasks end, which the cycle simulator knows to the cycle.
#include "tilewright/flow/design/design_energy.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright {
namespace {

const std::string kWires = "wires between parts";
const std::string kPorts = "memory ports";

// A part of the top module.
struct Part {
  std::string module, section;
  std::string engine;  // empty: no engine's
};

std::string layer_name(const DesignFolder& folder, size_t layer) {
  return "layer " + std::to_string(layer) + ", " + folder.network.layers[layer].name;
}

// By the names that the Verilog has.
std::map<std::string, Part> parts_of(const DesignFolder& folder) {
  const pipeline::Design& design = folder.design;
  const netlist::Module* const top = design.netlist.module(design.netlist.top);
  TILEWRIGHT_CHECK(top != nullptr, "a design without its top");
  const std::vector<std::string> names = netlist::printed_instances(*top);
  std::map<std::string, Part> parts;
  size_t section = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    while (section + 1 < top->sections.size() && top->sections[section + 1].instances <= i) ++section;
    Part& part = parts[names[i]];
    part.module = top->instances[i].module;
    if (top->sections.empty() || top->sections[section].heading.empty()) {
      part.section = names[i];
      continue;
    }
    part.section = top->sections[section].heading.front();
    if (part.section.starts_with("engine ")) part.engine = part.section.substr(part.section.find(", ") + 2);
    if (part.section.starts_with("layer ")) {
      part.section = layer_name(folder, size_t(std::stoll(part.section.substr(std::strlen("layer ")))));
    }
  }
  return parts;
}

// When each engine goes from one task to the next, in one run of one image.
class Tasks {
 public:
  Tasks(const pipeline::Design& design, const MemoryModel& memory) {
    if (design.streaming) return;
    pipeline::SimulationOptions options;
    options.memory = memory;
    const pipeline::SimulationResult run = pipeline::simulate(design, options);
    for (size_t t = 0; t < design.tasks.size() && t < run.task_end.size(); ++t) {
      if (design.tasks[t].layer < 0) continue;
      const uint64_t end = run.start + run.task_end[t];
      ends_[design.tasks[t].engine].push_back({end, design.tasks[t].layer});
      marks_.push_back(end);
    }
    std::sort(marks_.begin(), marks_.end());
    marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
    for (auto& [engine, ends] : ends_) std::sort(ends.begin(), ends.end());
  }

  const std::vector<uint64_t>& marks() const { return marks_; }
  // The layer of an engine in an interval between marks; -1: behind its last task.
  int layer(const std::string& engine, size_t interval) const {
    const auto own = ends_.find(engine);
    if (own == ends_.end() || interval >= marks_.size()) return -1;
    const auto task =
        std::lower_bound(own->second.begin(), own->second.end(), std::pair(marks_[interval], 0));
    return task == own->second.end() ? -1 : task->second;
  }

 private:
  std::vector<uint64_t> marks_;
  // By engine: ends and layers of its tasks.
  std::map<std::string, std::vector<std::pair<uint64_t, int>>> ends_;
};

class EnergyTaker {
 public:
  EnergyTaker(const DesignFolder& folder, const MemoryModel& memory, EnergyReport& energy)
      : folder_(folder), parts_(parts_of(folder)), tasks_(folder.design, memory), energy_(energy) {
    for (size_t l = 0; l < folder.network.layers.size(); ++l) energy_.add_layer(layer_name(folder, l), {});
  }

  ActivityLog log() const { return ActivityLog(tasks_.marks()); }

  void take(const ActivityLog& log) {
    for (size_t i = 0; i < log.intervals().size(); ++i) {
      const Activity dram{0, 0, log.dram_bits()[i]};
      energy_.add_layer(kPorts, dram);
      energy_.add_module(kDramRow, dram);
      for (size_t s = 0; s < log.scopes().size(); ++s) {
        const Activity& activity = log.intervals()[i][s];
        const std::vector<std::string> instances = instances_of(log.scopes()[s]);
        const auto part = instances.empty() ? parts_.end() : parts_.find(instances[0]);
        energy_.add_layer(part == parts_.end() ? kWires : row(part->second, i), activity);
        energy_.add_module(part == parts_.end() ? kWires : part->second.module, activity);
      }
    }
  }

 private:
  std::string row(const Part& part, size_t interval) const {
    if (part.engine.empty()) return part.section;
    const int layer = tasks_.layer(part.engine, interval);
    return layer < 0 ? "engines behind their last task" : layer_name(folder_, size_t(layer));
  }

  const DesignFolder& folder_;
  const std::map<std::string, Part> parts_;
  const Tasks tasks_;
  EnergyReport& energy_;
};

}  // namespace

DesignOutputs run_with_energy(const DesignFolder& folder, pipeline::RtlDesignPort& port,
                              const MemoryModel& memory, const std::vector<std::vector<Tensor>>& inputs,
                              EnergyReport& energy) {
  EnergyTaker taker(folder, memory, energy);
  const size_t each = folder.design.streaming ? kImagesAtOnce : 1;
  DesignOutputs all;
  for (size_t first = 0; first < inputs.size() && all.ending == Ending::kNone; first += each) {
    const size_t end = std::min(inputs.size(), first + each);
    ActivityLog log = taker.log();
    port.log_activity(&log);
    try {
      DesignOutputs some = run_on_hardware(folder.network, folder.design, port,
                                           {inputs.begin() + long(first), inputs.begin() + long(end)});
      all.cycles += some.cycles;
      std::ranges::move(some.outputs, std::back_inserter(all.outputs));
      taker.take(log);
    } catch (const Expired&) {
      if (all.outputs.empty()) throw;
      all.ending = Ending::kRequest;
    }
  }
  port.log_activity(nullptr);
  return all;
}

}  // namespace tilewright
