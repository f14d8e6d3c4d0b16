// Cases of the bench for queues, forks, joins, widths and windows: the expected output, derived directly from
// the input.
#pragma once

#include <memory>
#include <vector>

#include "support/pipeline/component_bench_testing.h"
#include "tilewright/pipeline/component/sliding_window.h"

namespace tilewright::pipeline {

// Checks every output beat. `startup` >= 0: in the first run of the bench (full speed) its busiest stream
// rests for at most this many cycles.
std::unique_ptr<BenchCase> stream_fifo_case(int64_t width, int64_t depth, const std::string& kind,
                                            int64_t startup = -1);
std::unique_ptr<BenchCase> stream_fork_case(int64_t width, int64_t startup = -1);
std::unique_ptr<BenchCase> stream_join_case(int64_t width, int64_t startup = -1);
std::unique_ptr<BenchCase> stream_width_case(int64_t element, int64_t in, int64_t out, int64_t startup = -1);
std::unique_ptr<BenchCase> line_window_case(netlist::Parameters parameters, int64_t startup = -1);
// TASKS and TABLE are filled in.
std::unique_ptr<BenchCase> sliding_window_case(netlist::Parameters parameters,
                                               std::vector<SlidingWindowRow> rows, int64_t startup = -1);

}  // namespace tilewright::pipeline
