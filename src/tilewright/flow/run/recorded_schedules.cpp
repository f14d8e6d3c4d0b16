// A database may know a layer from a few random trials alone, so its best is compared with what the layer
// would get without it.
#include "tilewright/flow/run/recorded_schedules.h"

#include <map>
#include <string>

#include "tilewright/overlay/measure/layer_cycles.h"
#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright {
namespace {

class Lookup {
 public:
  Lookup(const tune::BestSchedules& records, const OverlayHardware& hardware, const MemoryModel& memory)
      : records_(records),
        hardware_(hardware),
        memory_(memory),
        machine_(overlay::hardware_text(hardware, memory)) {}

  std::optional<overlay::Schedule> operator()(const overlay::OverlayLayer& layer) {
    const std::string workload = overlay::workload_text(layer);
    const auto known = found_.find(workload);
    if (known != found_.end()) return known->second;
    return found_[workload] = find(layer, workload);
  }

 private:
  std::optional<overlay::Schedule> find(const overlay::OverlayLayer& layer,
                                        const std::string& workload) const {
    const std::optional<tune::Record> record = records_.best(workload, machine_, overlay::kTimingTool);
    if (!record) return std::nullopt;
    const std::optional<overlay::Schedule> schedule = parse(record->key.schedule);
    if (!schedule) return std::nullopt;
    Diagnostics problems;
    verify(layer, hardware_, *schedule, problems);
    if (!problems.ok() || *record->cost >= default_cycles(layer)) return std::nullopt;
    return schedule;
  }

  static std::optional<overlay::Schedule> parse(const std::string& text) {
    try {
      return overlay::parse_schedule(text, "record");
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  double default_cycles(const overlay::OverlayLayer& layer) const {
    const overlay::Schedule schedule = overlay::default_schedule(layer, hardware_);
    const overlay::OverlayLayer scheduled = overlay::scheduled_layer(layer, schedule);
    return overlay::predict_layer(overlay::Tiling(scheduled, hardware_, schedule), hardware_, memory_).cycles;
  }

  const tune::BestSchedules& records_;
  const OverlayHardware& hardware_;
  MemoryModel memory_;
  std::string machine_;
  std::map<std::string, std::optional<overlay::Schedule>> found_;  // by workload: networks repeat layers
};

}  // namespace

ScheduleSource recorded_schedules(const tune::BestSchedules& records, const OverlayHardware& hardware,
                                  const MemoryModel& memory) {
  return Lookup(records, hardware, memory);
}

}  // namespace tilewright
