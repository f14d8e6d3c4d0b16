// A machine, a problem and an energy table in the v0.4 syntax.
#pragma once

namespace tilewright {

inline constexpr char kNodes[] = R"(
variables: {version: 0.4, global_cycle_seconds: 1e-9, word: 8}
architecture:
  version: 0.4
  nodes:
  - !Container
    name: system
    attributes: {technology: "32nm", global_cycle_seconds: 1e-9}
  - !Component
    name: main_memory
    class: DRAM
    attributes: {width: 64, datawidth: word, type: LPDDR4}
  - !Component
    name: buffer
    class: smartbuffer_SRAM
    attributes: {depth: 16384, width: 64, datawidth: word, read_bandwidth: 16, write_bandwidth: 8}
    constraints:
      dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}
  - !Container
    name: column
    spatial: {meshX: 14}
    constraints:
      spatial: {permutation: [N, C, P, R, S, Q, M], factors: [N=1, C=1, P=1, R=1, S=1], split: 7}
  - !Container
    name: PE
    spatial: {meshY: 12}
    constraints:
      spatial: {permutation: [N, P, Q, R, S, C, M], factors: [N=1, P=1, Q=1, R=1], split: 4}
  - !Parallel
    nodes:
    - !Component
      name: inputs
      class: smartbuffer_RF
      attributes: {depth: 12, width: word, datawidth: word}
      constraints:
        dataspace: {keep: [Inputs]}
        temporal: {permutation: [N, M, C, P, Q, R, S], factors: [N=1, M=1, C=1, P=1, Q=1, R=1, S=1]}
    - !Component
      name: weights
      class: smartbuffer_RF
      attributes: {depth: 96 * 2, width: 8, datawidth: word}
      constraints:
        dataspace: {keep: [Weights]}
    - !Component
      name: psums
      class: smartbuffer_RF
      attributes: {depth: 16, width: 8, datawidth: word, multiple_buffering: 2}
      constraints:
        dataspace: {keep_only: [Outputs]}
  - !Component
    name: mac
    class: intmac
    attributes: {multiplier_width: 8, datawidth: 8}
)";

inline constexpr char kProblem[] = R"(
problem:
  version: 0.4
  instance: {C: 3, M: 32, N: 1, P: 112, Q: 112, R: 3, S: 3, Hpad: 1, Wstride: 2, Hstride: 2}
  shape:
    name: layer
    dimensions: [C, M, R, S, N, P, Q]
    coefficients:
    - {name: Wstride, default: 1}
    - {name: Hstride, default: 1}
    - {name: Wdilation, default: 1}
    data-spaces:
    - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}
    - {name: Inputs, projection: {n: [[N]], c: [[C]], h: [[R, Wdilation], [P, Wstride]], w: [[S], [Q, 2]]}}
    - {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]]], read-write: true}
)";

inline constexpr char kTable[] = R"(
ERT:
  version: 0.4
  tables:
  - {name: "system.main_memory[1..1]", actions: [{name: read, energy: 512}, {name: write, energy: 512}]}
  - {name: system.buffer, actions: [{name: read, arguments: {n: 0}, energy: 1}, {name: read, arguments: {n: 1}, energy: 24},
                                    {name: write, energy: 32}, {name: leak, energy: 0.1}]}
  - {name: "inputs[1..168]", actions: [{name: read, energy: 1}, {name: write, energy: 2}, {name: update, energy: 3}]}
  - {name: weights, actions: [{name: read, energy: 1}]}
  - {name: psums, actions: [{name: read, energy: 1}]}
  - {name: mac, actions: [{name: compute, energy: 0.5}, {name: leak, energy: 0}]}
)";

}  // namespace tilewright
