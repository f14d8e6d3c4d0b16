// Every unit's part of a cycle reads registers (`now`) and the memory's beats of the cycle, so the order of
// the units within step() is of no importance, but for reads before writes at the memory.
#include "support/overlay/cycle_reference_testing.h"

#include <algorithm>
#include <map>
#include <optional>

#include "support/overlay/cycle_reference_units_testing.h"
#include "tilewright/hardware/memory_timing.h"
#include "tilewright/overlay/execute/executor.h"
#include "tilewright/overlay/execute/instruction_queues.h"
#include "tilewright/overlay/time/compute_timing.h"

namespace tilewright::overlay {

using namespace reference;

namespace {

constexpr uint64_t kPatience = 1 << 16;  // cycles without any event after which nothing will happen any more
enum Reader { kFetchReader, kComputeReader, kLoadReader, kReaders };

// The last cycle of an instruction on rows that starts in cycle 0, row by row: from its last slice on, a row
// may be taken 4 cycles later, and after the writes of the row before; its numbers come after that, but not
// before the next row has been issued, which waits for the writes of the row before.
uint64_t rows_end(AluOpcode opcode, uint64_t rows, uint64_t issues, uint64_t writes) {
  const uint64_t unit = opcode == AluOpcode::kRowMax ? 1 : opcode == AluOpcode::kRowDivide ? 17 : 25;
  uint64_t issued = 2, written = 0;  // last cycles of the newest row's issues, of the oldest one's writes
  for (uint64_t row = 0; row <= rows; ++row) {
    const uint64_t before = issued;
    if (row < rows) issued = std::max(issued, written) + issues;
    if (row == 0) continue;
    const uint64_t taken = std::max(before + 4, written + 1);
    written = std::max(taken + unit, issued + 1) + writes - 1;
  }
  return written;
}

constexpr AxiClient kClients[] = {AxiClient::kFetch, AxiClient::kCompute, AxiClient::kLoad};

struct Command {
  uint32_t index = 0;
};

// The registers of one run, and what each unit does in a cycle.
struct Machine {
  Machine(InstructionExecutor& e, MemoryTiming& m)
      : executor(e),
        memory(m),
        hardware(e.hardware),
        commands{{2, hardware.command_queue_depth},
                 {2, hardware.command_queue_depth},
                 {2, hardware.command_queue_depth}},
        fetch(hardware),
        compute_loader(hardware),
        load(hardware),
        storing(1, 4) {}

  InstructionExecutor& executor;
  MemoryTiming& memory;
  const OverlayHardware& hardware;
  uint64_t cycle = 0, last_event = 0;
  TimedRun run;

  Fifo<Command> commands[kQueues];
  Clocked<int> tokens[kChannels];
  uint64_t started[kQueues] = {};

  // Memory side.
  Client fetch;
  Loader compute_loader, load;
  std::multimap<uint64_t, Reader> arrivals;  // beats by cycle
  struct Address {
    Reader reader = kFetchReader;
    Beats burst;
  };
  std::optional<Address> ar, next_ar;
  struct WriteEnd {
    Beats burst;
    uint32_t store = 0;  // number of the STORE it belongs to
  };
  std::multimap<uint64_t, WriteEnd> write_ends;
  std::multimap<uint64_t, uint32_t> responses;

  // Fetch.
  uint64_t count = 0, next_place = 0;  // instructions, the place of the next beat's first used one
  Clocked<uint64_t> fetched;
  Clocked<uint32_t> gathered, in_register;

  // Compute.
  Clocked<bool> gemm_runs, alu_runs, load_runs, finished;
  Descriptor gemm, alu;
  uint64_t gemm_end = 0, alu_end = 0;
  bool requantizes = false;  // the ALU; alu_end has no meaning then
  Requantizer requantizer;

  // Store.
  Generator store_generator;
  Fifo<Descriptor> storing;
  Clocked<bool> aw;
  Clocked<uint32_t> items;                         // that the reader has left
  Clocked<int> outstanding;                        // write bursts
  std::map<uint32_t, Clocked<int>> responses_due;  // by STORE number
  uint32_t stores_started = 0, stores_done = 0;

  void event() { last_event = cycle; }
  uint64_t word_of(uint32_t index) const {
    uint64_t buffer[IsaLayout::kMaxWords];
    return *executor.read(index, buffer);
  }

