// What a reader accepts is used for what is done with it next: verified, printed.
#include "fuzz/text_targets.h"

#include "fuzz/document_mutation.h"
#include "fuzz/mutation.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/graph/graph_dot.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/learn/policy_network.h"
#include "tilewright/cgra/mapping_file.h"
#include "tilewright/flow/fabric_run.h"
#include "tilewright/flow/place.h"
#include "tilewright/graph/text.h"
#include "tilewright/hardware/array_hardware.h"
#include "tilewright/hardware/device.h"
#include "tilewright/hardware/fabric.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/nest/mapping.h"
#include "tilewright/nest/workload_text.h"
#include "tilewright/overlay/schedule.h"
#include "tilewright/spatial/array_simulator/chip.h"
#include "tilewright/spatial/mapspace_text.h"
#include "tilewright/spatial/network/mapping_file.h"
#include "tilewright/spatial/study/dataflow.h"
#include "tilewright/spatial/study/study_machine.h"
#include "tilewright/spatial/timeloop_import/timeloop_import.h"
#include "tilewright/synthesis/implementation.h"
#include "tilewright/tune/best_schedules.h"
#include "tilewright/tune/record_text.h"

namespace tilewright {
namespace {

const std::filesystem::path kSources = TILEWRIGHT_SOURCE_DIR;

constexpr const char* kShortLayer =
    "name: conv1\nconvolution: {batch: 2, input_channels: 3, output_channels: 8, input: 13, kernel: 3, "
    "stride: 2}\n"
    "bits: {input: 8, weight: 8, output: 32}\n";

constexpr const char* kLoopNest =
    "- name: nest\n  dimensions: {P: 13, S: 3, M: 4}\n  data_spaces:\n"
    "  - {name: input, ranks: [{name: W, size: 15, index: P + S}]}\n"
    "  - {name: weight, ranks: [{name: S, size: 3, index: S}, {name: M, size: 4, index: M}]}\n"
    "  - {name: output, output: true, bits: 32, ranks: [{name: P, size: 13, index: P}, {name: M, size: 4, "
    "index: M}]}\n"
    "- name: fc\n  matmul: {m: 4, k: 8, n: 2}\n";

constexpr const char* kMappings =
    "layers:\n- layer: nest\n  dataflow: free\n  mapping:\n  - {level: dram, temporal: P=13}\n"
    "  - {level: buffer, temporal: S=3, spatial: x:M=4, keeps: input output}\n  - level: registers\n";

constexpr const char* kConstraints =
    "imperfect: false\nlevels:\n- level: buffer\n  temporal: S=1 P=1\n  spatial_x: M others=1\n  keep: "
    "weight\n"
    "  bypass: output\n  one_axis_per_dimension: true\n";

constexpr const char* kVtaConfig =
    R"({"TARGET": "pynq", "HW_VER": "0.0.2", "LOG_INP_WIDTH": 3, "LOG_WGT_WIDTH": 3, "LOG_ACC_WIDTH": 5, "LOG_BATCH": 0,
"LOG_BLOCK": 4, "LOG_UOP_BUFF_SIZE": 15, "LOG_INP_BUFF_SIZE": 15, "LOG_WGT_BUFF_SIZE": 18, "LOG_ACC_BUFF_SIZE": 17})";

constexpr const char* kDot =
    "digraph g {\n  a [op=add];\n  c [opcode=\"mul\"];\n  d [label=add];\n  a -> c;\n  a -> c;\n  c -> d;\n"
    "  d -> d [distance=1];\n}\n";

