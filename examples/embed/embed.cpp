// Compiles a quantised model for an overlay inside another program and runs it once, on zeros.
// usage: embed MODEL.onnx HARDWARE.yaml
#include <cstdio>

#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/quantize/integerize/integerize.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed MODEL.onnx HARDWARE.yaml\n");
    return 1;
  }
  try {
    using namespace tilewright;
    const Compilation compilation = compile(integerize(load_model(argv[1])), read_overlay_hardware(argv[2]));
    Session session(std::make_shared<const Engine>(compilation.bundle, Execution::kAsPlaced));
    const Value& input = compilation.bundle.graph.value(compilation.bundle.graph.inputs[0]);
    const Tensor output = session.run({Tensor(input.type, input.shape)})[0];
    std::printf("%zu overlay layers, output %s, first value %g\n", compilation.layers.size(),
                to_string(output.type(), output.shape()).c_str(), output.number_at(0));
    return 0;
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return int(error.kind());
  }
}
