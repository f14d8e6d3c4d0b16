// Architectures of v0.3 (subtrees) and v0.4 (nodes with tags), and what is refused or read over.
#include <gtest/gtest.h>

#include "spatial/timeloop_files/current_files.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright {
namespace {

TimeloopImport import_current(const std::vector<std::string>& texts) {
  std::vector<TimeloopText> files;
  for (size_t i = 0; i < texts.size(); ++i)
    files.push_back({std::string(1, char('a' + i)) + ".yaml", texts[i]});
  return import_timeloop(files);
}

std::string failure(const std::vector<std::string>& texts) {
  try {
    import_current(texts);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TimeloopNodes, ArchitectureOfV04) {
  const TimeloopImport result = import_current({kNodes, kProblem, kTable});
  const ArrayHardware& h = *result.hardware;
  ASSERT_EQ(h.levels.size(), 6u);
  EXPECT_EQ(h.word_bits, 8);
  EXPECT_DOUBLE_EQ(h.clock_mhz, 1000);
  EXPECT_EQ(h.mac_energy, 0.5);
  EXPECT_EQ(h.levels[0].capacity_words, kUnlimitedWords);
  EXPECT_EQ(h.levels[0].read_energy, 64);  // of a word: its block has eight
  EXPECT_EQ(h.levels[1].capacity_words, 16384 * 8);
  EXPECT_EQ(h.levels[1].read_energy, 3);    // the dearest of the reads
  EXPECT_EQ(h.levels[1].update_energy, 4);  // not in the table: that of a write
  EXPECT_EQ(h.levels[1].read_words_per_cycle, 16);
  EXPECT_EQ(h.levels[1].fanout_x, 14);
  EXPECT_EQ(h.levels[1].fanout_y, 1);
  EXPECT_EQ(h.levels[2].name, "PE");
  EXPECT_EQ(h.levels[2].capacity_words, 0);
  EXPECT_EQ(h.levels[2].fanout_x, 1);
  EXPECT_EQ(h.levels[2].fanout_y, 12);
  EXPECT_EQ(h.levels[3].capacity_words, 12);
  EXPECT_EQ(h.levels[3].update_energy, 3);
  EXPECT_EQ(h.levels[4].capacity_words, 192);
  EXPECT_EQ(h.levels[5].copies, 2);
  EXPECT_EQ(h.pe_count(), 168);
}

TEST(TimeloopNodes, ConstraintsInsideTheArchitecture) {
  const TimeloopImport result = import_current({kNodes, kProblem, kTable});
  const Mapspace& m = *result.mapspace;
  Diagnostics diagnostics;
  m.verify(diagnostics);
  for (const Diagnostic& d : diagnostics.errors()) ADD_FAILURE() << to_string(d);
  EXPECT_EQ(m.constraints[1].must_keep, 5u);
  EXPECT_EQ(m.constraints[1].must_bypass, 2u);
  EXPECT_EQ(m.constraints[1].spatial_x, (std::vector<int64_t>{1, 0, 1, 1, 1, 1, 0}));  // C M R S N P Q
  EXPECT_EQ(m.constraints[2].spatial_y, (std::vector<int64_t>{0, 0, 1, 0, 1, 1, 1}));
  EXPECT_EQ(m.constraints[2].temporal, (std::vector<int64_t>(7, 1)));
  EXPECT_EQ(m.constraints[3].must_keep, 1u);
  EXPECT_EQ(m.constraints[3].must_bypass, 6u);  // the other two are kept beside it
  EXPECT_EQ(m.constraints[4].must_bypass, 5u);
  EXPECT_EQ(m.constraints[5].must_bypass, 3u);
  EXPECT_EQ(m.constraints[3].temporal, (std::vector<int64_t>(7, 1)));
}

TEST(TimeloopNodes, ProblemWithNamedRanksAndCoefficients) {
  const TimeloopImport result = import_current({kProblem});
  const Workload& w = *result.workload;
  EXPECT_EQ(w.data_spaces[kInputSpace].ranks[2], (Rank{"h", 225, 0, {{2, 1}, {5, 2}}}));
  EXPECT_EQ(w.data_spaces[kInputSpace].ranks[3], (Rank{"w", 225, 0, {{3, 1}, {6, 2}}}));
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(to_string(result.notes[0]),
            "a.yaml:4 (Hpad): is neither a dimension nor a coefficient of the shape: not used");
}

TEST(TimeloopNodes, MappingWithSplitResidueAndBypass) {
  const TimeloopImport result = import_current({kNodes, kProblem, kTable, R"(
mapping:
- {target: main_memory, type: temporal, factors: P=0 Q=56, permutation: QP}
- {target: buffer, type: spatial, factors: [M=4, Q=2], permutation: [M, Q, C, R, S, N, P], split: 7}
- {target: PE, type: spatial, factors: C3 S3, permutation: NPMQRCS, split: 2}
- {target: psums, type: temporal, factors: M8, permutation: M}
- {target: weights, type: temporal, factors: R3}
- {target: buffer, type: dataspace, keep: [Inputs, Outputs], bypass: [Weights]}
- {target: inputs, type: bypass, bypass: [Weights, Outputs]}
- {target: weights, type: bypass, bypass: [Inputs, Outputs]}
- {target: psums, type: bypass, bypass: [Weights, Inputs]}
)"});
  EXPECT_EQ(print_mapping(*result.workload, *result.mapping),
            "- level: main_memory\n"
            "  temporal: P=112 Q=56\n"
            "- level: buffer\n"
            "  spatial: x:M=4 x:Q=2\n"
            "  keeps: Inputs Outputs\n"
            "- level: PE\n"
            "  spatial: y:C=3 y:S=3\n"
            "  keeps: \"\"\n"
            "- level: inputs\n"
            "  keeps: Inputs\n"
            "- level: weights\n"
            "  temporal: R=3\n"
            "  keeps: Weights\n"
            "- level: psums\n"
            "  temporal: M=8\n"
            "  keeps: Outputs\n");
  EXPECT_TRUE(contains(*result.mapspace, *result.mapping));
}

TEST(TimeloopNodes, SubtreesCountInstances) {
  const TimeloopImport result = import_current({R"(
architecture:
  version: 0.3
  subtree:
  - name: system
    local:
    - {name: DRAM, class: DRAM, attributes: {width: 64, block-size: 4, word-bits: 16}}
    subtree:
    - name: chip
      attributes: {technology: 45nm}
      local:
      - {name: glb, class: smartbuffer_SRAM, attributes: {memory_depth: 16384, memory_width: 64, block-size: 4, word-bits: 16}}
      - {name: "column[0..13]", class: regfile, attributes: {depth: 16, width: 16, word-bits: 16, block-size: 1, meshX: 14}}
      subtree:
      - name: PE[0..167]
        local:
        - {name: spad, class: smartbuffer_RF, attributes: {memory_depth: 12, memory_width: 16, block-size: 1, word-bits: 16, meshX: 14}}
        - {name: mac, class: intmac, attributes: {datawidth: 16, meshX: 14}}
)"});
  const ArrayHardware& h = *result.hardware;
  ASSERT_EQ(h.levels.size(), 4u);
  EXPECT_EQ(h.levels[1].capacity_words, 65536);
  EXPECT_EQ(h.levels[1].fanout_x, 14);
  EXPECT_EQ(h.levels[2].fanout_y, 12);
  EXPECT_EQ(h.levels[3].capacity_words, 12);
  EXPECT_EQ(h.pe_count(), 168);
}

// A component may be multiplied itself; what its fan-out is constrained to belongs to the memory outside.
TEST(TimeloopNodes, FanOutOfComponents) {
  const std::string text = R"(
architecture:
  nodes:
  - !Component {name: dram, class: DRAM, attributes: {datawidth: 8, width: 8}}
  - !Component {name: buffer, class: SRAM, attributes: {datawidth: 8, width: 8, depth: 64}, spatial: {meshX: 4}}
  - !Container {name: row, spatial: {meshY: 2}}
  - !Component
    name: mac
    class: intmac
    spatial: {meshX: 3}
    constraints: {spatial: {factors: [M=3]}}
)";
  const TimeloopImport result = import_current({text, kProblem});
  const ArrayHardware& h = *result.hardware;
  ASSERT_EQ(h.levels.size(), 3u);
  EXPECT_EQ(h.levels[0].fanout_x, 4);
  EXPECT_EQ(h.levels[1].fanout_y, 2);
  EXPECT_EQ(h.levels[2].name, "inter_mac_spatial");
  EXPECT_EQ(h.levels[2].capacity_words, 0);
  EXPECT_EQ(h.levels[2].fanout_x, 3);
  EXPECT_EQ(result.mapspace->constraints[2].spatial_x[1], 3);
  EXPECT_EQ(failure({replaced(text, "class: intmac", "enabled: false")}),
            "a.yaml:9 (enabled): a component that is switched off; remove it");
  EXPECT_EQ(failure({replaced(text, "constraints: {spatial", "constraints: {temporal")}),
            "a.yaml:11 (temporal): containers and arithmetic store nothing and have no loops in time");
}

TEST(TimeloopNodes, KnownShapeByName) {
  const TimeloopImport result = import_current(
      {"problem: {shape: cnn-layer, R: 3, S: 3, P: 16, Q: 8, C: 4, K: 5, N: 1, Wstride: 2}\n"});
  EXPECT_EQ(result.workload->data_spaces[kInputSpace].ranks[2].size, 15 * 2 + 2 + 1);
  EXPECT_EQ(result.workload->operation_count(), 9 * 16 * 8 * 4 * 5);
}

TEST(TimeloopNodes, WhatIsNotSupportedIsNamed) {
  EXPECT_EQ(failure({replaced(kNodes, "- !Parallel", "- !Pipelined"), kProblem}),
            "a.yaml:29 (nodes): a node of kind '!Pipelined'; !Component, !Container, !Parallel and "
            "!Hierarchical are supported");
  EXPECT_EQ(failure({replaced(kNodes, "temporal: {permutation", "temporal: {no_reuse: [Inputs], permutation"),
                     kProblem}),
            "a.yaml:37 (no_reuse): this key is not understood; understood: factors, permutation, "
            "target, type");
  EXPECT_EQ(
      failure({replaced(kNodes, "depth: 16384", "depth: 16384, min_utilization: 0.5, network_read: 3")}),
      "2 problems\n"
      "  a.yaml:16 (min_utilization): '0.5' is not modelled; 0 would be\n"
      "  a.yaml:16 (network_read): '3' is not modelled; 0 would be");
  EXPECT_EQ(failure({replaced(kProblem, "N: 1,", "N: 1, densities: {Inputs: 0.5},")}),
            "a.yaml:4 (densities): sparse data are not modelled; remove the densities");
  EXPECT_EQ(failure({std::string(kNodes) + "sparse_optimizations: {targets: [a]}\nlayers: 3\n"}),
            "2 problems\n"
            "  a.yaml:54 (sparse_optimizations): is not modelled\n"
            "  a.yaml:55 (layers): unknown section; sections: arch, architecture, problem, mapspace, "
            "mapspace_constraints, architecture_constraints, mapping, ERT, variables");
  EXPECT_EQ(
      failure({kNodes, kProblem, R"(
mapspace_constraints:
  targets:
  - {target: buffer, type: temporal, factors: [C<=16, M3x, Z=4], permutation: MC*}
  - {target: column, type: temporal, factors: [C=1]}
  - {target: glb, type: temporal}
  - {target: buffer, type: utilization, min: 0.5}
  - {target: psums, type: temporal, factors: [C=2, C=3, M=0], permutation: CC}
  - {target: weights, type: temporal, factors: [M=-1, R=2]}
mapspace: {template: sparse}
)"}),
      "11 problems\n"
      "  c.yaml:5 (type): 'column' is a container: it has spatial directives only\n"
      "  c.yaml:6 (target): the architecture has no memory 'glb'; targets: PE, buffer, column, inputs, "
      "inter_PE_spatial, inter_column_spatial, main_memory, psums, weights\n"
      "  c.yaml:7 (type): a directive of type 'utilization'; temporal, spatial, bypass and dataspace are "
      "supported\n"
      "  c.yaml:10 (template): the mapspace 'sparse'; uber or ruby\n"
      "  c.yaml:4 (factors): 'C<=16' is a range of factors; fix the factor or leave it free\n"
      "  c.yaml:4 (factors): 'M3x' is not a dimension of the problem with a factor\n"
      "  c.yaml:4 (factors): 'Z=4' is not a dimension of the problem with a factor\n"
      "  c.yaml:4 (permutation): a permutation with '*'; name the innermost loops only\n"
      "  c.yaml:8 (factors): a second factor of C\n"
      "  c.yaml:8 (permutation): dimension C is listed twice\n"
      "  c.yaml:9 (M): two factors stand for what is left of this dimension");
  EXPECT_EQ(failure({"problem: {{ shape }}\n"}), "a.yaml: a template with {{ }} or {% %}; expand it first");
  EXPECT_EQ(failure({kProblem, "mapping: [{target: a, type: temporal}]\n"}),
            "b.yaml:1 (mapping): needs the architecture and the problem it is for");
  EXPECT_EQ(failure({kProblem, replaced(kProblem, "M: 32", "M: 33")}),
            "b.yaml:3 (problem): a second section; the first is in a.yaml:3; leave out one of them");
  // Dumps repeat sections, or have them empty.
  EXPECT_EQ(
      failure({kProblem, kProblem, "mapping: []\n", "mapping:\n",
               "mapping: {version: 0.4, nodes: []}\nsparse_optimizations: {version: 0.4, targets: []}\n"}),
      "");
}

}  // namespace
}  // namespace tilewright
