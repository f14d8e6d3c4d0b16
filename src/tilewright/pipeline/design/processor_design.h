// A design of processors: engines on shared tensor memories, described to a sink.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/pipeline/design/design_builder.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/design/processor_rows.h"
#include "tilewright/pipeline/design/tensor_memories.h"

namespace tilewright::pipeline {

class ProcessorDesign {
 public:
  // `facts`: network_facts(network); `plan`: make_plan(network, allocation). `design`: as for DesignBuilder.
  ProcessorDesign(const Network& network, const std::vector<LayerFacts>& facts, const Allocation& allocation,
                  const Plan& plan, ComponentSink& sink, Design* design = nullptr);

  void whole();

 private:
  // Sums and maxima over the layers of one engine.
  struct Work {
    int64_t tasks = 0, adding_tasks = 0, weight_words = 0, parameter_words = 0, line = 1, lookups = 0;
    int accumulator_bits = 1, sum_bits = 1, lane_bits = 2;
    int multiplier_bits = 0;
    bool twice = false, sums = false, maxima = false, products = false, fused_products = false;
    uint64_t read_units = 0, residual_units = 0, write_units = 0;
  };
  void collect(size_t layer);
  EngineWidths widths(size_t engine) const;

  Wiring* wiring() { return builder_.wiring(); }
  uint64_t unit_bit(int tensor) const { return uint64_t{1} << plan_.places[size_t(tensor)].unit; }
  int64_t units() const { return int64_t(plan_.unit_words.size()); }
  DramLayout layout(int tensor) const;

  void loader();
  void storer();
  void engine(size_t engine);
  Stream reader(const Label& name, int64_t tasks, uint64_t units, std::vector<TensorReaderRow> rows);
  // `in`: `count` elements and then as many again.
  void writer(const Label& name, Stream in, int64_t count, int64_t tasks, uint64_t units,
              std::vector<TensorWriterRow> rows, size_t progress);
  Stream window(const Label& name, const EngineAllocation& own, const Work& work, Stream in,
                const std::vector<SlidingWindowRow>& rows);
  Stream weights(const Label& name, size_t engine, const EngineWidths& widths, EngineContents& contents);
  Stream ring(const Label& name, int64_t width, const Work& work, const EngineContents& contents);
  void place_weights(const MemoryImage& words);
  Stream array(const Label& name, size_t engine, const EngineWidths& widths, Stream act, Stream weight);
  Stream finish(const Label& name, size_t engine, const EngineWidths& widths, Stream sums,
                EngineContents& contents);
  void list_tasks();
  Label engine_name(size_t e) const;
  void begin_engine(size_t e);

  const Network& network_;
  const std::vector<LayerFacts>& facts_;
  const Allocation& allocation_;
  const Plan& plan_;
  const int64_t pi_;  // elements of a word
  const int bits_;
  const int64_t part_;  // elements written at once
  const int address_bits_;
  const ProcessorRows rows_;
  ComponentSink& sink_;
  DesignBuilder builder_;
  std::vector<std::string> names_;  // of the engines, where they are wired
  std::vector<Work> work_;
  int64_t loader_tasks_ = 0;
  std::vector<netlist::NetId> progress_;  // of the loader, then of the engines
  TensorMemories memories_;
};

}  // namespace tilewright::pipeline
