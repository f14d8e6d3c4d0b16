// Task tables as read by the models of components.
#pragma once

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

// The image that the parameter TABLE names: TASKS rows of `row_bits`. Errors (invalid input): no such image,
// other sizes; `component` is for the message.
const MemoryImage& task_table(const netlist::Parameters& parameters, const MemoryImages& images,
                              int64_t row_bits, const char* component);

// A parameter within [low, high]. Errors (invalid input): it is not.
int64_t parameter_in(const netlist::Parameters& parameters, const char* component, const char* name,
                     int64_t low, int64_t high);
// The same for one that may be left out.
int64_t parameter_in(const netlist::Parameters& parameters, const char* component, const char* name,
                     int64_t low, int64_t high, int64_t fallback);

// Bits of an index below `count`, at least 1.
int index_bits(int64_t count);

// A value that a counter of `bits` holds and that is not 0, as all counts of task rows are. Errors (invalid
// input): another one.
int64_t counted(const char* component, const char* field, int64_t value, int64_t bits);

}  // namespace tilewright::pipeline