constexpr const char* kTimeloop =
    "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    local:\n    - name: DRAM\n      class: "
    "DRAM\n"
    "      attributes: {type: LPDDR4, width: 64, block-size: 4, word-bits: 16}\n    subtree:\n    - name: "
    "chip\n      local:\n"
    "      - name: buffer\n        class: smartbuffer_SRAM\n"
    "        attributes: {memory_depth: 16384, memory_width: 64, word-bits: 16, n_banks: 1}\n"
    "      - name: MAC[0..15]\n        class: intmac\n        attributes: {datawidth: 16, meshX: 4}\n"
    "problem:\n  shape:\n    name: gemm\n    dimensions: [M, N, K]\n    data-spaces:\n"
    "    - {name: A, projection: [[[M]], [[K]]]}\n    - {name: B, projection: [[[K]], [[N]]]}\n"
    "    - {name: C, projection: [[[M]], [[N]]], read-write: true}\n  instance: {M: 4, N: 4, K: 8}\n"
    "mapping:\n- {target: DRAM, type: temporal, factors: M=4 N=4 K=2, permutation: KNM}\n"
    "- {target: buffer, type: temporal, factors: M=1 N=1 K=4}\n";

// A layer with its weights.
Graph small_graph() {
  Graph graph;
  graph.name = "small";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 4});
  const ValueId w = graph.add_constant("w", Tensor::of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 2});
  graph.add_node("dense", "MatMul", {x, w}, {y});
  graph.outputs = {y};
  return graph;
}

Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

using ReadText = std::function<void(const std::string&)>;

FuzzTarget document(const std::string& name, const std::string& text, const ReadText& read) {
  const auto damage = [](const Bytes& original, size_t index, Random& random) {
    std::string damaged = text_of(original);
    for (int64_t edits = random.chance(0.7) ? 1 : random.between(2, 4); edits > 0; --edits)
      damaged = damage_document(damaged, DocumentDamage(index % kDocumentDamages), random);
    return bytes_of(damaged);
  };
  return {name, bytes_of(text), damage, [read](std::span<const std::byte> bytes) { read(text_of(bytes)); }};
}

FuzzTarget file(const std::string& path, const ReadText& read) {
  return document(path, read_text_file(kSources / path), read);
}

template <typename Thing>
void verify(const Thing& thing) {
  Diagnostics diagnostics;
  thing.verify(diagnostics);
  diagnostics.raise_if_any();
}

void add_machines(std::vector<FuzzTarget>& targets) {
  for (const std::string path : {"hardware/eyeriss-256.yaml", "hardware/simba-like.yaml"}) {
    targets.push_back(file(path, [path](const std::string& text) {
      const ArrayHardware hardware = parse_array_hardware(text, "damaged");
      verify(hardware);
      print_array_hardware(hardware);
      if (path.find("eyeriss") != std::string::npos) study::study_machine(hardware);
    }));
  }
  const auto overlay = [](const std::string& text) {
    const OverlayHardware hardware = parse_overlay_hardware(text, "damaged");
    verify(hardware);
    print_overlay_hardware(hardware);
  };
  targets.push_back(file("hardware/overlay-16x16.yaml", overlay));
  targets.push_back(document("vta_config.json", kVtaConfig, overlay));
  for (const char* path : {"hardware/devices/xc7z020.yaml", "hardware/devices/ice40-hx8k.yaml"}) {
    targets.push_back(
        file(path, [](const std::string& text) { print_device(parse_device(text, "damaged")); }));
  }
  for (const char* path : {"hardware/hycube-4x4.yaml", "hardware/streaming-engine.yaml"}) {
    targets.push_back(
        file(path, [](const std::string& text) { print_fabric(parse_fabric(text, "damaged")); }));
  }
  targets.push_back(document("memory model", print_memory_model({}), [](const std::string& text) {
    print_memory_model(parse_memory_model(text, "damaged"));
  }));
  targets.push_back(file("hardware/eyeriss-chip.yaml",
                         [](const std::string& text) { parse_row_stationary_chip(text, "damaged"); }));
}

