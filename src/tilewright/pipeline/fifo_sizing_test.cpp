#include "tilewright/pipeline/fifo_sizing.h"

#include <gtest/gtest.h>
#include <fmt/format.h>
#include <numeric>
#include "tilewright/pipeline/layer_geometry.h"
#include "tilewright/pipeline/network_testing.h"

namespace tilewright::pipeline {
namespace {

// The shapes of MLPerf Tiny's ResNet-8.
Network resnet8(bool with_weights) {
  NetworkBuilder builder("resnet8", {32, 32, 3}, 1, with_weights);
  int tensor = builder.convolution(0, 16, 3);
  for (int64_t stage = 0; stage < 3; ++stage) {
    const int64_t width = int64_t{16} << stage, stride = stage == 0 ? 1 : 2;
    const int branch = stage == 0 ? tensor : builder.convolution(tensor, width, 1, stride);
    int body = builder.convolution(tensor, width, 3, stride);
    body = builder.convolution(body, width, 3);
    tensor = builder.residual(body, branch);
  }
  return builder.finish(builder.dense(builder.average(tensor), 10));
}

TEST(Fifo, Print) {
  const Network n = resnet8(false);
  for (int64_t par : {1, 4, 16}) {
    Allocation a; a.streaming = true;
    for (const Layer& l : n.layers) { LayerAllocation o; o.layer = l.name;
      auto& in = n.tensors[l.input].shape; auto& out = n.tensors[l.output].shape;
      o.stage.pi = std::gcd(in.channels, par); o.stage.po = works_in_lanes(l.kind) ? o.stage.pi : std::gcd(out.channels, par*2); o.stage.pf = std::gcd(o.stage.po, int64_t{4});
      a.layers.push_back(o); }
    size_fifos(n, a);
    auto s = streaming_schedule(n, a);
    fmt::print("interval {}\n", s.interval);
    for (size_t i = 0; i < n.layers.size(); ++i) { auto& l = n.layers[i]; auto& o = a.layers[i]; auto& out=n.tensors[l.output].shape;
      fmt::print("{} {}x{}x{} k{} pi{} po{} pf{} start {:.0f} period {:.1f} service {} in {} res {} ({:.1f} px)\n", l.name, out.rows, out.columns, out.channels, l.window.rows, o.stage.pi,o.stage.po,o.stage.pf, s.stages[i].start, s.stages[i].period, s.stages[i].service, o.input_fifo, o.residual_fifo, double(o.residual_fifo)*o.stage.pf/out.channels); }
  }
}
}
}
