// The options of one operator of a TFLite file. For the sources that see the FlatBuffers classes.
#pragma once

#include "tflite_schema_generated.h"
#include "tilewright/frontend/tflite/tflite_model.h"

namespace tilewright {

// Options of an operator other than `code` count as absent.
TfliteOperatorOptions tflite_operator_options(tflite_schema::BuiltinOperator code,
                                              const tflite_schema::Operator& op);

}  // namespace tilewright
