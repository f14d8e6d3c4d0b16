// The small components between others: widths, queues, forks, joins, frames.
#include "tilewright/pipeline/design/component_sink.h"

#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {

std::string Label::text() const {
  std::string text;
  for (int i = 0; i < count_; ++i) {
    const Piece& piece = pieces_[size_t(i)];
    text += piece.text != nullptr ? piece.text : std::to_string(piece.number);
  }
  return text;
}

Stream ComponentSink::resized(const Label& name, Stream in, int64_t elements, int64_t count) {
  if (in.elements == elements) return in;
  const std::vector<int64_t> path = resize_path(in.elements, elements, in.element_bits, count);
  for (size_t i = 1; i < path.size(); ++i) {
    const Label step = i + 1 == path.size() ? name : name + "_between";
    Stream out = stream(step, path[i], in.element_bits);
    add(step, "stream_width", {{"ELEMENT", int64_t{in.element_bits}}, {"IN", path[i - 1]}, {"OUT", path[i]}},
        {{"in", &in}, {"out", &out}});
    in = out;
  }
  return in;
}

Stream ComponentSink::queued(const Label& name, Stream in, int64_t depth) {
  if (depth == 0) return in;
  Stream out = stream(name, in.elements, in.element_bits);
  add(name, "stream_fifo",
      {{"WIDTH", int64_t{in.width}},
       {"DEPTH", depth},
       {"KIND", std::string(small_memory_kind(depth, in.width))}},
      {{"in", &in}, {"out", &out}});
  return out;
}

std::vector<Stream> ComponentSink::forked(const Label& name, Stream in, int64_t count) {
  std::vector<Stream> outputs;
  outputs.reserve(size_t(count));
  for (int64_t i = 0; i + 1 < count; ++i) {
    const Label fork = name + "_" + i;
    Stream taken = stream(fork + "_out", in.elements, in.element_bits);
    Stream rest = stream(fork + "_rest", in.elements, in.element_bits);
    add(fork, "stream_fork", {{"WIDTH", int64_t{in.width}}},
        {{"in", &in}, {"out0", &taken}, {"out1", &rest}});
    outputs.push_back(taken);
    in = rest;
  }
  outputs.push_back(in);
  return outputs;
}

Stream ComponentSink::joined(const Label& name, std::vector<Stream> parts) {
  for (int64_t level = 0; parts.size() > 1; ++level) {
    std::vector<Stream> wider;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      const Label join = name + "_" + level + "_" + int64_t(i / 2);
      Stream both = stream(join + "_out", 2 * parts[i].elements, parts[i].element_bits);
      add(join, "stream_join", {{"WIDTH", int64_t{parts[i].width}}},
          {{"in0", &parts[i]}, {"in1", &parts[i + 1]}, {"out", &both}});
      wider.push_back(both);
    }
    parts = std::move(wider);
  }
  return parts[0];
}

Stream ComponentSink::framed(const Label& name, Stream in, int64_t keep, int64_t drop, int64_t added) {
  if (drop == 0 && added == 0) return in;
  Stream out = stream(name, in.elements, in.element_bits);
  add(name, "stream_frame", {{"WIDTH", int64_t{in.width}}, {"KEEP", keep}, {"DROP", drop}, {"ADD", added}},
      {{"in", &in}, {"out", &out}});
  return out;
}

}  // namespace tilewright::pipeline
