// One operator for the overlay, independent of its hardware: what a graph node computes, in the only form
// that the lowering knows.
//
// Every convolution-like operator is a sum over taps. Output position (out_y + qy*out_step_y, out_x +
// qx*out_step_x) of a phase reads, for every tap, input position (qy*in_step_y + dy, qx*in_step_x + dx) and
// multiplies it with one weight position. Convolutions and pools have one phase and in_step = stride; a
// transposed convolution has one phase per output residue (only the taps that reach it) and out_step =
// stride. Which input channels an output channel needs is the channel pattern. Dense layers are 1x1 images
// (or, after a Flatten, convolutions as large as the image); additions are two sources with diagonal weights;
// average pools are diagonal weights of ones. docs/design/overlay/overlay.md explains the reasons.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/layers/fused_layer.h"

namespace tilewright::overlay {

// ny x nx taps: tap (j, i) reads (dy + j*dy_step, dx + i*dx_step) and weight position weight +
// j*weight_step_y
// + i*weight_step_x. Steps are never negative.
struct TapGrid {
  int source = 0;  // index into OverlayLayer::sources
  int pass = 0;  // the accumulator is shifted left by OverlayLayer::pass_shift before each pass but the first
  int ny = 1, nx = 1;
  int dy = 0, dx = 0, dy_step = 1, dx_step = 1;
  int weight = 0, weight_step_y = 0, weight_step_x = 0;
  bool operator==(const TapGrid&) const = default;
};

struct Phase {
  int out_y = 0, out_x = 0;
  std::vector<TapGrid> grids;  // may be empty: then the outputs are the bias alone
};

enum class OverlayLayerKind {
  kMatrix,   // everything that accumulates
  kMaximum,  // maximum over the taps that lie inside the image
  kProduct,  // of two sources, element by element, or their OverlayLayer::pair; wide instructions only
};

enum class ChannelPattern {
  kDense,           // every output channel reads every input channel
  kGrouped,         // output channel o reads the group_inputs channels of group o / group_outputs
  kDiagonal,        // output channel c reads input channel c with a weight of its own (depthwise)
  kSharedDiagonal,  // the same, with one weight for all channels: OverlayLayer::diagonal
};

// How a value lies in memory: as [batch, channels, height, width]. Where the value was put together from
// parts that each begin a block, `channels` counts the lanes between them as well, and `lanes` is the place
// of each of the value's channels; empty: channel c is at c.
struct SourceView {
  int64_t batch = 1, channels = 1, height = 1, width = 1;
  std::vector<int64_t> lanes = {};
  int planes = 1;  // 2: of 16 bits; the blocks of high bytes, then those of low ones (LayerSource)
  bool operator==(const SourceView&) const = default;

  int64_t channels_of_value() const { return lanes.empty() ? channels : int64_t(lanes.size()); }
  int64_t lane(int64_t channel) const { return lanes.empty() ? channel : lanes[size_t(channel)]; }
};

// Where the blocks of matrices stand that a layer takes as groups of channels, in elements: of image n, block
// b at n * row + b / head_blocks * head + b % head_blocks.
struct BlockPlaces {
  int64_t head_blocks = 0;  // 0: as those of one image do
  int64_t row = 0, head = 0;
  bool operator==(const BlockPlaces&) const = default;

  bool any() const { return head_blocks > 0; }
  int64_t at(int64_t n, int64_t b) const { return n * row + b / head_blocks * head + b % head_blocks; }
};

// A tensor that the layer reads, seen as [batch, channels, height, width].
struct LayerSource {
  ValueId value = kNoValue;
  int64_t channels = 1, height = 1, width = 1;
  bool bipolar = false;  // single bits that stand for -1 and +1
  // Of a 16-bit tensor, 256 * high + low + 128: which of its planes of 8 bits this is, high or low, and how
  // many it has. The planes follow each other by blocks of channels.
  int plane = 0, planes = 1;
  // Of a product: what is subtracted from its elements; whether its one position, or its one channel, stands
  // for all of the result's.
  int32_t zero_point = 0;
  bool one_position = false, one_channel = false;
  int32_t multiplier = 1;  // of a sum of two sources
  // Distances in the image that it is a part of, as those of OverlayLayer's result.
  int64_t image_row = 0, image_plane = 0;
  BlockPlaces places;
  std::optional<SourceView> held_as;  // of a value that lies as another view than this

