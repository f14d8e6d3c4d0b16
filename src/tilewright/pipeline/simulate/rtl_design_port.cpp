// The Verilated model behind the host's side that all simulations share.
#include "tilewright/pipeline/simulate/design_host.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright::pipeline {

struct RtlDesignPort::Host : DesignHost<RtlModel> {
  using DesignHost<RtlModel>::DesignHost;
};

RtlDesignPort::RtlDesignPort(const Design& design, const RtlPortOptions& options)
    : model_(design.netlist, design.images, options.model),
      host_(std::make_unique<Host>(model_, design, options.memory, options.limit_cycles)),
      deadline_(options.deadline) {
  restart(options.pause_seed);
}

RtlDesignPort::~RtlDesignPort() = default;

void RtlDesignPort::restart(uint64_t pause_seed) {
  model_.restart();
  host_->restart(pause_seed);
}

void RtlDesignPort::fail_next_run(const AxiFault& fault) { host_->fail_next_run(fault); }

uint32_t RtlDesignPort::read32(uint16_t offset) { return host_->read32(offset); }

void RtlDesignPort::write32(uint16_t offset, uint32_t value) { host_->write32(offset, value); }

bool RtlDesignPort::wait_for_interrupt() {
  DeadlineWatch watch(deadline_);
  if (log_ != nullptr) log_->begin(model_.activity(), host_->moved_bits());
  const bool done = host_->run([&] {
    watch.check();
    while (log_ != nullptr && log_->cycles_left(host_->cycle()) == 0) {
      log_->note(model_.activity(), host_->moved_bits());
    }
    return true;
  });
  if (log_ != nullptr) log_->end(model_.activity(), host_->moved_bits());
  return done;
}

std::vector<std::byte>& RtlDesignPort::memory(size_t bytes) { return host_->memory(bytes); }

uint64_t RtlDesignPort::read_beats() const { return host_->read_beats(); }

uint64_t RtlDesignPort::write_beats() const { return host_->write_beats(); }

}  // namespace tilewright::pipeline
