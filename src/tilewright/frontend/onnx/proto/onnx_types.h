// The element type numbers of ONNX files (TensorProto.DataType), up to opset 23.
#pragma once

#include <optional>
#include <string>

#include "tilewright/tensor/element_type.h"

namespace tilewright {

// nullopt for what a Graph cannot hold (strings, complex numbers, float8) and for unknown numbers.
std::optional<ElementType> element_type_from_onnx(int data_type);
// The number of the type that stores `type` in a file. i2, u2, i1, u1 and bipolar have none in ONNX and are
// stored as INT8 (UINT8 for u2, u1); the writer notes the true type beside them.
int onnx_storage_type(ElementType type);
// Whether a file says the type by its number alone.
bool has_onnx_type(ElementType type);
// "FLOAT", "STRING", "FLOAT8E4M3FN", ... or "type number 99".
std::string onnx_type_name(int data_type);

// Before the name of the true type, in the doc_string of a tensor or value that is stored widened.
inline constexpr const char* kElementTypeNote = "tilewright.element_type=";
// The type that such a note states; nullopt if `doc_string` is not one, or names a type that needs no note.
std::optional<ElementType> element_type_from_note(const std::string& doc_string);

}  // namespace tilewright
