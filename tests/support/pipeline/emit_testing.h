// For tests: emitted designs of random networks, of all forms.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/pipeline/random_branchy_graph_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/pipeline/emit/emit.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {

// Unrolled: the host lays the first layer's windows out.
enum class EmitForm { kStreaming, kProcessors, kUnrolled, kDramWeights, kSeveralInputs };

struct EmitCase {
  EmitForm form;
  const char* name;
};
inline void PrintTo(const EmitCase& c, std::ostream* out) { *out << c.name; }
inline std::vector<EmitCase> emit_cases() {
  return {{EmitForm::kStreaming, "Streaming"},
          {EmitForm::kProcessors, "Processors"},
          {EmitForm::kUnrolled, "Unrolled"},
          {EmitForm::kDramWeights, "DramWeights"},
          {EmitForm::kSeveralInputs, "SeveralInputs"}};
}
inline std::string emit_case_name(const testing::TestParamInfo<EmitCase>& info) { return info.param.name; }

// Of a random graph with several inputs, whose elements are moved and multiplied.
inline Network several_inputs(uint64_t seed) {
  for (uint64_t attempt = seed * 1000;; ++attempt) {
    try {
      Network network = extract_network(random_branchy_graph(attempt));
      if (network.input_tensors().size() > 1) return network;
    } catch (const Error&) {
      if (attempt == seed * 1000 + 900) throw;
    }
  }
}

inline Network emit_network(EmitForm form, uint64_t seed) {
  return form == EmitForm::kSeveralInputs ? several_inputs(seed) : random_network(seed);
}

inline Allocation emit_allocation(EmitForm form, const Network& network, uint64_t seed) {
  if (form == EmitForm::kStreaming) {
    Allocation stages = random_stages(network, seed);
    size_fifos(network, stages);
    return stages;
  }
  Allocation processors = random_processors(network, seed);
  processors.layers[0].unroll = form == EmitForm::kUnrolled;
  return form == EmitForm::kDramWeights ? with_dram(network, processors, seed) : processors;
}

// Runs the command that a file of `folder` holds from `start` on, as its user would; a line that ends in
// \ goes on in the next one.
inline std::string run_folder_command(const std::filesystem::path& folder, const std::string& file,
                                      const std::string& start, const std::string& options = "") {
  const std::string text = read_text_file(folder / file);
  const size_t from = text.find("  " + start);
  if (from == std::string::npos) throw Error(ErrorKind::kInternal, file + " has no command " + start);
  size_t end = text.find('\n', from);
  while (text[end - 1] == '\\') end = text.find('\n', end + 1);
  const std::string command = text.substr(from, end - from);
  return synthesis::run_tool_checked({"sh", {"-c", command + options}, folder, 600}).output;
}

// An emitted design that is removed again.
class EmittedDesign {
 public:
  EmittedDesign(EmitForm form, uint64_t seed) : EmittedDesign(emit_network(form, seed), form, seed) {}
  EmittedDesign(const Network& own, EmitForm form, uint64_t seed)
      : EmittedDesign(own, emit_allocation(form, own, seed), std::to_string(int(form))) {}
  EmittedDesign(Network own, const Allocation& allocation, const std::string& name)
      : network(std::move(own)) {
    design = build(network, allocation);
    folder = std::filesystem::temp_directory_path() / fmt::format("tilewright-emit-{}-{}", ::getpid(), name);
    std::filesystem::create_directories(folder);
    options.rtl_folder = TILEWRIGHT_SOURCE_DIR "/rtl";
    options.cycles = simulate(design, {}).cycles;
    Device device = find_device("xc7z020", TILEWRIGHT_SOURCE_DIR "/hardware/devices");
    emit(design, network, &device, folder, options);
  }
  ~EmittedDesign() { std::filesystem::remove_all(folder); }
  EmittedDesign(const EmittedDesign&) = delete;
  EmittedDesign& operator=(const EmittedDesign&) = delete;

  std::vector<std::string> sources(std::initializer_list<const char*> folders) const {
    std::vector<std::string> list;
    for (const char* name : folders) {
      for (const auto& entry : std::filesystem::directory_iterator(folder / name)) {
        if (entry.path().extension() == ".sv") list.push_back(entry.path().string());
      }
    }
    std::sort(list.begin(), list.end());
    return list;
  }
  // What the testbench says at the end of a run of `images`.
  std::string expected_line(int64_t images) const {
    SimulationOptions simulation;
    simulation.images = images;
    const int64_t words = design.output.bytes * images / design.port_bytes;
    return fmt::format("PASS: {} images, {} words equal, {} cycles", images, words,
                       simulate(design, simulation).cycles);
  }

  Network network;
  Design design;
  EmitOptions options;
  std::filesystem::path folder;
};

}  // namespace tilewright::pipeline
