// A model in ONNX's bytes that answers inputs: what an ONNX backend prepares. Dynamic dimensions and inputs
// that decide shapes take the values of each call.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

struct OnnxSessionOptions {
  std::string overlay;  // a preset's name or a file: integer layers run there; empty: all runs on the host
  int threads = 1;
  SharedFolders folders;
};

class OnnxSession {
 public:
  // Errors: those of parse_onnx; (unsupported) an operator without a kernel; on an overlay, a model that is
  // not quantised, or of which the overlay takes no layer, with the reasons. Where the values of inputs are
  // needed to build the graph, run() reports what depends on them.
  OnnxSession(std::span<const std::byte> bytes, OnnxSessionOptions options);
  ~OnnxSession();

  // `inputs`: of the model's inputs without initializer, in file order. One tensor per output; bfloat16 gives
  // its bits in uint16, as ONNX does in NumPy. What was built for the last call is used again where shapes
  // and deciding values are the same. Errors besides (invalid input): number, type or shape of the inputs.
  std::vector<Tensor> run(std::vector<Tensor> inputs);

 private:
  struct Built;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tilewright
