// Closed forms of the traffic. With E' the height of a strip, h = U (E' - 1) + R its pixel rows and
// c(x) = ceil(x), per group and image: pixels leave the buffer C W sum(h) c(M/pt) times (per block of m
// filters), partial sums enter and leave it M E F (c(C/qr) - 1) and M E F c(C/qr) times, weights are loaded
// anew for every strip and every batch of n images.
#include "tilewright/spatial/chip/traffic.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

// Sum over blocks of `total` cut into `block` of c(block / part).
int64_t parts(int64_t total, int64_t block, int64_t part) {
  return total / block * ceil_div(block, part) + ceil_div(total % block, part);
}

// Sum over the groups of p*t filters in blocks of m of the filter sets in use, c(filters / p).
int64_t filter_sets(int64_t filters, const RowStationaryMapping& a) {
  const auto of_block = [&](int64_t block) { return parts(block, a.p * a.t, a.p); };
  return filters / a.m * of_block(a.m) + of_block(filters % a.m);
}

}  // namespace

ArrayTraffic& ArrayTraffic::add(const ArrayTraffic& other, int64_t times) {
  macs += times * other.macs;
  dram_weight_words += times * other.dram_weight_words;
  dram_pixel_words += times * other.dram_pixel_words;
  dram_output_words += times * other.dram_output_words;
  buffer_pixel_reads += times * other.buffer_pixel_reads;
  buffer_psum_reads += times * other.buffer_psum_reads;
  buffer_psum_writes += times * other.buffer_psum_writes;
  buffer_output_reads += times * other.buffer_output_reads;
  weight_buffer_reads += times * other.weight_buffer_reads;
  filter_deliveries += times * other.filter_deliveries;
  pixel_deliveries += times * other.pixel_deliveries;
  psum_in_deliveries += times * other.psum_in_deliveries;
  psum_out_words += times * other.psum_out_words;
  link_words += times * other.link_words;
  filter_spad_reads += times * other.filter_spad_reads;
  filter_spad_writes += times * other.filter_spad_writes;
  pixel_spad_reads += times * other.pixel_spad_reads;
  pixel_spad_writes += times * other.pixel_spad_writes;
  psum_spad_reads += times * other.psum_spad_reads;
  psum_spad_writes += times * other.psum_spad_writes;
  return *this;
}

ArrayTraffic closed_form_traffic(const RowStationaryLayer& layer, const RowStationaryMapping& a) {
  const int64_t out_rows = layer.output_height(), strips = ceil_div(out_rows, a.e);
  const int64_t strip_rows = layer.stride * (out_rows - strips) + strips * layer.kernel_height;
  const int64_t channel_passes = ceil_div(layer.channels, a.q * a.r);
  const int64_t channel_sets = parts(layer.channels, a.q * a.r, a.q);
  const int64_t strip_pixels = layer.groups * layer.batch * layer.channels * strip_rows * layer.width;
  const int64_t outputs = layer.output_words();

  ArrayTraffic traffic;
  traffic.macs = layer.macs();
  traffic.dram_weight_words = layer.weight_words() * ceil_div(layer.batch, a.n) * strips;
  traffic.dram_pixel_words = strip_pixels * ceil_div(layer.filters, a.m);
  traffic.dram_output_words = outputs;
  traffic.buffer_pixel_reads = strip_pixels * parts(layer.filters, a.m, a.p * a.t);
  traffic.buffer_psum_reads = outputs * (channel_passes - 1);
  traffic.buffer_psum_writes = outputs * channel_passes;
  traffic.buffer_output_reads = outputs;
  traffic.weight_buffer_reads = traffic.dram_weight_words;
  traffic.filter_deliveries = layer.weight_words() * ceil_div(layer.batch, a.n) * out_rows;
  traffic.pixel_deliveries = layer.groups * layer.batch * layer.channels * out_rows * layer.kernel_height *
                             layer.used_columns() * filter_sets(layer.filters, a);
  traffic.psum_in_deliveries = traffic.buffer_psum_reads;
  traffic.psum_out_words = traffic.buffer_psum_writes;
  traffic.link_words = outputs * (channel_sets * layer.kernel_height - channel_passes);
  traffic.filter_spad_reads = traffic.pixel_spad_reads = traffic.macs;
  traffic.filter_spad_writes = traffic.filter_deliveries;
  traffic.pixel_spad_writes = traffic.pixel_deliveries;
  traffic.psum_spad_reads = traffic.psum_spad_writes = traffic.macs;
  return traffic;
}

}  // namespace tilewright
