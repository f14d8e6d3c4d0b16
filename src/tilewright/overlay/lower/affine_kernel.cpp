// Tries every choice of up to two axes as the loops, fewest micro-ops first (at most 4096), until one has no
// hazard; the other axes are unrolled, reductions outermost. Failing that, splits a destination axis. Whether
// a destination recurs is decided on the list of micro-ops and its ends at a few loop iterations.
#include "tilewright/overlay/lower/affine_kernel.h"

#include <algorithm>
#include <optional>

namespace tilewright::overlay {
namespace {

using Axes = std::vector<BoxAxis>;

// Removes axes of extent 1 and joins neighbours that step through memory as one.
Axes simplify(const Axes& axes) {
  Axes result;
  for (const BoxAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!result.empty()) {
      BoxAxis& outer = result.back();
      if (!outer.visible && !axis.visible && outer.dst == axis.dst * axis.extent &&
          outer.src == axis.src * axis.extent && outer.wgt == axis.wgt * axis.extent) {
        const uint32_t extent = outer.extent * axis.extent;
        outer = axis;
        outer.extent = extent;
        continue;
      }
    }
    result.push_back(axis);
  }
  return result;
}

struct Choice {
  int outer = -1, inner = -1;  // indices of the loop axes, -1: none
  uint64_t uops = 0;
  bool hazard = true;
};

std::vector<uint64_t> destinations(const Axes& axes, const std::vector<int>& order) {
  std::vector<uint64_t> list{0};
  for (const int index : order) {
    const BoxAxis& axis = axes[size_t(index)];
    std::vector<uint64_t> next;
    next.reserve(list.size() * axis.extent);
    for (const uint64_t base : list) {
      for (uint32_t i = 0; i < axis.extent; ++i) next.push_back(base + uint64_t(i) * axis.dst);
    }
    list = std::move(next);
  }
  return list;
}

bool repeats_within_two(const std::vector<int64_t>& sequence) {
  for (size_t i = 1; i < sequence.size(); ++i) {
    if (sequence[i] == sequence[i - 1] || (i > 1 && sequence[i] == sequence[i - 2])) return true;
  }
  return false;
}

// Whether a destination recurs within two micro-ops when `iterations` (y * inner.extent + x) run one after
// the other. Of a long list only the ends matter at the seams.
bool seam_repeats(const std::vector<int64_t>& list, const MicroKernel::Loop& outer,
                  const MicroKernel::Loop& inner, const std::vector<uint64_t>& iterations) {
  std::vector<int64_t> sequence;
  for (size_t k = 0; k < iterations.size(); ++k) {
    const int64_t shift =
        int64_t(iterations[k] / inner.extent) * outer.dst + int64_t(iterations[k] % inner.extent) * inner.dst;
    const size_t size = list.size();
    if (size <= 4) {
      for (const int64_t d : list) sequence.push_back(d + shift);
      continue;
    }
    sequence.push_back(list[0] + shift);
    sequence.push_back(list[1] + shift);
    sequence.push_back(-1 - int64_t(k) * 2);  // stands for the middle
    sequence.push_back(-2 - int64_t(k) * 2);
    sequence.push_back(list[size - 2] + shift);
    sequence.push_back(list[size - 1] + shift);
  }
  return repeats_within_two(sequence);
}

bool has_hazard(const std::vector<int64_t>& list, const MicroKernel::Loop& outer,
                const MicroKernel::Loop& inner) {
  if (repeats_within_two(list)) return true;
  const uint64_t total = uint64_t(outer.extent) * inner.extent;
  std::vector<uint64_t> start, seam;
  for (uint64_t i = 0; i < std::min<uint64_t>(total, 3); ++i) start.push_back(i);
  for (uint64_t i = inner.extent >= 2 ? inner.extent - 2 : 0; i < std::min<uint64_t>(total, inner.extent + 2);
       ++i) {
    seam.push_back(i);
  }
  return seam_repeats(list, outer, inner, start) || seam_repeats(list, outer, inner, seam);
}

// Axes not used as loops: reductions outside, destinations inside, so that the same one recurs late. Before
// them what a run may cut short.
std::vector<int> unrolled_order(const Axes& axes, int outer, int inner) {
  std::vector<int> order;
  for (int i = 0; i < int(axes.size()); ++i) {
    if (i != outer && i != inner) order.push_back(i);
  }
  std::stable_partition(order.begin(), order.end(), [&](int i) { return axes[size_t(i)].dst == 0; });
  std::stable_partition(order.begin(), order.end(), [&](int i) { return axes[size_t(i)].visible; });
  return order;
}

MicroKernel::Loop loop_of(const Axes& axes, int index) {
  if (index < 0) return {};
  const BoxAxis& axis = axes[size_t(index)];
  return {axis.extent, axis.dst, axis.src, axis.wgt};
}

Choice choose_loops(const OverlayHardware& hardware, const Axes& axes, bool is_alu, bool overwrite) {
  const uint32_t max_extent = hardware.isa == IsaVersion::kVta ? (1u << 14) - 1 : (1u << 16) - 1;
  const int count = int(axes.size());
  const auto usable = [&](int i) {
    if (i < 0) return true;
    const BoxAxis& axis = axes[size_t(i)];
    return axis.extent <= max_extent && axis.dst < hardware.accumulator_depth() &&
           axis.src < (is_alu ? hardware.accumulator_depth() : hardware.input_depth()) &&
           axis.wgt < hardware.weight_depth() && !(overwrite && axis.dst == 0);
  };
  std::vector<Choice> choices;
  for (int outer = -1; outer < count; ++outer) {
    for (int inner = -1; inner < count; ++inner) {
      if ((outer >= 0 && inner == outer) || (outer >= 0 && inner < 0) || !usable(outer) || !usable(inner))
        continue;
      Choice choice{outer, inner, 1, true};
      for (int i = 0; i < count; ++i) {
        if (i != outer && i != inner) choice.uops *= axes[size_t(i)].extent;
      }
      choices.push_back(choice);
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.uops < b.uops; });
  for (Choice& choice : choices) {
    if (choice.uops > 4096) break;
    std::vector<int64_t> list;
    for (const uint64_t d : destinations(axes, unrolled_order(axes, choice.outer, choice.inner))) {
      list.push_back(int64_t(d));
    }
    choice.hazard = has_hazard(list, loop_of(axes, choice.outer), loop_of(axes, choice.inner));
    if (!choice.hazard) return choice;
  }
  return choices.front();
}

void emit(const Axes& axes, const std::vector<int>& order, size_t depth, MicroOp uop, bool first,
          bool overwrite, MicroKernel& kernel) {
  if (depth == order.size()) {
    uop.overwrite = overwrite && first;
    kernel.uops.push_back(uop);
    return;
  }
  const BoxAxis& axis = axes[size_t(order[depth])];
  for (uint32_t i = 0; i < axis.extent; ++i) {
    MicroOp next = uop;
    next.dst += i * axis.dst;
    next.src += i * axis.src;
    next.wgt += i * axis.wgt;
    emit(axes, order, depth + 1, next, first && (axis.dst != 0 || i == 0), overwrite, kernel);
  }
}

// Splits axis `index` into extent/part x part.
Axes split_axis(const Axes& axes, size_t index, uint32_t part) {
  Axes result = axes;
  BoxAxis inner = axes[index];
  inner.extent = part;
  result[index].extent = axes[index].extent / part;
  result[index].dst *= part;
  result[index].src *= part;
  result[index].wgt *= part;
  result.insert(result.begin() + long(index) + 1, inner);
  return result;
}

}  // namespace