  int64_t row_distance() const { return image_row > 0 ? image_row : width; }
  int64_t plane_distance() const { return image_plane > 0 ? image_plane : height * width; }
};

// How a 3-channel image is rearranged when the host packs it: fold_y x fold_x neighbouring positions become
// channels, so that fewer, fuller micro-ops are needed. Folded channel (c*fold_y + jy)*fold_x + jx at (y, x)
// holds channel c at (y*sample_y + origin_y + jy*step_y, x*sample_x + origin_x + jx*step_x), or pad_value
// outside the image.
struct InputFold {
  int fold_y = 1, fold_x = 1;
  int step_y = 1, step_x = 1;
  int sample_y = 1, sample_x = 1;
  int origin_y = 0, origin_x = 0;
  int64_t channels = 1, height = 1, width = 1;  // of the original image
  int32_t pad_value = 0;
  bool operator==(const InputFold&) const = default;
};

// Weights that are the activations of another layer, [groups][rows][depth] or, `columns`, [groups][depth]
// [rows]: the second operand of a product. Elements of INP.
struct ComputedWeights {
  LayerSource source;
  bool columns = false;
  int64_t rows = 1, depth = 1;               // of a matrix: outputs, inputs
  int64_t heads_of_group = 1;                // groups of channels that take one matrix in turn
  int64_t head_stride = 0, line_stride = 0;  // from matrix to matrix; from line to line of its first axis
  int32_t input_offset = 0;                  // added to every input before the product
};

// What is made of whole rows, all channels of a 1x1 image or of a group of them, before the output stage.
struct RowFunction {
  enum class Kind { kSoftmax, kNorm };
  Kind kind = Kind::kSoftmax;
  uint64_t number = 0;               // numerator; epsilon
  int shift = 0;                     // of a softmax
  int fraction = 0;                  // of a norm
  bool center = true;                // of a norm
  int32_t offset = 0;                // added to the accumulators first
  int last_lanes = 1;                // of a row's last element that are channels
  const Tensor* table = nullptr;     // i32[256], of a softmax: by how much smaller than the largest
  std::optional<LayerFinish> first;  // requantises the sums of a product before all this
};

struct OverlayLayer {
  std::string name, op;
  OverlayLayerKind kind = OverlayLayerKind::kMatrix;
  ChannelPattern pattern = ChannelPattern::kDense;
  int64_t batch = 1, out_channels = 1, out_height = 1, out_width = 1;
  std::vector<LayerSource> sources;
  int in_step_y = 1, in_step_x = 1, out_step_y = 1, out_step_x = 1;
  int32_t pad_value = 0;  // what lies outside the image (matrix layers)
  std::vector<Phase> phases;
  int64_t group_inputs = 0, group_outputs = 0;  // kGrouped
  int pass_shift = 8;
  // 16-bit results: as many channels as the plane of high bytes takes; that of low ones follows. Else 0.
  int64_t out_plane = 0;
  int64_t result_channels = 0;  // of a 16-bit result: its channels, in each plane

  // kDense, kGrouped, kDiagonal: `weights` i8|i16 [out_channels, inputs per output, positions]; position p of
  // plane k (wider weights are a sum of planes of weight_bits) is weight index k*positions + p.
  int weight_bits = 8;
  int64_t input_magnitude = 128;  // of the largest input
  Tensor weights;
  int weight_positions = 1, weight_planes = 1;
  std::vector<int64_t> weight_magnitude;  // by output channel: sum of the weights' magnitudes
  std::vector<int8_t> diagonal;           // kSharedDiagonal: by weight index
  // kProduct: what is made of the two. A sum is of each times LayerSource::multiplier.
  enum class Pair { kProduct, kLarger, kSmaller, kSum };
  Pair pair = Pair::kProduct;
  int spread = -1;  // kSharedDiagonal: the weight index by which every lane reads the first, not its own

  // Distances in the image that the result is a part of, in positions: from row to row, and between channel
  // blocks. 0: it lies alone.
  int64_t result_row = 0, result_plane = 0;

  std::optional<ComputedWeights> computed;  // instead of `weights`
  // Of a product with what a cache holds, for the one token of a run: it takes the outputs, or the inputs, of
  // each group that stand for the tokens up to its own.
  enum class Visible { kAll, kOutputs, kInputs };
  Visible visible = Visible::kAll;
  std::optional<RowFunction> rows;
  BlockPlaces result_places;
  std::optional<SourceView> result_held_as;

