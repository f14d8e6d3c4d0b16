#include "tilewright/pipeline/fifo_sizing.h"

#include <gtest/gtest.h>
#include <fmt/format.h>
#include <numeric>
#include "tilewright/base/error.h"
#include "tilewright/pipeline/cycle_simulator.h"
#include "tilewright/pipeline/layer_geometry.h"
#include "tilewright/pipeline/network_testing.h"

namespace tilewright::pipeline {
namespace {

// The shapes of MLPerf Tiny's ResNet-8.
Network resnet8(bool with_weights, int64_t side) {
  NetworkBuilder builder("resnet8", {side, side, 4}, 1, with_weights);
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

uint64_t cycles(const Network& n, const Allocation& a, int images) {
  SimulationOptions o; o.images = images; 
  try { return simulate(build(n, a), o).cycles; } catch (const Error& e) { if (getenv("SHOW")) fmt::print("{}\n", e.what()); return 0; }
}

TEST(Fifo, Print) {
  const Network n = resnet8(true, 32);
  for (int64_t par : {4, 16}) {
    Allocation a; a.streaming = true; a.port_bytes = 4;
    for (const Layer& l : n.layers) { LayerAllocation o; o.layer = l.name;
      auto& in = n.tensors[l.input].shape; auto& out = n.tensors[l.output].shape;
      o.stage.pi = std::gcd(in.channels, par); o.stage.po = works_in_lanes(l.kind) ? o.stage.pi : std::gcd(out.channels, par*2); o.stage.pf = std::gcd(o.stage.po, int64_t{4});
      a.layers.push_back(o); }
    size_fifos(n, a);
    auto s = streaming_schedule(n, a);
    const uint64_t one = cycles(n, a, 1), five = cycles(n, a, 5), six = cycles(n, a, 6);
    fmt::print("interval {} simulated {} first {}\n", s.interval, six - five, one);
    auto all = a;
    for (auto& l : all.layers) { l.input_fifo *= 2; l.residual_fifo *= 2; }
    fmt::print("all doubled {} {}\n", cycles(n, all, 6) - cycles(n, all, 5), cycles(n, all, 1));
    for (size_t i = 0; i < n.layers.size(); ++i) {
      for (int which : {0, 1}) {
        auto b = a;
        int64_t& depth = which ? b.layers[i].residual_fifo : b.layers[i].input_fifo;
        if (depth == 0) continue;
        const int64_t full = depth; int64_t lo = 0;
        depth = full / 2;
        const uint64_t h1 = cycles(n, b, 1), h5 = cycles(n, b, 5), h6 = cycles(n, b, 6);
        int64_t hi = full;
        while (hi - lo > 1) { depth = (hi + lo) / 2; uint64_t c5 = cycles(n, b, 5), c6 = cycles(n, b, 6); if (c5 && c6 - c5 == six - five) hi = depth; else lo = depth; }
        fmt::print("{} {} depth {} halved: first {} interval {}; least {}\n", n.layers[i].name, which ? "res" : "in", full, h1, h5 ? h6 - h5 : 0, hi);
      }
    }
  }
}
}
}
