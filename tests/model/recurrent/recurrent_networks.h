// ONNX files with recurrent layers of random weights and options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// One layer of the operator `op` (RNN, GRU, LSTM) over "x"; its outputs are "y", "y_h" and "y_c".
struct RecurrentCase {
  std::string op = "LSTM";
  int64_t steps = 4, batch = 2, inputs = 3, hidden = 5;
  std::string direction = "forward";
  bool batch_first = false, biases = true, initial = false, peepholes = false;
  bool input_forget = false, linear_before_reset = false;
  std::optional<float> clip;
  std::vector<std::string> activations;  // empty: the usual ones
  std::vector<int64_t> lengths;          // of the sequences; empty: all steps
  uint64_t seed = 1;

  int directions() const { return direction == "bidirectional" ? 2 : 1; }
  int gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
};

RecurrentCase random_recurrent_case(uint64_t seed);

// W, R, B, initial_h, initial_c, P as the case has them, by these names; values in -0.7..0.7.
std::map<std::string, Tensor> recurrent_weights(const RecurrentCase& layer);

std::vector<std::byte> recurrent_file(const RecurrentCase& layer);

// One step of an LSTM of 4 cells over 6 inputs and a dense layer: "x", "h0", "c0" to "y" (3 scores), "hn",
// "cn".
std::vector<std::byte> cell_file(uint64_t seed);

}  // namespace tilewright
