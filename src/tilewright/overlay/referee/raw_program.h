// Raw programs: images of instructions, micro-ops and data at stated DRAM addresses, described by a YAML
// file.
//
//   hardware: overlay.yaml          # or a public vta_config.json
//   memory_bytes: 1048576           # size of the simulated memory, zero-filled
//   load:                           # in order; a later image wins where two overlap
//     - {file: input.bin, address: 4096}
//     - {file: weights.bin, address: 8192, bytes: 256}     # only the first 256 bytes of the file
//   instructions: {address: 65536, count: 12}
//   dump:                           # written when the program has finished
//     - {file: output.bin, address: 131072, bytes: 512}
//
// Addresses and sizes are in bytes, all base registers are 0, words are little-endian, and paths are relative
// to the folder of the YAML file and stay in it (base/confined_path.h). `tilewright exec` runs such a file
// and `tilewright compile --emit-raw` writes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tilewright/base/confined_path.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/overlay/program/program_engine.h"

namespace tilewright::overlay {

struct RawImage {
  std::filesystem::path file;  // relative to the YAML file, or absolute
  uint64_t address = 0;
  std::vector<std::byte> bytes;
};

struct RawDump {
  std::filesystem::path file;
  uint64_t address = 0, bytes = 0;
};

struct RawProgram {
  OverlayHardware hardware;
  uint64_t memory_bytes = 0;
  std::vector<RawImage> load;
  uint64_t instruction_address = 0, instruction_count = 0;
  std::vector<RawDump> dump;

  // Sections that leave the memory. Where a section came from a file, its diagnostic says so.
  void verify(Diagnostics& diagnostics) const;
};

struct RawResult {
  RunCounters counters;
  CycleCounters cycles;                      // of a timed engine
  std::vector<std::vector<std::byte>> dump;  // one per RawProgram::dump
};

// Reads the YAML and every file it names, no more of each than is loaded. Errors (invalid input): all
// problems at once - syntax, missing and unknown fields, unreadable files, sections that do not fit in the
// memory, the hardware's own problems; files outside of the YAML's folder, unless the confinement is kNone;
// dumps that would overwrite the YAML, a file that it reads, each other, or something that is not a regular
// file.
RawProgram read_raw_program(const std::filesystem::path& path,
                            Confinement confinement = Confinement::kInside);

// Runs the program on a fresh simulator. Errors (invalid input): those of the simulator; a memory that the
// host cannot provide.
RawResult execute(const RawProgram& program, SimulatorKernel kernel = SimulatorKernel::kAuto);
// The same on another engine, made for program.hardware.
// Errors (infeasible): `deadline` (may be null) is over.
RawResult execute(const RawProgram& program, ProgramEngine& engine, CycleObserver* observer = nullptr,
                  Deadline* deadline = nullptr);

// Writes each dump to its file, relative to `folder`; folders on the way are created.
void write_dumps(const std::filesystem::path& folder, const RawProgram& program, const RawResult& result);

// Writes `folder`/program.yaml, `folder`/hardware.yaml and every image under its file name, creating the
// folder. read_raw_program(folder / "program.yaml") gives the same program back. File names must be distinct
// and relative.
void write_raw_program(const std::filesystem::path& folder, const RawProgram& program);

}  // namespace tilewright::overlay
