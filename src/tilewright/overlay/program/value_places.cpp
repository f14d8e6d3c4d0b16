// Every value has a buffer. Parts and pieces have a parent and their place in it, whatever came first: the
// addresses follow once all buffers are known.
#include "tilewright/overlay/program/value_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/lower/memory_plan.h"
#include "tilewright/overlay/schedule/channel_move.h"
#include "tilewright/overlay/schedule/packing.h"

namespace tilewright::overlay {
namespace {

// Row strides of the plain LOAD have 16 bits.
constexpr int64_t kLargestPlainImage = 65535;

[[noreturn]] void refuse(const Node& node, const std::string& reason) {
  throw Error({{ErrorKind::kUnsupported, where(node), node.op, reason, "run it on the host"}});
}

// Nodes of `nodes` among the first `count`.
std::vector<bool> marked(std::span<const NodeId> nodes, size_t count) {
  std::vector<bool> inside(count, false);
  for (const NodeId id : nodes) inside[size_t(id)] = true;
  return inside;
}

// What a Slice leaves of an image: consecutive channels, rows and columns.
struct Piece {
  SourceView view;
  int64_t first_block = 0, first_row = 0, first_col = 0;
};

// Channels [first, first + count) of the piece; false: they do not begin a block.
bool take_channels(const SourceView& from, int64_t first, int64_t count, int64_t block, Piece& piece) {
  const int64_t begin = from.lane(first);
  if (begin % block != 0) return false;
  std::vector<int64_t> lanes;
  for (int64_t c = 0; c < count; ++c) lanes.push_back(from.lane(first + c) - begin);
  piece.first_block = begin / block;
  piece.view.channels = lanes.back() + 1;
  const bool gaps = piece.view.channels != count;
  piece.view.lanes = gaps ? std::move(lanes) : std::vector<int64_t>();
  return true;
}

std::optional<Piece> piece_of(const ChannelMove& move, const SourceView& from, int64_t block) {
  if (move.in_step_y != 1 || move.in_step_x != 1 || move.output_channels == 0 || move.height == 0 ||
      move.width == 0) {
    return std::nullopt;
  }
  Piece piece{from, 0, move.pieces[0].dy, move.pieces[0].dx};
  piece.view.height = move.height;
  piece.view.width = move.width;
  if (move.channels.empty()) return piece;
  for (size_t c = 0; c < move.channels.size(); ++c) {
    if (move.channels[c] != move.channels[0] + int64_t(c)) return std::nullopt;
  }
  if (!take_channels(from, move.channels[0], move.output_channels, block, piece)) return std::nullopt;
  return piece;
}

}  // namespace

ValuePlaces::ValuePlaces(const Graph& graph, std::span<const NodeId> nodes, const OverlayHardware& hardware)
    : graph_(graph),
      hardware_(hardware),
      readers_(graph.consumers()),
      inside_(marked(nodes, graph.nodes.size())) {}

SourceView ValuePlaces::view_of(ValueId value) const {
  const auto known = views_.find(value);
  if (known != views_.end()) return known->second;
  return image_view(graph_.value(value).shape).value_or(SourceView{});
}

ValueId ValuePlaces::root_of(ValueId value) const {
  const auto known = view_source_.find(value);
  return known == view_source_.end() ? value : known->second;
}

void ValuePlaces::add_view(const Node& node) {
  const SourceView view = view_of(node.input(0));
  const Shape& shape = graph_.value(node.outputs[0]).shape;
  const std::optional<SourceView> image = image_view(shape);
  const bool same_image = image && image->channels == view.channels_of_value() &&
                          image->height == view.height && image->width == view.width;
  // What reads more than two dimensions goes by the shape.
  if (shape.rank() > 2 && !same_image) {
    refuse(node, fmt::format("its input lies in the overlay's memory as images of {} x {} x {}",
                             view.channels, view.height, view.width));
  }
  views_[node.outputs[0]] = view;
  view_source_[node.outputs[0]] = root_of(node.input(0));
}

void ValuePlaces::add_join(const Node& node, int now) {
  std::vector<SourceView> parts;
  for (const ValueId v : node.inputs) parts.push_back(view_of(v));
  Diagnostics refusals;
  const std::optional<SourceView> joined = join_view(graph_, node, parts, hardware_, refusals);
  refusals.raise_if_any();
  const int axis = join_axis(graph_, node);
  check_parts(node, axis);
  Buffer whole;
  whole.value = node.outputs[0];
  whole.view = *joined;
  whole.first = whole.last = now;
  const int index = int(buffers_.size());
  buffers_.push_back(whole);
  Buffer next;
  for (size_t i = 0; i < parts.size(); ++i) {
    const ValueId root = root_of(node.inputs[i]);
    const auto home = homes_.find(root);
    Buffer* part = home == homes_.end() ? nullptr : &buffers_[home->second];
    if (part == nullptr) {
      Buffer given;
      given.value = root;
      given.view = parts[i];
      given.is_input = true;
      given.last = now;
      part = &buffers_.emplace_back(given);
    }
    part->parent = index;
    part->first_block = next.first_block;
    part->first_row = next.first_row;
    part->first_col = next.first_col;
    if (axis == 1) next.first_block += ceil_div(parts[i].channels, hardware_.block_in);
    if (axis == 2) next.first_row += parts[i].height;
    if (axis == 3) next.first_col += parts[i].width;
  }
  homes_[whole.value] = size_t(index);
  views_[whole.value] = *joined;
}

void ValuePlaces::add_cache(const Node& node, int now) {
  const ValueId row = node.input(1);
  const auto home = homes_.find(root_of(row));
  const bool alone = home != homes_.end() && buffers_[home->second].parent < 0 &&
                     !buffers_[home->second].is_cache && readers_[size_t(row)].size() == 1 &&
                     root_of(row) == row && !graph_.is_output(row);
  if (!alone)
    refuse(node, fmt::format("'{}' is not made by a layer for this cache alone", graph_.value(row).name));
  const ValueId before = node.input(0);
  if (std::ranges::find(graph_.inputs, before) == graph_.inputs.end() || readers_[size_t(before)].size() != 1)
    refuse(node, "its cache is no input of the network that it alone reads");
  if (graph_.value(row).type != ElementType::kI8)
    refuse(node, "only caches of 8 bits lie in the overlay's memory");
  if (hardware_.batch != 1) refuse(node, "caches need an overlay of batch 1");
  if (graph_.value(row).shape[0] != 1) refuse(node, "caches take one token in a run, not several");
  for (const NodeId reader : readers_[size_t(node.outputs[0])]) {
    if (!inside_[size_t(reader)]) refuse(node, "the host reads its cache");
  }
  Buffer cache;
  cache.value = node.outputs[0];
  cache.view = *image_view(graph_.value(cache.value).shape);
  cache.is_cache = true;
  cache.first = cache.last = now;
  buffers_[home->second].parent = int(buffers_.size());
  homes_[cache.value] = buffers_.size();
  views_[cache.value] = cache.view;
  buffers_.push_back(std::move(cache));
}

// A part is of one concatenation alone. The host cannot read one whose rows lie among those of others.
void ValuePlaces::check_parts(const Node& node, int axis) const {
  std::set<ValueId> roots;
  const auto check = [&](ValueId v, bool holds, const char* why) {
    if (!holds) refuse(node, fmt::format("'{}' {}", graph_.value(v).name, why));
  };
  for (const ValueId v : node.inputs) {
    const auto home = homes_.find(root_of(v));
    const bool taken = home != homes_.end() && buffers_[home->second].parent >= 0;
    check(v, roots.insert(root_of(v)).second && !taken, "is part of a concatenation already");
    if (axis == 1) continue;
    check(v, home != homes_.end(), "comes from the host, which packs images on their own");
    check(v, only_joined(home->second, v), "is read by others as well");
  }
}

// Whether `v`, the value of a buffer, and its parts have one reader each.
bool ValuePlaces::only_joined(size_t buffer, ValueId v) const {
  if (root_of(v) != v || readers_[size_t(v)].size() != 1 || graph_.is_output(v)) return false;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].parent == int(buffer) && !only_joined(i, buffers_[i].value)) return false;
  }
  return !buffers_[buffer].is_input;
}