bool reuses_destination(const MicroKernel& kernel) {
  std::vector<int64_t> list;
  for (const MicroOp& uop : kernel.uops) list.push_back(uop.dst);
  return has_hazard(list, kernel.outer, kernel.inner);
}

MicroKernel cover_box(const OverlayHardware& hardware, const AffineBox& box, MicroKernel kernel,
                      bool overwrite) {
  Axes axes = simplify(box.axes);
  Choice best = choose_loops(hardware, axes, kernel.is_alu, overwrite);
  if (best.hazard) {
    // Part of a destination axis as micro-ops puts different destinations next to each other.
    const Axes whole = axes;
    for (size_t i = 0; i < whole.size(); ++i) {
      if (whole[i].dst == 0 || whole[i].visible) continue;
      for (uint32_t part = 2; part < whole[i].extent && part <= 16; ++part) {
        if (whole[i].extent % part != 0) continue;
        Axes candidate = split_axis(whole, i, part);
        const Choice choice = choose_loops(hardware, candidate, kernel.is_alu, overwrite);
        if (!choice.hazard && (best.hazard || choice.uops < best.uops)) {
          best = choice;
          axes = std::move(candidate);
        }
      }
    }
  }
  kernel.outer = loop_of(axes, best.outer);
  kernel.inner = loop_of(axes, best.inner);
  for (int i = 0; i < int(axes.size()); ++i) {
    if (!axes[size_t(i)].visible) continue;
    kernel.visible_blocks = axes[size_t(i)].extent;
    kernel.visible = i == best.outer   ? MicroKernel::Visible::kOuter
                     : i == best.inner ? MicroKernel::Visible::kInner
                                       : MicroKernel::Visible::kMicroOps;
  }
  emit(axes, unrolled_order(axes, best.outer, best.inner), 0,
       {.dst = box.dst, .src = box.src, .wgt = box.wgt}, true, overwrite, kernel);
  return kernel;
}

std::vector<MicroKernel> cover_box_portably(const OverlayHardware& hardware, const AffineBox& box,
                                            MicroKernel kernel) {
  const MicroKernel whole = cover_box(hardware, box, kernel);
  bool reuses = false;
  for (const auto& [begin, size] : split_kernel(hardware, uint32_t(whole.uops.size()))) {
    MicroKernel piece = whole;
    piece.uops.assign(whole.uops.begin() + begin, whole.uops.begin() + begin + size);
    reuses = reuses || reuses_destination(piece);
  }
  if (!reuses) return {whole};
  AffineBox part = box;
  Axes reductions;
  part.axes.clear();
  for (const BoxAxis& axis : box.axes) (axis.dst == 0 ? reductions : part.axes).push_back(axis);
  // Offsets of all reduction indices, as micro-ops of a box without destinations.
  std::vector<int> order;
  for (int i = 0; i < int(reductions.size()); ++i) order.push_back(i);
  MicroKernel offsets;
  emit(reductions, order, 0, {}, false, false, offsets);
  std::vector<MicroKernel> kernels;
  for (const MicroOp& offset : offsets.uops) {
    part.src = box.src + offset.src;
    part.wgt = box.wgt + offset.wgt;
    kernels.push_back(cover_box(hardware, part, kernel));
  }
  return kernels;
}

}  // namespace tilewright::overlay
