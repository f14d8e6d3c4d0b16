// What readers ask of a document. While a recorder lives, the readers of yaml.h and json.h tell it every
// field that they look for in the maps of the first document of this thread; schemas are made of that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// kRaw: the reader takes the child as it is and looks into it itself.
enum class FieldKind { kRaw, kInteger, kNumber, kText, kBoolean };

struct RecordedField {
  FieldKind kind = FieldKind::kRaw;
  double low = 0, high = 0;  // of numbers
  bool required = false;
};

struct RecordedMap {
  std::map<std::string, RecordedField> fields;
  bool closed = false;  // other fields are refused
};

// One at a time in a thread. Of the document: keys, and for elements of lists their index.
class FieldRecorder {
 public:
  using Place = std::vector<std::string>;
  // What tells the maps of a document apart: a position in its text or an address.
  using MapId = uint64_t;

  FieldRecorder();
  ~FieldRecorder();
  FieldRecorder(const FieldRecorder&) = delete;
  FieldRecorder& operator=(const FieldRecorder&) = delete;

  const std::map<Place, RecordedMap>& maps() const { return maps_; }

  // For the readers. Null: nobody listens in this thread.
  static FieldRecorder* active();
  // True once: documents that a reader opens after its first one are not recorded.
  bool opens_document();
  void place(MapId map, const Place& place) { places_.emplace(map, place); }
  void visit(MapId map);
  void field(MapId map, const std::string& name, const RecordedField& field);
  void close(MapId map);

 private:
  RecordedMap* find(MapId map);

  bool opened_ = false;
  std::map<MapId, Place> places_;
  std::map<Place, RecordedMap> maps_;
};

}  // namespace tilewright
