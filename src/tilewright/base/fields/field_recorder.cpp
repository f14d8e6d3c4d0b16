// The recorder of a thread is found through a thread-local pointer, which only its own scope sets: readers
// are plain functions of a text, and need not pass it on.
#include "tilewright/base/fields/field_recorder.h"

namespace tilewright {
namespace {

thread_local FieldRecorder* listening = nullptr;

}  // namespace

FieldRecorder::FieldRecorder() { listening = this; }
FieldRecorder::~FieldRecorder() { listening = nullptr; }

FieldRecorder* FieldRecorder::active() { return listening; }

bool FieldRecorder::opens_document() {
  const bool first = !opened_;
  opened_ = true;
  return first;
}

RecordedMap* FieldRecorder::find(MapId map) {
  const auto place = places_.find(map);
  return place == places_.end() ? nullptr : &maps_[place->second];
}

void FieldRecorder::visit(MapId map) { find(map); }

// The kind that says most counts; a field that one reader can do without is not required.
void FieldRecorder::field(MapId map, const std::string& name, const RecordedField& field) {
  RecordedMap* const recorded = find(map);
  if (recorded == nullptr) return;
  const auto [at, fresh] = recorded->fields.emplace(name, field);
  if (!fresh && at->second.kind == FieldKind::kRaw) at->second = field;
}

void FieldRecorder::close(MapId map) {
  if (RecordedMap* const recorded = find(map)) recorded->closed = true;
}

}  // namespace tilewright
