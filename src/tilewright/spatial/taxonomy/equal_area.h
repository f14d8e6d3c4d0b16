// Storage of equal area: what a dataflow leaves of a fixed area after its register files becomes buffer
// (ISCA 2016, section VI-B).
#pragma once

#include "tilewright/spatial/taxonomy/study_machine.h"

namespace tilewright::study {

// um2 of a memory of `bytes`: bytes times the area per byte, linear between the points and constant beyond
// them; 0 for no bytes.
double memory_area(const AreaModel& model, double bytes);
// Bytes of a memory that takes `area_um2`: linear between the points, in proportion beyond the last, 0 below
// the first.
double memory_bytes(const AreaModel& model, double area_um2);
// The area budget of an array: a register file and a share of the buffer of the baseline size per PE.
double storage_area(const AreaModel& model, int64_t pes);

struct Storage {
  double buffer_bytes = 0;          // not rounded
  int64_t buffer_words = 0;         // whole words in it
  int64_t register_file_bytes = 0;  // per PE
  int64_t register_file_words = 0;
  double total_bytes = 0;  // of the buffer and all register files
};
// The storage of a dataflow with this much register file per PE on a machine. A buffer of 0 words when the
// register files alone exceed the area.
Storage equal_area_storage(const StudyMachine& machine, int64_t register_file_bytes);

}  // namespace tilewright::study