bool ValuePlaces::read_outside(ValueId value) const {
  return graph_.is_output(value) || !std::ranges::all_of(readers_[size_t(value)], [&](NodeId reader) {
           return inside_[size_t(reader)];
         });
}

// Whether nothing but layers of the program read the value, views of it included: they can read a piece of an
// image where it lies. A concatenation needs its parts elsewhere, the host reads whole images.
bool ValuePlaces::read_by_layers(ValueId value) const {
  if (read_outside(value)) return false;
  return std::ranges::all_of(readers_[size_t(value)], [&](NodeId reader) {
    const Node& node = graph_.nodes[size_t(reader)];
    if (is_join(graph_, node)) return false;
    return !is_view(graph_, node) || read_by_layers(node.outputs[0]);
  });
}

bool ValuePlaces::add_piece(const Node& node, int now) {
  if (!node.is("Slice") || hardware_.weight_bits == 1 || !is_channel_move(graph_, node)) return false;
  const auto home = homes_.find(root_of(node.input(0)));
  const SourceView from = view_of(node.input(0));
  const std::optional<SourceView> shape = image_view(graph_.value(node.input(0)).shape);
  if (home == homes_.end() || !shape || from.batch > hardware_.batch ||
      from.channels_of_value() != shape->channels || from.height != shape->height ||
      from.width != shape->width || !read_by_layers(node.outputs[0])) {
    return false;
  }
  const std::optional<ChannelMove> move = read_channel_move(graph_, node);
  const std::optional<Piece> piece = move ? piece_of(*move, from, hardware_.block_in) : std::nullopt;
  if (!piece) return false;
  Buffer buffer;
  buffer.value = node.outputs[0];
  buffer.view = piece->view;
  buffer.bipolar = buffers_[home->second].bipolar;
  buffer.first = buffer.last = now;
  buffer.parent = int(home->second);
  buffer.first_block = piece->first_block;
  buffer.first_row = piece->first_row;
  buffer.first_col = piece->first_col;
  const SourceView around = place_in_whole(buffer).view;
  if (hardware_.isa == IsaVersion::kVta && around.height * around.width > kLargestPlainImage) return false;
  homes_[buffer.value] = buffers_.size();
  views_[buffer.value] = buffer.view;
  buffers_.push_back(std::move(buffer));
  return true;
}

