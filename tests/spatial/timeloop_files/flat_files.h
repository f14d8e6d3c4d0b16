// Files in the flat syntax (v0.2: `arch` with storage and arithmetic, innermost memory first), as users of
// Timeloop write them: a machine of 4x4 elements, its energies, a strided layer, constraints, a
// mapping.
#pragma once

namespace tilewright {

inline constexpr char kFlatMachine[] = R"(
# 16 multipliers, a register file each, one buffer
arch:
  arithmetic:
    name: MAC
    instances: 16
    meshX: 4
    word_bits: 16
  storage:
  - name: Registers
    instances: 16
    meshX: 4
    entries: 48
    word_bits: 16
    block_size: 1
    technology: 40nm
  - name: Buffer
    instances: 1
    sizeKB: 4
    word_bits: 16
    block_size: 1
  - name: Memory
    instances: 1
    technology: DRAM
    word_bits: 16
    block_size: 1
)";

inline constexpr char kFlatEnergies[] = R"(
ERT:
  version: 0.3
  tables:
  - name: MAC
    actions: [{name: compute, energy: 1.0}]
  - name: Registers
    actions: [{name: read, energy: 1.0}, {name: write, energy: 2.5}, {name: update, energy: 1.5}]
  - name: Buffer
    actions: [{name: read, energy: 5.0}, {name: write, energy: 6.0}, {name: update, energy: 7.0}]
  - name: Memory
    actions: [{name: read, energy: 150.0}, {name: write, energy: 160.0}, {name: update, energy: 160.0}]
)";

// 3x3 over 17 rows and columns, stride 2.
inline constexpr char kFlatProblem[] = R"(
problem:
  shape:
    name: strided
    dimensions: [C, M, R, S, N, P, Q]
    coefficients:
    - {name: Step, default: 1}
    data_spaces:
    - name: Weights
      projection: [[[C]], [[M]], [[R]], [[S]]]
    - name: Inputs
      projection: [[[N]], [[C]], [[R], [P, Step]], [[S], [Q, Step]]]
    - name: Outputs
      projection: [[[N]], [[M]], [[P]], [[Q]]]
      read_write: true
  instance: {N: 2, M: 8, C: 4, P: 8, Q: 8, R: 3, S: 3, Step: 2}
)";

inline constexpr char kFlatConstraints[] = R"(
mapspace:
  template: uber
  constraints:
  - {type: bypass, target: Registers, keep: [Weights, Inputs, Outputs], bypass: []}
  - {type: spatial, target: Buffer, factors: N1 R1 S1, permutation: CMRSNPQ, split: 1}
  - {type: temporal, target: Registers, factors: R3 S3, permutation: RSCMNPQ}
)";

inline constexpr char kFlatMapping[] = R"(
mapping:
- {target: Memory, type: temporal, factors: C1 M1 R1 S1 N2 P8 Q1, permutation: PNCMRSQ}
- {target: Buffer, type: temporal, factors: C1 M2 R1 S1 N1 P1 Q8, permutation: QMCRSNP}
- {target: Buffer, type: spatial, factors: C4 M4 R1 S1 N1 P1 Q1, permutation: CMRSNPQ, split: 1}
- {target: Registers, type: temporal, factors: C1 M1 R3 S3 N1 P1 Q1, permutation: RSCMNPQ}
)";

}  // namespace tilewright
