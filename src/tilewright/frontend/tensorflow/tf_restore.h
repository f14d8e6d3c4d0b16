// Variables of a SavedModel: which tensor of its checkpoint holds the value of each.
#pragma once

#include <filesystem>

#include "tilewright/base/error.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/frontend/tensorflow/tf_inference.h"
#include "tilewright/frontend/tensorflow/tf_model.h"

namespace tilewright {

// Notes with each variable under which key the file's own operators restore it, if they do.
void find_restored(TfModel& model);

// Gives variables the values of the checkpoint `prefix` (PREFIX.index and its data files), after which they
// are constants. They stay variables if the options have them filled, or allow a checkpoint that is missing.
// Errors go to `diagnostics`: an index that cannot be read, and each variable that is not in it, or has
// another type or shape there, or damaged elements.
void restore_variables(TfNetwork& network, const std::filesystem::path& prefix,
                       const TensorflowOptions& options, Diagnostics& diagnostics);

}  // namespace tilewright
