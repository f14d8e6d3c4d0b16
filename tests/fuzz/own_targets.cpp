#include "fuzz/own_targets.h"

#include "fuzz/allocation_targets.h"
#include "fuzz/bundle_targets.h"
#include "fuzz/model_targets.h"
#include "fuzz/own_files.h"
#include "fuzz/text_targets.h"

namespace tilewright {

std::vector<FuzzTarget> own_targets() {
  const std::filesystem::path folder = own_files();
  const auto hardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / kBundleHardware;
  std::vector<FuzzTarget> targets = {
      onnx_target(folder / "lenet.onnx"),     onnx_target(folder / "lenet_int8.onnx"),
      onnx_target(folder / "signs.onnx"),     tflite_target(folder / "lenet.tflite"),
      tensorflow_target(folder / "lenet.pb"), checkpoint_target(folder / "lenet_saved")};
  for (const std::vector<FuzzTarget>& more :
       {bundle_targets(folder / "lenet_int8.onnx", hardware), allocation_targets(), text_targets()})
    targets.insert(targets.end(), more.begin(), more.end());
  return targets;
}

}  // namespace tilewright
