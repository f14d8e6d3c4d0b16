// Images through a network whose middle part is a generated design: what comes before and after it runs on
// the host.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/host/executor.h"
#include "tilewright/pipeline/network/network.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright {

class HostBorder {
 public:
  explicit HostBorder(const pipeline::Network& network);

  // The hardware's input for the model's inputs: row, column, channel.
  std::vector<int32_t> image(const std::vector<Tensor>& inputs) const;
  // The model's outputs for the hardware's output; `inputs` where the host needs them again.
  std::vector<Tensor> outputs(const std::vector<int32_t>& result,
                              const std::vector<Tensor>& inputs = {}) const;

 private:
  const pipeline::Network& network_;
  Executor before_, behind_;
};

struct DesignOutputs {
  std::vector<std::vector<Tensor>> outputs;  // by input
  uint64_t cycles = 0;                       // of all of them
  Ending ending = Ending::kNone;             // the port's deadline: the outputs are those of the first inputs
};

inline constexpr size_t kImagesAtOnce = 256;
// Runs all `inputs` (the model's) on the hardware behind `port`, kImagesAtOnce of them at a time. Expired:
// the port's deadline is over before the first of them are done.
DesignOutputs run_on_hardware(const pipeline::Network& network, const pipeline::Design& design,
                              pipeline::DesignPort& port, const std::vector<std::vector<Tensor>>& inputs);

}  // namespace tilewright
