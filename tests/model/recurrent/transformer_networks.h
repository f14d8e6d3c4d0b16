// An ONNX file with the operators of transformers, standard ones and ONNX Runtime's.
#pragma once

#include <cstddef>
#include <vector>

namespace tilewright {

// "q", "k" and "v" [1, 3, 8], two heads, opset 23. Of q by its root mean square (every scale 1) and of k,
// both turned: the causal attention over v as "standard" (Attention), "fused" (MultiHeadAttention) and
// "grouped" (GroupQueryAttention, which turns them itself); of the first: "skip" (SkipLayerNormalization with
// q) and "bits" (MatMulNBits, [1, 3, 4]). "projected" (Attention of com.microsoft of q, with a mask),
// "blocks" (DequantizeLinear of constants, [4, 4]) and "words" (EmbedLayerNormalization, [1, 3, 8]).
std::vector<std::byte> transformer_file();

// Rows of cosines and sines of two angles for each of three places.
std::vector<float> transformer_cosines();
std::vector<float> transformer_sines();

}  // namespace tilewright