  void step();
  void memory_part();
  void arbitrate();
  void fetch_part();
  void load_part();
  void compute_part();
  void start_compute(const Descriptor& d, const uint64_t* in);
  void start_alu(const uint64_t* in);
  void store_part();
  bool tokens_there(Queue queue, uint64_t bits) const;
  Descriptor start(Queue queue, const uint64_t*& in, uint64_t* buffer);
  void push_tokens(Queue queue, uint64_t bits);
  void count_states();
  bool over() const;
  void commit();
  CycleRegisters registers() const;
};

void Machine::memory_part() {
  if (ar) {
    const ReadTiming timing = memory.read(cycle, ar->burst.address, ar->burst.beats);
    for (uint32_t b = 0; b < ar->burst.beats; ++b) {
      arrivals.emplace(timing.first_beat + b * timing.interval, ar->reader);
    }
    run.transactions.push_back({cycle, ar->burst.address, ar->burst.beats, kClients[ar->reader]});
    event();
  }
  for (; !write_ends.empty() && write_ends.begin()->first == cycle; write_ends.erase(write_ends.begin())) {
    const WriteEnd& end = write_ends.begin()->second;
    responses.emplace(memory.write(cycle, end.burst.address, end.burst.beats), end.store);
  }
  for (; !arrivals.empty() && arrivals.begin()->first == cycle; arrivals.erase(arrivals.begin())) {
    const Reader reader = arrivals.begin()->second;
    Client& client = reader == kFetchReader ? fetch : reader == kComputeReader ? compute_loader : load;
    client.data.push(cycle, 0);
    event();
  }
  for (; !responses.empty() && responses.begin()->first == cycle; responses.erase(responses.begin())) {
    --outstanding.next;
    --responses_due[responses.begin()->second].next;
    event();
  }
}

// The read master: one grant per cycle, since the memory takes every address at once.
void Machine::arbitrate() {
  Client* const clients[] = {&fetch, &compute_loader, &load};
  next_ar.reset();
  bool granted[kReaders] = {};
  for (const Reader r : {kFetchReader, kComputeReader, kLoadReader}) {
    if (!clients[r]->asks()) continue;
    granted[r] = true;
    next_ar = Address{r, clients[r]->generator.slot()};
    clients[r]->credits.next -= int(next_ar->burst.beats);
    ++run.cycles.read_bursts;
    run.cycles.read_beats += next_ar->burst.beats;
    event();
    break;
  }
  for (const Reader r : {kFetchReader, kComputeReader, kLoadReader}) clients[r]->generator.tick(granted[r]);
}

void Machine::fetch_part() {
  bool leaves = false;
  if (in_register.now > 0) {
    const uint32_t index = uint32_t(fetched.now);
    const uint64_t word = word_of(index);
    const MemoryType type = MemoryType(executor.layout.memory.memory_type.get(&word));
    const IsaOpcode opcode = IsaOpcode(word & 7);
    Queue queue = kComputeQueue;
    if (opcode == IsaOpcode::kStore) queue = kStoreQueue;
    if (opcode == IsaOpcode::kLoad && loads_early(type)) queue = kLoadQueue;
    if (!commands[queue].full()) {
      leaves = true;
      commands[queue].push(cycle, {index});
      ++fetched.next;
      --in_register.next;
      event();
    }
  }
  if (!fetch.data.visible(cycle) || in_register.now > (leaves ? 1u : 0u)) return;
  fetch.pop(cycle);
  const uint64_t bytes = uint64_t(hardware.instruction_bytes());
  const uint64_t width = uint64_t(hardware.memory_width_bits) / 8;
  if (bytes >= width) {
    if (++gathered.next < bytes / width) return;
    gathered.next = 0;
    in_register.next = 1;
    return;
  }
  const uint64_t left = count - fetched.next;
  in_register.next = uint32_t(std::min(left, width / bytes - next_place));
  next_place = 0;
}

bool Machine::tokens_there(Queue queue, uint64_t bits) const {
  const Channel prev = kWiring[queue].pop_prev, next = kWiring[queue].pop_next;
  if ((bits & kPopPrev) != 0 && prev != kNoChannel && tokens[prev].now == 0) return false;
  return (bits & kPopNext) == 0 || next == kNoChannel || tokens[next].now > 0;
}

// Takes the command at the head of `queue` and its tokens.
Descriptor Machine::start(Queue queue, const uint64_t*& in, uint64_t* buffer) {
  Descriptor d;
  d.index = commands[queue].head().index;
  in = executor.read(d.index, buffer);
  d.bits = *in;
  d.load = executor.decode_memory(in);
  commands[queue].pop(cycle);
  const Channel prev = kWiring[queue].pop_prev, next = kWiring[queue].pop_next;
  if ((d.bits & kPopPrev) != 0 && prev != kNoChannel) --tokens[prev].next;
  if ((d.bits & kPopNext) != 0 && next != kNoChannel) --tokens[next].next;
  ++started[queue];
  event();
  return d;
}

void Machine::push_tokens(Queue queue, uint64_t bits) {
  const Channel prev = kWiring[queue].push_prev, next = kWiring[queue].push_next;
  if ((bits & kPushPrev) != 0 && prev != kNoChannel) ++tokens[prev].next;
  if ((bits & kPushNext) != 0 && next != kNoChannel) ++tokens[next].next;
  event();
}

void Machine::load_part() {
  Descriptor finished_load;
  if (load.tick(cycle, finished_load)) push_tokens(kLoadQueue, finished_load.bits);
  if (!commands[kLoadQueue].visible(cycle) || !load.can_start()) return;
  if (!tokens_there(kLoadQueue, word_of(commands[kLoadQueue].head().index))) return;
  uint64_t buffer[IsaLayout::kMaxWords];
  const uint64_t* in = nullptr;
  const Descriptor d = start(kLoadQueue, in, buffer);
  executor.execute_memory(d.index, d.load);
  load.start(cycle, d);
}

void Machine::compute_part() {
  Descriptor loaded;
  if (compute_loader.tick(cycle, loaded)) {
    load_runs.next = false;
    push_tokens(kComputeQueue, loaded.bits);
  }
  // GEMM and ALU end by themselves, however long they take.
  if (gemm_runs.now || alu_runs.now) event();
  if (gemm_runs.now && cycle == gemm_end) {
    gemm_runs.next = false;
    push_tokens(kComputeQueue, gemm.bits);
  }
  if (alu_runs.now && (requantizes ? requantizer.tick(cycle) : cycle == alu_end)) {
    alu_runs.next = false;
    push_tokens(kComputeQueue, alu.bits);
  }
  if (gemm_runs.now || load_runs.now || !commands[kComputeQueue].visible(cycle)) return;
  const uint32_t index = commands[kComputeQueue].head().index;
  uint64_t buffer[IsaLayout::kMaxWords];
  const uint64_t* in = executor.read(index, buffer);
  const bool beside = IsaOpcode(*in & 7) == IsaOpcode::kGemm && executor.runs_beside_alu(in);
  if ((alu_runs.now && !beside) || !tokens_there(kComputeQueue, *in)) return;
  start_compute(start(kComputeQueue, in, buffer), in);
}

void Machine::start_compute(const Descriptor& d, const uint64_t* in) {
  switch (IsaOpcode(d.bits & 7)) {
    case IsaOpcode::kFinish:
      finished.next = true;
      push_tokens(kComputeQueue, d.bits);
      break;
    case IsaOpcode::kLoad:
      load_runs.next = true;
      executor.execute_memory(d.index, d.load);
      compute_loader.start(cycle, d);
      break;
    case IsaOpcode::kGemm: {
      gemm_runs.next = true;
      gemm = d;
      executor.execute_gemm(d.index, in);
      const uint64_t steps = step_count(executor.decode_extents(executor.layout.gemm, in));
      gemm_end = cycle + (steps == 0 ? 1 : steps + 7);
      break;
    }
    default:
      alu_runs.next = true;
      alu = d;
      executor.execute_alu(d.index, in);
      start_alu(in);
  }
}

void Machine::start_alu(const uint64_t* in) {
  const IsaLayout& layout = executor.layout;
  LoopNest loop = executor.decode_extents(layout.alu, in);
  executor.decode_factors(layout.alu, in, loop);
  const uint64_t steps = step_count(loop), slices = uint64_t(hardware.alu_slices());
  const AluOpcode opcode = AluOpcode(layout.alu_opcode.get(in));
  requantizes = steps > 0 && overlay::requantizes(opcode);
  if (!requantizes) {
    alu_end = cycle + (steps == 0                  ? 1
                       : opcode == AluOpcode::kMul ? 5 * steps * slices + 2
                       : works_on_rows(opcode)
                           ? rows_end(opcode, loop.iter_out, steps / loop.iter_out * slices, 3 * slices)
                           : steps * slices + 3);
    return;
  }
  std::vector<Requantizer::Step> list;
  for (uint32_t y = 0; y < loop.iter_out; ++y) {
    for (uint32_t x = 0; x < loop.iter_in; ++x) {
      for (uint32_t u = loop.uop_begin; u < loop.uop_end; ++u) {
        const MicroOp& op = executor.pads.uops[u];
        list.push_back({op.dst + y * loop.dst_factor_out + x * loop.dst_factor_in,
                        op.src + y * loop.src_factor_out + x * loop.src_factor_in});
      }
    }
  }
  requantizer.start(std::move(list), slices, cycle + 3, looks_up(opcode));
}

void Machine::store_part() {
  // The oldest in flight: all its items read, all its bursts answered.
  if (storing.visible(cycle)) {
    const bool newest = stores_done + 1 == stores_started;
    const bool read = !newest || (!store_generator.active.now && items.now == 0);
    if (read && responses_due[stores_done].now == 0) {
      push_tokens(kStoreQueue, storing.head().bits);
      storing.pop(cycle);
      responses_due.erase(stores_done++);
    }
  }
  aw.next = false;
  if (items.now > 0) --items.next;
  const bool granted = store_generator.slot_valid() && outstanding.now < 8 && !aw.now && items.now <= 1;
  if (granted) {
    const Beats& burst = store_generator.slot();
    const bool small = hardware.output_bytes() < hardware.memory_width_bits / 8;
    items.next = small ? burst.elements : burst.beats;
    aw.next = true;
    write_ends.emplace(cycle + items.next + 2, WriteEnd{burst, stores_started - 1});
    run.transactions.push_back({cycle + 1, burst.address, burst.beats, AxiClient::kStore});
    ++outstanding.next;
    ++responses_due[stores_started - 1].next;
    ++run.cycles.write_bursts;
    run.cycles.write_beats += burst.beats;
    event();
  }
  store_generator.tick(granted);
  if (!commands[kStoreQueue].visible(cycle) || store_generator.active.now || items.now > 0) return;
  if (storing.full() || !tokens_there(kStoreQueue, word_of(commands[kStoreQueue].head().index))) return;
  uint64_t buffer[IsaLayout::kMaxWords];
  const uint64_t* in = nullptr;
  const Descriptor d = start(kStoreQueue, in, buffer);
  executor.execute_memory(d.index, d.load);
  storing.push(cycle, d);
  ++stores_started;
  const uint64_t bytes = uint64_t(hardware.output_bytes());
  store_generator.start(list_bursts(hardware, d.load.dram_base * bytes, d.load.y_size, d.load.x_size * bytes,
                                    d.load.x_stride * bytes, bytes));
}

// `started` of this cycle counts as busy, so this comes after the units' parts and before the commit.
void Machine::count_states() {
  CycleCounters& c = run.cycles;
  ++c.cycles;
  const bool pushes = fetched.next != fetched.now;
  ++(fetched.now == count ? c.fetch_idle : in_register.now > 0 && !pushes ? c.fetch_blocked : c.fetch_busy);
  const auto waits = [&](Queue q) {
    return commands[q].visible(cycle) && !tokens_there(q, word_of(commands[q].head().index));
  };
  const bool load_busy =
      load.generator.active.now || load.in_flight.count.now > 0 || load.generator.active.next;
  ++(load_busy ? c.load_busy : waits(kLoadQueue) ? c.load_token : c.load_starved);
  const bool store_busy =
      store_generator.active.now || items.now > 0 || storing.count.now > 0 || store_generator.active.next;
  ++(store_busy ? c.store_busy : waits(kStoreQueue) ? c.store_token : c.store_starved);
  if (gemm_runs.now || gemm_runs.next) {
    ++c.compute_gemm;
  } else if (alu_runs.now || alu_runs.next) {
    ++c.compute_alu;
  } else if (load_runs.now || load_runs.next) {
    ++c.compute_load;
  } else if (waits(kComputeQueue)) {
    const uint64_t bits = word_of(commands[kComputeQueue].head().index);
    const bool for_load = (bits & kPopPrev) != 0 && tokens[kLoadToCompute].now == 0;
    ++(for_load ? c.compute_token_load : c.compute_token_store);
  } else {
    ++c.compute_starved;
  }
}

bool Machine::over() const {
  return finished.now && fetched.now == count && commands[kLoadQueue].count.now == 0 &&
         commands[kStoreQueue].count.now == 0 && load.in_flight.count.now == 0 && storing.count.now == 0;
}

void Machine::step() {
  memory_part();
  arbitrate();
  fetch_part();
  load_part();
  compute_part();
  store_part();
  count_states();
}

void Machine::commit() {
  for (Fifo<Command>& queue : commands) queue.commit();
  for (Clocked<int>& channel : tokens) channel.commit();
  fetch.commit();
  compute_loader.commit();
  load.commit();
  ar = next_ar;
  fetched.commit();
  gathered.commit();
  in_register.commit();
  gemm_runs.commit();
  alu_runs.commit();
  load_runs.commit();
  finished.commit();
  store_generator.commit();
  storing.commit();
  aw.commit();
  items.commit();
  outstanding.commit();
  for (auto& [store, due] : responses_due) due.commit();
  ++cycle;
}

CycleRegisters Machine::registers() const {
  CycleRegisters r;
  r.cycle = cycle;
  r.fetched = fetched.now;
  r.in_register = in_register.now;
  for (int q = 0; q < kQueues; ++q) {
    r.queued[q] = uint32_t(commands[q].count.now);
    r.started[q] = started[q];
  }
  r.in_flight[kLoadQueue] = uint32_t(load.in_flight.count.now);
  r.in_flight[kComputeQueue] = uint32_t(gemm_runs.now) + alu_runs.now + load_runs.now;
  r.in_flight[kStoreQueue] = uint32_t(storing.count.now);
  for (int c = 0; c < kChannels; ++c) r.tokens[c] = uint32_t(tokens[c].now);
  const Client* const clients[] = {&fetch, &compute_loader, &load};
  for (int i = 0; i < kReaders; ++i) {
    r.slot_valid[i] = clients[i]->generator.slot_valid();
    r.credits[i] = uint32_t(clients[i]->credits.now);
    r.read_beats[i] = uint32_t(clients[i]->data.count.now);
  }
  r.slot_valid[kReaders] = store_generator.slot_valid();
  r.writes_outstanding = uint32_t(outstanding.now);
  r.finished = finished.now;
  return r;
}

}  // namespace

struct CycleReference::State {
  State(OverlayHardware hardware, MemoryModel description)
      : executor(std::move(hardware), SimulatorKernel::kAuto), memory(description) {}
  InstructionExecutor executor;
  InstructionQueues program;
  MemoryModel memory;
};

CycleReference::CycleReference(OverlayHardware hardware, MemoryModel memory)
    : state_(std::make_unique<State>(std::move(hardware), memory)) {}

CycleReference::~CycleReference() = default;

TimedRun CycleReference::run(std::span<std::byte> dram, uint64_t address, uint64_t count,
                             const std::function<void(const CycleRegisters&)>& watch) {
  InstructionExecutor& executor = state_->executor;
  executor.begin(dram, address, count);
  state_->program.split(executor.layout, dram.data() + address, count);
  const std::unique_ptr<MemoryTiming> memory = make_memory_timing(state_->memory);
  Machine machine(executor, *memory);
  machine.count = count;
  const uint64_t bytes = uint64_t(executor.hardware.instruction_bytes());
  const uint64_t width = uint64_t(executor.hardware.memory_width_bits) / 8;
  if (bytes < width) machine.next_place = address % width / bytes;
  machine.fetch.generator.start(list_bursts(executor.hardware, address, 1, count * bytes, 0, bytes));
  machine.fetch.generator.commit();  // active in cycle 0
  for (;;) {
    if (watch) watch(machine.registers());
    machine.step();
    if (machine.over()) break;
    if (machine.cycle - machine.last_event > kPatience) {
      throw Error(ErrorKind::kInvalidInput,
                  "nothing happens after cycle " + std::to_string(machine.last_event));
    }
    machine.commit();
  }
  // A write's address is noted a cycle early, before the reads of its cycle.
  std::stable_sort(machine.run.transactions.begin(), machine.run.transactions.end(),
                   [](const AxiTransaction& a, const AxiTransaction& b) {
                     const bool a_writes = a.client == AxiClient::kStore;
                     const bool b_writes = b.client == AxiClient::kStore;
                     return a.cycle != b.cycle ? a.cycle < b.cycle : a_writes < b_writes;
                   });
  machine.run.work = executor.counters;
  return std::move(machine.run);
}

}  // namespace tilewright::overlay
