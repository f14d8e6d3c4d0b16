// The machine of the study cost model: a PE array with four storage levels whose buffer follows from a fixed
// storage area (equal_area.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/hardware/array_hardware.h"

namespace tilewright::study {

// Energy of one access per level, in units of one MAC.
struct AccessEnergy {
  double dram = 200;
  double buffer = 6;
  double array = 2;
  double register_file = 1;
  double alu = 1;  // one MAC
  bool operator==(const AccessEnergy&) const = default;
};

// One point of a curve: a memory of `bytes` takes `area_um2` in all, or `per_byte_um2` for each byte.
struct AreaPoint {
  double bytes = 0;
  double per_byte_um2 = 0;
  bool operator==(const AreaPoint&) const = default;
};
struct SizePoint {
  double area_um2 = 0;
  double bytes = 0;
  bool operator==(const SizePoint&) const = default;
};

// Memory area as measured points. `area` and `size` are separate tables because published ones are rounded.
struct AreaModel {
  std::vector<AreaPoint> area;  // ascending bytes
  std::vector<SizePoint> size;  // ascending areas
  // The storage that fixes the area budget: this much register file per PE and as much buffer again.
  double baseline_bytes_per_pe = 0;
  bool operator==(const AreaModel&) const = default;
};

// Code of zeros in DRAM: pairs of a run of zeros and the value behind it, packed into words.
struct RunLengthCode {
  int64_t run_bits = 5;
  int64_t pairs_per_word = 3;
  int64_t word_bits = 64;
  bool operator==(const RunLengthCode&) const = default;
};

struct StudyMachine {
  std::string name;
  int64_t pes = 1;
  int64_t word_bytes = 2;
  AccessEnergy energy;
  AreaModel area;
  // When not 0, the buffer has this size whatever the area: machines that exist.
  double buffer_bytes = 0;
  std::optional<RunLengthCode> run_length_code;
  bool operator==(const StudyMachine&) const = default;
};

// The `study` section of an array description: pes, word_bytes, energy {dram, buffer, array, register_file,
// alu}, either buffer_bytes or area {baseline_bytes_per_pe, per_byte_um2: [[bytes, um2], ...], bytes_of:
// [[um2, bytes], ...]}, and if there is one run_length_code {run_bits, pairs_per_word, word_bits}. Errors
// (invalid input): everything wrong in it, or no such section; other PEs or words than the array itself has.
StudyMachine study_machine(const ArrayHardware& hardware);
// The section alone.
StudyMachine parse_study_machine(const std::string& text, const std::string& source_name);

}  // namespace tilewright::study
