// The samples of all inputs of a model, read, checked and cut: what the command, the Python package and every
// part of the flow use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/flow/samples/media_samples.h"
#include "tilewright/flow/samples/sample_request.h"
#include "tilewright/flow/samples/samples.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

class InputSamples {
 public:
  // `option`: of the command, where the request is from; hints name it. Files are .npy, idx (plain or gzip),
  // .npz with a member for every input (a single member is the model's only input, whatever its name),
  // pictures, sounds, or folders of these. Errors (invalid input), all of them: nothing is given; files that
  // cannot be read; inputs that are missing, unknown or given twice; arrays of another shape, or with values
  // that the input's type lacks; different numbers of samples; steps of preprocessing without a picture or a
  // sound.
  static InputSamples read(const SampleRequest& request, const Graph& graph, const std::string& option,
                           int threads = 1);

  // How many times the model can be run; what it takes the time `index`, in the order of its inputs; and all
  // of them, one after the other along axis 0 of each array.
  int64_t count() const { return count_; }
  std::vector<Tensor> cut(int64_t index) const;
  std::vector<Tensor> stack() const;

  // Of the inputs that are pictures and sounds: a line for each with its end, and the text of an object
  // by input.
  std::string text() const;
  std::string json() const;

 private:
  struct Input {
    std::string name;
    ElementType type;
    Shape shape;
    Samples samples;
    MediaAccount account;
  };
  std::vector<Input> inputs_;
  int64_t count_ = 0;

  friend class InputReader;
};

// The array of one .npy or idx file, or of an .npz with a single member; or the one in memory. Errors
// (invalid input): unreadable, another format.
Tensor read_array(const SampleSource& source);
// Its samples, for labels and for programs that have no model. Errors: also those of Samples.
Samples read_samples(const SampleSource& source, int64_t count = 0, double scale = 1.0);

// Whether pictures or sounds are among the sources.
bool holds_media(const SampleRequest& request);

// Errors (invalid input): no source is given with `option`.
void check_given(const SampleRequest& request, const std::string& option);

}  // namespace tilewright