void add_layers_and_mappings(std::vector<FuzzTarget>& targets) {
  const auto workloads = [](const std::string& text) {
    for (const Workload& workload : parse_workloads(text, "damaged")) print_workload(workload);
  };
  targets.push_back(document("workload, short form", kShortLayer, workloads));
  targets.push_back(document("workloads, loop nests", kLoopNest, workloads));
  const Workload nest = parse_workloads(kLoopNest, "own").front();
  targets.push_back(document("mapping file", kMappings, [nest](const std::string& text) {
    for (const MappingFile::Entry& entry : parse_mapping_file(text, "damaged").entries)
      print_mapping(nest, parse_mapping(entry.text, "damaged", nest));
  }));
  const ArrayHardware array = read_array_hardware(kSources / "hardware/eyeriss-256.yaml");
  std::string constraints = kConstraints;
  constraints.replace(constraints.find("buffer"), 6, array.levels[1].name);
  targets.push_back(document("mapspace", constraints, [nest, array](const std::string& text) {
    const Mapspace mapspace = parse_mapspace(text, "damaged", nest, array);
    verify(mapspace);
    print_mapspace(mapspace);
  }));
  targets.push_back(
      file("dataflows/rs.yaml", [](const std::string& text) { study::parse_dataflow(text, "damaged"); }));
  targets.push_back(document("Timeloop files", kTimeloop, [](const std::string& text) {
    is_timeloop_text(text);
    import_timeloop(std::vector<TimeloopText>{{"damaged", text}});
  }));
  targets.push_back(document("schedule", overlay::print_schedule({}), [](const std::string& text) {
    overlay::print_schedule(overlay::parse_schedule(text, "damaged"));
  }));
}

// A small graph on the streaming engine.
cgra::MappedProgram mapped() {
  PlaceRequest request;
  request.problem.graph = cgra::read_graph_file(kSources / "models/cgra/multiply_add.json").graph;
  request.problem.fabric = find_fabric("streaming-engine", kSources / "hardware");
  request.problem.rules = cgra::usual_rules(request.problem.fabric);
  request.iis = {2};
  request.method = place_methods().front();
  const PlaceReport report = place(request);
  return mapped_program(request, report.points.at(size_t(report.best)));
}

void add_placements(std::vector<FuzzTarget>& targets) {
  for (const char* path : {"models/cgra/ifft.json", "models/cgra/vector_add.json"}) {
    targets.push_back(file(path, [](const std::string& text) {
      Diagnostics diagnostics;
      const cgra::GraphFile graph =
          cgra::parse_graph_json(text, "damaged", cgra::kUsualOperands, diagnostics);
      diagnostics.raise_if_any();
      cgra::print_graph_json(graph);
    }));
  }
  targets.push_back(document("graph.dot", kDot, [](const std::string& text) {
    Diagnostics diagnostics;
    const cgra::DataflowGraph graph = cgra::parse_graph_dot(text, "damaged", diagnostics);
    diagnostics.raise_if_any();
    cgra::print_graph_dot(graph);
  }));
  const cgra::MappedProgram program = mapped();
  targets.push_back(
      document("mapped program", cgra::print_mapped_program(program), [](const std::string& text) {
        cgra::print_mapped_program(cgra::parse_mapped_program(text, "damaged"));
      }));
  targets.push_back(document("fabric configuration", cgra::print_configuration(device_configuration(program)),
                             [](const std::string& text) {
                               cgra::print_configuration(cgra::parse_configuration(text, "damaged"));
                             }));
  targets.push_back(
      file("models/cgra/policy.json", [](const std::string& text) { cgra::parse_policy(text, "damaged"); }));
}

}  // namespace

std::vector<FuzzTarget> text_targets() {
  std::vector<FuzzTarget> targets;
  add_machines(targets);
  add_layers_and_mappings(targets);
  add_placements(targets);
  const tune::Record record{{"layer 1", "machine", "schedule 2", "tool 1", 0}, 102, {}, 0.5, 1700000000};
  targets.push_back(document("record", tune::print_record(record),
                             [](const std::string& text) { tune::parse_best_schedules(text, "damaged"); }));
  targets.push_back(
      document("implementation", synthesis::print_implementation({}),
               [](const std::string& text) { synthesis::parse_implementation(text, "damaged"); }));
  targets.push_back(document("graph text", print(small_graph()),
                             [](const std::string& text) { print(parse_graph(text)); }));
  return targets;
}

}  // namespace tilewright
