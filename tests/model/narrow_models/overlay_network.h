// A quantised graph on an overlay and, as the reference, on the host.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {

inline OverlayHardware overlay_of(const std::string& name) {
  return read_overlay_hardware(TILEWRIGHT_SOURCE_DIR "/hardware/" + name + ".yaml");
}

class OverlayNetwork {
 public:
  OverlayNetwork(const Graph& quantised, const std::string& overlay) : bundle_(make(quantised, overlay)) {}

  int64_t overlay_layers() const { return layers_; }
  // The outputs, after comparing both.
  std::vector<float> run(const Tensor& input) {
    const Tensor on_overlay = overlay_.run({input})[0], on_host = host_.run({input})[0];
    EXPECT_TRUE(on_overlay.identical(on_host));
    return on_overlay.to_floats();
  }

 private:
  Bundle make(const Graph& quantised, const std::string& overlay) {
    Compilation compilation = compile(integerize(optimize(quantised)), overlay_of(overlay));
    layers_ = int64_t(compilation.layers.size());
    return std::move(compilation.bundle);
  }

  int64_t layers_ = 0;
  Bundle bundle_;
  Session overlay_{std::make_shared<const Engine>(bundle_, Execution::kAsPlaced)};
  Session host_{std::make_shared<const Engine>(bundle_, Execution::kOnHost)};
};

}  // namespace tilewright
