#include "fuzz/own_targets.h"

#include "fuzz/allocation_targets.h"
#include "fuzz/bundle_targets.h"
#include "fuzz/own_files.h"
#include "fuzz/text_targets.h"

namespace tilewright {

std::vector<FuzzTarget> own_targets() {
  const auto hardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / kBundleHardware;
  std::vector<FuzzTarget> targets = own_models();
  for (const std::vector<FuzzTarget>& more :
       {bundle_targets(own_files() / "lenet_int8.onnx", hardware), allocation_targets(), text_targets()})
    targets.insert(targets.end(), more.begin(), more.end());
  return targets;
}

}  // namespace tilewright
