// The job "measure": JSON to layer, hardware and memory; each schedule is verified and timed, and an error of
// one stands in its place in the reply.
#include "tilewright/flow/explore/jobs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/flow/explore/candidate_job.h"
#include "tilewright/flow/explore/layer_text.h"
#include "tilewright/overlay/implement/implementation_run.h"
#include "tilewright/overlay/measure/schedule_timer.h"
#include "tilewright/overlay/schedule/schedule.h"
#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;
using namespace overlay;

uint64_t cycles_of(const std::string& text, const LayerForms& forms, const OverlayHardware& hardware,
                   ScheduleTimer& timer) {
  const Schedule schedule = parse_schedule(text, "schedule");
  const LayerForms::Form* form = forms.find(schedule.fold_y, schedule.fold_x);
  if (!form) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the layer cannot be folded by {}x{}", schedule.fold_y, schedule.fold_x));
  }
  Diagnostics diagnostics;
  verify(forms.original().layer, hardware, schedule, diagnostics);
  diagnostics.raise_if_any();
  return timer.cycles(Tiling(form->layer, hardware, schedule, form->facts));
}

std::string measure(const std::string& request) {
  const Json value = parse_json(request, "request");
  Diagnostics diagnostics;
  JsonMap map(value, "request", diagnostics);
  const std::string tool = map.text("tool"), layer_text = map.text("layer"),
                    hardware_text = map.text("hardware"), memory_text = map.text("memory");
  const Json* schedules = map.list("schedules");
  map.finish();
  diagnostics.raise_if_any();
  require_timing_tool(tool);
  const OverlayLayer layer = parse_layer(layer_text, "layer");
  const OverlayHardware hardware = parse_overlay_hardware(hardware_text, "hardware");
  const std::string reason = why_not(layer, hardware);
  if (!reason.empty()) throw Error(ErrorKind::kUnsupported, reason);
  const LayerForms forms(layer, hardware);
  ScheduleTimer timer(hardware, parse_memory_model(memory_text, "memory"));
  Json costs = Json::array();
  for (const Json& schedule : schedules ? *schedules : Json::array()) {
    try {
      costs.push_back(cycles_of(schedule.get<std::string>(), forms, hardware, timer));
    } catch (const Error& error) {
      costs.push_back(error.what());
    }
  }
  return json_text(Json{{"costs", std::move(costs)}});
}

}  // namespace

std::vector<tune::JobKind> job_kinds() {
  return {{"measure", measure}, {"implement", implement_json}, candidate_job()};
}

int serve_jobs(const tune::WorkerOptions& options, const tune::WorkerStreams& streams) {
  return tune::serve_jobs(options, job_kinds(), streams);
}

std::string measure_request(const OverlayLayer& layer, const OverlayHardware& hardware,
                            const MemoryModel& memory, const std::vector<std::string>& schedules) {
  return json_text(Json{{"tool", kTimingTool},
                        {"layer", print_layer(layer)},
                        {"hardware", print_overlay_hardware(hardware)},
                        {"memory", print_memory_model(memory)},
                        {"schedules", schedules}});
}

}  // namespace tilewright
