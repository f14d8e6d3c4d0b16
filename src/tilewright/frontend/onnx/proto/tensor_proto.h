// TensorProto <-> Tensor, for the files of this folder that include the protobuf classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/base/error.h"
#include "tilewright/frontend/onnx/proto/external_data.h"
#include "tilewright/tensor/tensor.h"

namespace onnx {
class TensorProto;
}

namespace tilewright {

struct TensorProtoOptions {
  ExternalData* external = nullptr;    // null: external data is refused
  bool allow_missing_weights = false;  // zeros and a warning where the external file is missing
  int64_t zero_fill_budget_bytes = 0;  // what may still be allocated so; reduced by each
};

// nullopt after adding an error to `diagnostics` under the name `where`.
std::optional<Tensor> tensor_from_proto(const onnx::TensorProto& proto, const std::string& where,
                                        TensorProtoOptions& options, Diagnostics& diagnostics);

// Fills type, dims and raw data; the caller sets the name.
void tensor_to_proto(const Tensor& tensor, onnx::TensorProto& proto);

}  // namespace tilewright
