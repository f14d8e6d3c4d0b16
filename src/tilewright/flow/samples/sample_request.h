// What a request says about samples: which files or arrays, for which inputs, and what is done to them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// A file, a folder of pictures or sounds, or an array in memory.
struct SampleSource {
  std::string input;  // of the model; empty: what an .npz says, or the model's only input
  std::filesystem::path path;
  std::optional<Tensor> array;  // if there: the samples
};

// The samples of all inputs of a model.
struct SampleRequest {
  std::vector<SampleSource> sources;
  int64_t count = 0;       // first samples only; 0: all
  double scale = 1.0;      // values are multiplied by it where the model takes floats
  std::string preprocess;  // of pictures and sounds, see read_preprocess(); empty: they are taken as they are

  bool empty() const { return sources.empty(); }
};

// "FILE" or "INPUT=FILE" as users write it. What exists as a file or folder is one, whatever its name.
SampleSource sample_source(const std::string& text);

// "file 'x.npy'", "folder 'x'" or "the array", for messages.
std::string name_of(const SampleSource& source);

}  // namespace tilewright