  LayerFinish output;             // one bias per output channel
  bool foldable = false;          // the host packs sources[0], so it may fold it
  std::optional<InputFold> fold;  // of sources[0]
  ValueId result = kNoValue;
  std::vector<int64_t> lanes;  // of the result, as in SourceView
  int64_t macs = 0;            // useful multiply-accumulates

  int weight_count() const {
    return pattern == ChannelPattern::kSharedDiagonal ? int(diagonal.size())
                                                      : weight_positions * weight_planes;
  }
  int64_t row_distance() const { return result_row > 0 ? result_row : out_width; }
  int64_t plane_distance() const { return result_plane > 0 ? result_plane : out_height * out_width; }
  // Weight `index` of output channel o and input channel i (absolute); 0 where the pattern has none.
  int8_t weight(int64_t o, int64_t i, int index) const;
};

// pad_value as stored in a lane of a source: for bipolar ones the bit, for planes the byte.
int32_t padding_lane(const OverlayLayer& layer, size_t source);

// Rank 4 as it is, rank 2 as 1x1 images, rank 3 as one row.
std::optional<SourceView> image_view(const Shape& shape);
// How a source or the result of a layer lies there, alone.
SourceView view_of(const OverlayLayer& layer, const LayerSource& source);
SourceView result_view(const OverlayLayer& layer);
// Of values whose shape does not say it.
using SourceViews = std::map<ValueId, SourceView>;

// Whether `node` only views its input under another shape, without data movement on the overlay.
bool is_view(const Graph& graph, const Node& node);

// Whether the overlay can run `node` of an integer graph; if not, `reason` (may be null) is every reason
// why, and what would help. Flatten and Reshape between layers are "supported" as the views they are when
// their input is.
bool supports(const Graph& graph, const Node& node, const OverlayHardware& hardware, std::string* reason);

// Whether `node` writes rows into a cache in accelerator memory: no layer, but a place for what makes them.
bool is_cache_update(const Node& node);

// Concat of values whose parts lie in one image, behind each other (channels) or side by side (rows,
// columns): no layer, but a place for what makes the parts. `parts` are their views; nullopt after adding the
// reason to `refusals`.
int join_axis(const Graph& graph, const Node& node);  // of [N, C, H, W]: 1 to 3; 0: it is none
bool is_join(const Graph& graph, const Node& node);
std::optional<SourceView> join_view(const Graph& graph, const Node& node, std::span<const SourceView> parts,
                                    const OverlayHardware& hardware, Diagnostics& refusals);

// The layer of a node, or nullopt after adding to `refusals` why the overlay cannot run it, naming the node
// (unsupported). `views`: of inputs that lie in memory in another way than their shape says.
// Errors (invalid input): a window that does not fit.
std::optional<OverlayLayer> find_layer(const Graph& graph, const Node& node, const OverlayHardware& hardware,
                                       Diagnostics& refusals, const SourceViews& views = {});

// The same for callers that know of a layer. Errors: the refusals.
OverlayLayer extract_layer(const Graph& graph, const Node& node, const OverlayHardware& hardware,
                           const SourceViews& views = {});

// Why `layer` cannot run exactly on `hardware`; empty if it can.
std::string why_not(const OverlayLayer& layer, const OverlayHardware& hardware);

// The layer with fold_y x fold_x positions of its input folded into channels. nullopt if it is not a dense
// single-source convolution or nothing is gained.
std::optional<OverlayLayer> fold_input(const OverlayLayer& layer, int fold_y, int fold_x);

// Smallest and largest weight of `bits` bits; single bits are -1 and +1.
int64_t lowest_weight(int bits);
int64_t highest_weight(int bits);

// What the lanes after the last input channel add to a bipolar sum: they hold -1, and 1-bit weights have no
// zero. Their weights alternate, so only an odd number of channels leaves a remainder, one per tap.
int32_t unused_lane_sum(const OverlayLayer& layer);

// Largest magnitude that accumulator plus bias can take for any input, over all output channels.
int64_t accumulator_bound(const OverlayLayer& layer, int64_t channel);

}  // namespace tilewright::overlay
