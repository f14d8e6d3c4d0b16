// What switches in a generated design while it runs, by layer and by component.
#pragma once

#include <vector>

#include "tilewright/flow/design/design_folder.h"
#include "tilewright/flow/design/design_run.h"
#include "tilewright/flow/target/energy_report.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright {

// As run_on_hardware, on a port whose model counts activity; adds it to `energy`. A stage is its layer's;
// what an engine does belongs to the layer whose task it works on, behind `memory`; all else has a row of its
// own.
DesignOutputs run_with_energy(const DesignFolder& folder, pipeline::RtlDesignPort& port,
                              const MemoryModel& memory, const std::vector<std::vector<Tensor>>& inputs,
                              EnergyReport& energy);

}  // namespace tilewright
