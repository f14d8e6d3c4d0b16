// Compiles a quantised model for an overlay inside another program and runs it once, on zeros.
// usage: embed MODEL.onnx HARDWARE SHARED   SHARED: share/tilewright of the installation, where presets are
#include <cstdio>
#include <filesystem>

#include "tilewright/flow/facade.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: embed MODEL.onnx HARDWARE SHARED\n");
    return 1;
  }
  try {
    using namespace tilewright;
    const std::filesystem::path prefix = std::filesystem::path(argv[3]).parent_path().parent_path();
    const CompileRequest request{.hardware = argv[2], .folders = find_shared_folders(prefix, {})};
    const Compilation compilation = compile_model(load_quantized({.path = argv[1]}), request);
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
