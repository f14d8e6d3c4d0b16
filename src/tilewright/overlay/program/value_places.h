// Where the values of a program lie in the overlay's memory: each in an image of its own, as one of the parts
// that a Concat puts together, or as the piece that a Slice shows of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// One tensor in DRAM.
struct Buffer {
  ValueId value = kNoValue;
  SourceView view;
  std::optional<InputFold> fold;
  bool is_input = false, is_constant = false, bipolar = false;
  bool is_cache = false;
  int first = 0, last = -1;  // the layers that it is needed from and to
  int parent = -1;           // the buffer that it is a part or a piece of; from there:
  int64_t first_block = 0, first_row = 0, first_col = 0;
  uint64_t address = 0;
};

// Nodes are added in topological order. `now` is the number of layers so far.
class ValuePlaces {
 public:
  // `nodes`: of the program, as compile_overlay takes them.
  ValuePlaces(const Graph& graph, std::span<const NodeId> nodes, const OverlayHardware& hardware);

  // Of values whose shape does not say it.
  const SourceViews& views() const { return views_; }
  // Whether the overlay has made the value, or what it is a view of.
  bool made_here(ValueId value) const { return homes_.find(root_of(value)) != homes_.end(); }
  // The value whose buffer a chain of views shows.
  ValueId root_of(ValueId value) const;
  const std::vector<Buffer>& buffers() const { return buffers_; }

  // Errors (unsupported): the value does not lie as its new shape needs it.
  void add_view(const Node& node);
  // The parts move into one buffer, each to its blocks. Errors (unsupported): they do not fit together.
  void add_join(const Node& node, int now);
  // False: what the Slice gives is no piece that all its readers can take where it lies.
  bool add_piece(const Node& node, int now);
  // The rows that the node reads move into the cache that it updates, at the position of a run. Errors
  // (unsupported): no layer makes them for it alone.
  void add_cache(const Node& node, int now);
  // Whether the buffer holds the rows of a cache at the position of a run.
  bool is_in_cache(size_t buffer) const {
    return buffers_[buffer].parent >= 0 && buffers_[size_t(buffers_[buffer].parent)].is_cache;
  }
  // The buffers of a layer.
  size_t add_result(const OverlayLayer& layer, int now);
  size_t source(const OverlayLayer& layer, const LayerSource& source, int now);
  // Whether the host reads the value, or it is an output of the graph.
  bool read_outside(ValueId value) const;
  // Keeps the buffer of a value to the end; nullopt: it is only a view of an input of the program.
  std::optional<size_t> keep(ValueId value, int now);

  // Gives every buffer its address, from `begin` on, but those that keep what they hold from run to run:
  // constants and caches. Returns their end.
  uint64_t place(uint64_t begin, uint64_t alignment);
  // One of these, with its parts.
  void place_alone(size_t buffer, uint64_t address);
  // The image that the buffer lies in: its own, or the outermost that it is a part or a piece of.
  const SourceView& image_around(size_t buffer) const;

 private:
  Buffer place_in_whole(const Buffer& part) const;
  SourceView view_of(ValueId value) const;
  void check_parts(const Node& node, int axis) const;
  bool only_joined(size_t buffer, ValueId v) const;
  bool read_by_layers(ValueId value) const;

  const Graph& graph_;
  const OverlayHardware& hardware_;
  const std::vector<std::vector<NodeId>> readers_;  // of values
  std::vector<bool> inside_;                        // nodes
  std::vector<Buffer> buffers_;
  std::map<ValueId, size_t> homes_;  // values that layers produce
  SourceViews views_;
  std::map<ValueId, ValueId> view_source_;
};

}  // namespace tilewright::overlay
