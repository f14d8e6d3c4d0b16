// Written as it happens, one JSON object per line. A token's arrow is written with the instruction that took
// it, when it is known where its slice begins: an arrow has to start and end inside of slices.
#include "tilewright/overlay/time/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "tilewright/base/json.h"
#include "tilewright/overlay/isa/assembler.h"

namespace tilewright::overlay {
namespace {

constexpr int kLayersLane = 4;
constexpr const char* kLanes[] = {"fetch", "load", "compute", "store", "layers"};

int from_lane(TokenChannel channel) {
  switch (channel) {
    case TokenChannel::kLoadToCompute:
      return int(OverlayModule::kLoad);
    case TokenChannel::kStoreToCompute:
      return int(OverlayModule::kStore);
    case TokenChannel::kComputeToLoad:
    case TokenChannel::kComputeToStore:
      break;
  }
  return int(OverlayModule::kCompute);
}

}  // namespace

TraceWriter::TraceWriter(const std::filesystem::path& path, const OverlayHardware& hardware)
    : file_(path), layout_(hardware) {
  file_.append(
      "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"unit\": \"1 us = 1 cycle\"}, \"traceEvents\": [\n");
  event(fmt::format(R"("ph": "M", "pid": 1, "name": "process_name", "args": {{"name": {}}})",
                    json_text(nlohmann::json(hardware.name))));
  for (int lane = 0; lane <= kLayersLane; ++lane) {
    event(fmt::format(R"("ph": "M", "pid": 1, "tid": {}, "name": "thread_name", "args": {{"name": "{}"}})",
                      lane, kLanes[lane]));
    event(fmt::format(
        R"("ph": "M", "pid": 1, "tid": {0}, "name": "thread_sort_index", "args": {{"sort_index": {1}}})",
        lane, lane == kLayersLane ? -1 : lane));
  }
}

void TraceWriter::event(std::string_view fields) {
  if (any_) file_.append(",\n");
  any_ = true;
  file_.append("{");
  file_.append(fields);
  file_.append("}");
}

void TraceWriter::instruction(const InstructionSpan& span) {
  const auto lane = size_t(span.module);
  const uint64_t end = span.done_cycle + 1;
  const uint64_t begin = std::min(std::max(span.start_cycle, free_[lane]), span.done_cycle);
  free_[lane] = end;
  uint64_t words[IsaLayout::kMaxWords] = {};
  std::visit([&](const auto& instruction) { layout_.encode(instruction, words); }, span.instruction);
  const std::string text = disassemble_instruction(layout_, words);
  event(fmt::format(
      R"("ph": "X", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "name": "{}", "args": {{"instruction": {}, "text": "{}", "started": {}, "waited": {}}})",
      lane, offset_ + begin, end - begin, text.substr(0, text.find(' ')), span.index, text,
      offset_ + span.start_cycle, span.start_cycle - std::min(span.visible_cycle, span.start_cycle)));
  if (span.module == OverlayModule::kFetch) return;
  const auto taken = pending_.find(span.index);
  if (taken == pending_.end()) return;
  for (const Token& token : taken->second) {
    const uint64_t id = tokens_++;
    event(
        fmt::format(R"("ph": "s", "pid": 1, "tid": {}, "ts": {}, "id": {}, "name": "token", "cat": "token")",
                    from_lane(token.channel), offset_ + token.push_cycle, id));
    event(fmt::format(
        R"("ph": "f", "bp": "e", "pid": 1, "tid": {}, "ts": {}, "id": {}, "name": "token", "cat": "token")",
        lane, offset_ + begin, id));
  }
  pending_.erase(taken);
}

void TraceWriter::token(TokenChannel channel, uint32_t, uint64_t push_cycle, uint32_t popper, uint64_t) {
  pending_[popper].push_back({channel, push_cycle});
}

void TraceWriter::section(std::string_view name, uint64_t begin, uint64_t end) {
  if (end <= begin) return;
  event(fmt::format(R"("ph": "X", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "name": {})", kLayersLane,
                    offset_ + begin, end - begin, json_text(nlohmann::json(name))));
}

void TraceWriter::end_run(uint64_t cycles) {
  offset_ += cycles;
  free_ = {};
  pending_.clear();
}

void TraceWriter::finish() {
  file_.append("\n]}\n");
  file_.commit();
}

}  // namespace tilewright::overlay
