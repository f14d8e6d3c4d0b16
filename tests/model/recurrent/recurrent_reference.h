// RNN, GRU and LSTM computed directly from their definition, one number at a time in double precision: the
// formulas of the ONNX operator reference, with nothing taken from the product.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/recurrent/recurrent_networks.h"

namespace tilewright {

// Y, Y_h and, of an LSTM, Y_c.
std::vector<Tensor> recurrent_reference(const RecurrentCase& layer, const Tensor& x);

}  // namespace tilewright
