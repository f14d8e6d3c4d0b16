// The families that make up the operator table; operators.cpp calls each once.
#pragma once

#include <vector>

#include "tilewright/graph/operators/operators.h"

namespace tilewright {

void add_elementwise_operators(std::vector<Operator>& table);
void add_convolution_operators(std::vector<Operator>& table);
void add_pooling_operators(std::vector<Operator>& table);
void add_matmul_operators(std::vector<Operator>& table);
void add_normalization_operators(std::vector<Operator>& table);
void add_reduction_operators(std::vector<Operator>& table);
void add_shape_operators(std::vector<Operator>& table);
void add_indexing_operators(std::vector<Operator>& table);
void add_constant_operators(std::vector<Operator>& table);
void add_quantized_operators(std::vector<Operator>& table);
void add_sampling_operators(std::vector<Operator>& table);
void add_scatter_operators(std::vector<Operator>& table);
void add_tilewright_operators(std::vector<Operator>& table);
void add_fixed_point_operators(std::vector<Operator>& table);

}  // namespace tilewright
