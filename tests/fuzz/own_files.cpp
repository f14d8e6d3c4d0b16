#include "fuzz/own_files.h"

#include <cstdlib>

#include "fuzz/model_targets.h"
#include "model/models_tensorflow/graphdef_twin.h"
#include "model/own_networks/own_networks.h"
#include "model/recurrent/control_flow_networks.h"
#include "model/recurrent/recurrent_networks.h"
#include "model/recurrent/transformer_networks.h"
#include "support/frontend/saved_model_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {
namespace {

struct Files {
  std::filesystem::path folder;
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "own_files_XXXXXX").string();
    folder = mkdtemp(pattern.data());
    const Graph lenet = trained_lenet(), quantized = quantized_lenet();
    write_onnx(folder / "lenet.onnx", lenet);
    write_onnx(folder / "lenet_int8.onnx", quantized);
    write_file(folder / "signs.onnx", signs_network_file(1));
    write_file(folder / "lstm.onnx", recurrent_file({.direction = "bidirectional", .peepholes = true}));
    write_file(folder / "gru.onnx", recurrent_file({.op = "GRU", .lengths = {3, 1}}));
    write_file(folder / "loop.onnx", loop_file(3));
    write_file(folder / "sequence.onnx", sequence_file());
    write_file(folder / "microsoft.onnx", microsoft_file());
    write_file(folder / "transformer.onnx", transformer_file());
    write_file(folder / "forest.onnx", forest_file({.classes = 3}));
    write_file(folder / "lenet.tflite", tflite_twin(quantized));
    const std::vector<std::byte> frozen = graphdef_twin(lenet);
    write_file(folder / "lenet.pb", frozen);
    saved_model_testing::saved_model_of(frozen, {lenet.value(lenet.outputs[0]).name},
                                        {.style = saved_model_testing::VariableStyle::kFunctions})
        .write(folder / "lenet_saved");
    write_onnx(folder / "residual_int8.onnx", quantized_network("residual"));
    write_file(folder / "residual.pb", graphdef_twin(trained_network("residual")));
    write_file(folder / "depthwise.tflite", tflite_twin(quantized_network("depthwise")));
  }
  ~Files() { std::filesystem::remove_all(folder); }
};

}  // namespace

std::filesystem::path own_files() {
  static const Files files;
  return files.folder;
}

std::vector<FuzzTarget> own_models() {
  const std::filesystem::path folder = own_files();
  return {onnx_target(folder / "lenet.onnx"),         onnx_target(folder / "lenet_int8.onnx"),
          onnx_target(folder / "residual_int8.onnx"), onnx_target(folder / "signs.onnx"),
          onnx_target(folder / "lstm.onnx"),          onnx_target(folder / "gru.onnx"),
          onnx_target(folder / "loop.onnx"),          onnx_target(folder / "sequence.onnx"),
          onnx_target(folder / "microsoft.onnx"),     onnx_target(folder / "transformer.onnx"),
          tflite_target(folder / "lenet.tflite"),     tflite_target(folder / "depthwise.tflite"),
          tensorflow_target(folder / "lenet.pb"),     tensorflow_target(folder / "residual.pb"),
          checkpoint_target(folder / "lenet_saved")};
}

}  // namespace tilewright