size_t ValuePlaces::add_result(const OverlayLayer& layer, int now) {
  Buffer result;
  result.value = layer.result;
  result.view = result_view(layer);
  result.bipolar = layer.output.bipolar;
  result.first = result.last = now;
  homes_[layer.result] = buffers_.size();
  views_[layer.result] = result.view;
  buffers_.push_back(std::move(result));
  return buffers_.size() - 1;
}

size_t ValuePlaces::source(const OverlayLayer& layer, const LayerSource& source, int now) {
  const ValueId root = root_of(source.value);
  const std::optional<InputFold>& fold = layer.fold;
  const auto home = homes_.find(root);
  if (home != homes_.end() && !fold) {
    buffers_[home->second].last = now;
    return home->second;
  }
  for (size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    const bool same_view = buffer.parent < 0 && buffer.view == overlay::view_of(layer, source);
    if (buffer.is_input && buffer.value == root && buffer.fold == fold && same_view) {
      buffer.last = now;
      return i;
    }
  }
  Buffer buffer;
  buffer.value = root;
  buffer.view = overlay::view_of(layer, source);
  buffer.fold = fold;
  buffer.is_input = true;
  buffer.is_constant = graph_.is_constant(root);
  buffer.bipolar = source.bipolar;
  buffer.last = now;
  buffers_.push_back(std::move(buffer));
  return buffers_.size() - 1;
}

std::optional<size_t> ValuePlaces::keep(ValueId value, int now) {
  const auto home = homes_.find(root_of(value));
  if (home == homes_.end()) return std::nullopt;
  buffers_[home->second].last = now;
  return home->second;
}

// The outermost whole of a part, with the part's place in it.
Buffer ValuePlaces::place_in_whole(const Buffer& part) const {
  Buffer place = part;
  for (int parent = part.parent; parent >= 0; parent = place.parent) {
    const Buffer& whole = buffers_[size_t(parent)];
    place.first_block += whole.first_block;
    place.first_row += whole.first_row;
    place.first_col += whole.first_col;
    place.view = whole.view;
    place.address = whole.address;
    place.parent = whole.parent;
  }
  return place;
}

const SourceView& ValuePlaces::image_around(size_t buffer) const {
  while (buffers_[buffer].parent >= 0) buffer = size_t(buffers_[buffer].parent);
  return buffers_[buffer].view;
}

void ValuePlaces::place_alone(size_t buffer, uint64_t address) {
  buffers_[buffer].address = address;
  for (Buffer& part : buffers_)
    if (part.parent == int(buffer)) part.address = address;
}

uint64_t ValuePlaces::place(uint64_t begin, uint64_t alignment) {
  for (const Buffer& buffer : buffers_) {  // a whole lives as long as its parts
    for (int parent = buffer.parent; parent >= 0; parent = buffers_[size_t(parent)].parent) {
      Buffer& whole = buffers_[size_t(parent)];
      whole.first = std::min(whole.first, buffer.first);
      whole.last = std::max(whole.last, buffer.last);
    }
  }
  std::vector<LiveBuffer> live;
  std::vector<size_t> owners;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].is_constant || buffers_[i].is_cache || buffers_[i].parent >= 0) continue;
    live.push_back(
        {packed_activation_bytes(buffers_[i].view, hardware_), buffers_[i].first, buffers_[i].last});
    owners.push_back(i);
  }
  const uint64_t end = place_buffers(live, begin, alignment);
  for (size_t i = 0; i < owners.size(); ++i) buffers_[owners[i]].address = live[i].address;
  for (Buffer& buffer : buffers_) {
    if (buffer.parent < 0) continue;
    const Buffer place = place_in_whole(buffer);
    const SourceView& whole = place.view;
    const int64_t position =
        (place.first_block * whole.height + place.first_row) * whole.width + place.first_col;
    buffer.address = place.address + uint64_t(position * hardware_.input_bytes());
  }
  return end;
}

}  // namespace tilewright::overlay
