// Where the description of a design goes, component by component: a netlist (wiring.h) makes nets, instances
// and memory images of it, a bill (estimate/bill.h) keeps the sizes alone. So a design is described once.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist.h"

namespace tilewright::pipeline {

// The name of an instance, a stream or a file, which a bill never asks for: its pieces, put together by
// text(). They are not copied: a text has to live as long as the label.
class Label {
 public:
  Label(const char* text) { add({text, 0}); }
  Label(const std::string& text) : Label(text.c_str()) {}
  Label operator+(const char* text) const { return Label(*this).add({text, 0}); }
  Label operator+(int64_t number) const { return Label(*this).add({nullptr, number}); }
  std::string text() const;

 private:
  struct Piece {
    const char* text;  // nullptr: the number
    int64_t number;
  };
  Label& add(Piece piece) {
    TILEWRIGHT_CHECK(size_t(count_) < pieces_.size(), "a label of too many pieces");
    pieces_[size_t(count_++)] = piece;
    return *this;
  }

  std::array<Piece, 6> pieces_{};
  int count_ = 0;
};

// The nets of a stream, where there are nets. `elements` of `element_bits` each per beat; both 0 for a stream
// without such structure.
struct Stream {
  netlist::NetId valid = netlist::kNoNet, ready = netlist::kNoNet, data = netlist::kNoNet,
                 last = netlist::kNoNet;
  int width = 0;
  int64_t elements = 0;
  int element_bits = 0;
};

// A stream at the port PORT of a component; nullptr: the port stays open, or has its nets otherwise.
struct StreamPort {
  const char* port;
  Stream* stream;
};

class Wiring;

class ComponentSink {
 public:
  using Nets = std::map<std::string, netlist::NetId>;

  virtual ~ComponentSink() = default;
  // The netlist behind the sink; nullptr: only sizes count. Then nothing else has to be made: no contents, no
  // nets, no rows of tables, and no parameters that name files.
  virtual Wiring* wiring() { return nullptr; }
  // A stream of `elements` of `element_bits`, with new nets where there are any.
  virtual Stream stream(const Label& name, int64_t elements, int element_bits) = 0;
  // A component whose ports PORT_valid, PORT_ready, PORT_data and, where it has one, PORT_last are those of
  // the streams, the other ports those of `others`. A stream without `last` nets gets one where the component
  // drives it, and 1 where the component reads it.
  virtual void add(const Label& instance, const char* component, netlist::Parameters parameters,
                   std::initializer_list<StreamPort> streams, Nets others = {}) = 0;

  // The same elements, `elements` per beat, through stream_width where needed (resize_path); `count` of them
  // make an image.
  Stream resized(const Label& name, Stream in, int64_t elements, int64_t count);
  // Behind a queue of `depth` beats; 0: as it is.
  Stream queued(const Label& name, Stream in, int64_t depth);
  // `count` copies.
  std::vector<Stream> forked(const Label& name, Stream in, int64_t count);
  // Side by side, a power of two of them.
  Stream joined(const Label& name, std::vector<Stream> parts);
  // Passes `keep` beats, drops `drop`, adds `add` zero ones, again and again; as it is where both are 0.
  Stream framed(const Label& name, Stream in, int64_t keep, int64_t drop, int64_t added);
};

}  // namespace tilewright::pipeline
