// An option that the chosen engine would ignore is an error. Counters take their names from the register map,
// so that JSON and hardware agree.
#include "tilewright/flow/run/overlay_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "tilewright/overlay/rtl/registers.h"

namespace tilewright {
namespace {

using overlay::CycleCounters;

struct NamedCounter {
  std::string name;
  uint64_t CycleCounters::*field;
};

std::vector<NamedCounter> named_counters() {
  std::vector<NamedCounter> counters;
  uint16_t offset = overlay::register_offset("CYCLES");
  for (const auto field : overlay::kCounterRegisters) {
    const auto at = std::find_if(std::begin(overlay::kRegisters), std::end(overlay::kRegisters),
                                 [&](const DeviceRegister& r) { return r.offset == offset; });
    std::string name = at->name;
    for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
    counters.push_back({std::move(name), field});
    offset = uint16_t(offset + 4);
  }
  return counters;
}

}  // namespace

overlay::ProgramEngineOptions program_engine_options(const EngineRequest& request,
                                                     const SharedFolders& folders) {
  const auto refuse = [&](bool given, bool possible, const char* flag, const char* engines) {
    if (!given || possible) return;
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} does not apply to the {} engine", flag, request.name),
                fmt::format("choose --engine {}", engines));
  };
  const bool rtl = request.name == "rtl";
  refuse(!request.memory.empty(), request.is_timed(), "--memory", "cycle or --engine rtl");
  refuse(!request.trace.empty(), request.name == "cycle", "--trace", "cycle");
  refuse(!request.wave.empty(), rtl, "--wave", "rtl");
  refuse(!request.cache_folder.empty(), rtl, "--rtl-cache", "rtl");
  refuse(request.energy, rtl, "--energy", "rtl");
  if (request.energy && !request.wave.empty()) {
    throw Error(ErrorKind::kInvalidInput, "--energy and --wave do not go together", "leave one of them out");
  }
  refuse(request.counters, request.is_timed(), "--counters", "cycle or --engine rtl");
  overlay::ProgramEngineOptions result;
  result.deadline = request.deadline;
  if (!request.memory.empty()) result.memory = find_memory_model(request.memory);
  if (request.name == "cycle") result.kind = overlay::ProgramEngineKind::kCycle;
  if (!rtl) return result;
  if (request.cache_folder.empty()) {
    throw Error(ErrorKind::kInvalidInput,
                "there is no folder for compiled models: neither XDG_CACHE_HOME nor HOME is set",
                "give one with --rtl-cache");
  }
  result.kind = overlay::ProgramEngineKind::kRtl;
  result.rtl_folder = folders.rtl;
  result.cache_folder = request.cache_folder;
  result.wave_file = request.wave;
  result.activity = request.energy;
  return result;
}

nlohmann::json counters_json(const CycleCounters& counters) {
  nlohmann::json json;
  for (const NamedCounter& counter : named_counters()) json[counter.name] = counters.*counter.field;
  return json;
}

std::string counters_text(const CycleCounters& c) {
  const auto share = [&](uint64_t cycles) {
    return fmt::format("{:>5.1f} %", c.cycles == 0 ? 0.0 : 100 * double(cycles) / double(c.cycles));
  };
  return fmt::format(
      "fetch   busy {}, queue full {}, all fetched {}\n"
      "load    busy {}, waiting for a buffer {}, nothing to do {}\n"
      "compute GEMM {}, ALU {}, own loads {}, waiting for load {}, for store {}, nothing to do {}\n"
      "store   busy {}, waiting for outputs {}, nothing to do {}\n"
      "memory  {} beats in {} bursts read, {} beats in {} bursts written\n",
      share(c.fetch_busy), share(c.fetch_blocked), share(c.fetch_idle), share(c.load_busy),
      share(c.load_token), share(c.load_starved), share(c.compute_gemm), share(c.compute_alu),
      share(c.compute_load), share(c.compute_token_load), share(c.compute_token_store),
      share(c.compute_starved), share(c.store_busy), share(c.store_token), share(c.store_starved),
      c.read_beats, c.read_bursts, c.write_beats, c.write_bursts);
}

}  // namespace tilewright
