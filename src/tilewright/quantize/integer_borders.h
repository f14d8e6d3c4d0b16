// The border of a quantised network in integers: what a camera gives and a small processor takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

// An input or output as integers: q stands for scale * (q - zero_point). `axis` >= 0: at the positions
// [begin, end) of this axis alone; the others have rows of their own.
struct IntegerBorder {
  std::string name;
  double scale = 1;
  int64_t zero_point = 0;
  int64_t axis = -1, begin = 0, end = 0;
};

// "'boxes' is 8-bit integers: 0.25 * (q + 3)", for the positions the border is of.
std::string to_string(const IntegerBorder& border);

// A QDQ graph that takes 8-bit integers where only a QuantizeLinear read an input, and gives them where a
// DequantizeLinear made an output, under the same names. What only moves real numbers on the way to an output
// moves the integers; a Concat joins the integers of parts, each with its own scale. `borders`, if not null,
// gets what they stand for.
Graph with_integer_borders(Graph graph, std::vector<IntegerBorder>* borders = nullptr);

}  // namespace tilewright
