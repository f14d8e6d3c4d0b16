// Picks, for each kind of component, the parameter in which its counts are linear and two small values of it;
// the weights of the two parts extend the line through them to the real value. Memories of constants lose
// their redundant columns first.
#include "tilewright/pipeline/emit/component_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {
namespace {

std::string column(const MemoryImage& image, int64_t bit) {
  std::string text;
  for (int64_t word = 0; word < image.words(); ++word) {
    text += image.get(word, bit, 1) != 0 ? '1' : '0';
  }
  return text;
}

bool constant(const MemoryImage& image, int64_t bit) {
  const uint64_t first = image.get(0, bit, 1);
  for (int64_t word = 1; word < image.words(); ++word) {
    if (image.get(word, bit, 1) != first) return false;
  }
  return true;
}

std::vector<int64_t> columns_that_stay(const MemoryImage& image, bool of_logic) {
  std::vector<int64_t> columns;
  std::set<std::string> seen;
  for (int64_t bit = 0; bit < image.width_bits(); ++bit) {
    if (constant(image, bit)) continue;
    if (!of_logic || seen.insert(column(image, bit)).second) columns.push_back(bit);
  }
  if (columns.empty()) columns.push_back(0);
  return columns;
}

// The first `width` of `columns`.
ComponentPart columns_part(const netlist::Instance& walker, const MemoryImage& image,
                           const std::vector<int64_t>& columns, int64_t width, MemoryImages& images) {
  MemoryImage narrow{int(width)};
  for (int64_t word = 0; word < image.words(); ++word) {
    narrow.add_word();
    for (int64_t bit = 0; bit < width; ++bit) {
      narrow.set(word, bit, 1, int64_t(image.get(word, columns[size_t(bit)], 1)));
    }
  }
  ComponentPart result{walker, 1};
  const std::string file =
      fmt::format("{}_columns{}", netlist::text_or(walker.parameters, "FILE", ""), width);
  result.instance.parameters["FILE"] = file;
  result.instance.parameters["WIDTH"] = width;
  images[file] = std::move(narrow);
  return result;
}

int64_t size(const netlist::Instance& component, const char* name, int64_t otherwise) {
  return netlist::integer_or(component.parameters, name, otherwise);
}

// `first` and `second` stand at `x1` and `x2` of a line that the whole lies on at `x`.
std::vector<ComponentPart> line(ComponentPart first, ComponentPart second, int64_t x1, int64_t x2,
                                int64_t x) {
  second.weight = double(x - x1) / double(x2 - x1);
  first.weight = 1 - second.weight;
  return {std::move(first), std::move(second)};
}

// With `name` as `first` and as `second`.
std::vector<ComponentPart> sizes_line(const netlist::Instance& component, const char* name, int64_t first,
                                      int64_t second) {
  ComponentPart few{component, 1}, more{component, 1};
  few.instance.parameters[name] = first;
  more.instance.parameters[name] = second;
  return line(std::move(few), std::move(more), first, second, size(component, name, 1));
}

std::vector<ComponentPart> rom_parts(const netlist::Instance& walker, const PartLimits& limits,
                                     MemoryImages& images) {
  const auto found = images.find(netlist::text_or(walker.parameters, "FILE", ""));
  TILEWRIGHT_CHECK(found != images.end(), "a memory of constants without contents");
  const MemoryImage image = found->second;
  const bool of_logic = netlist::text_or(walker.parameters, "KIND", "block") != "block";
  const std::vector<int64_t> columns = columns_that_stay(image, of_logic);
  const int64_t width = int64_t(columns.size());
  if (width <= std::max(limits.rom_bits, 2 * kRomColumns)) {
    return {columns_part(walker, image, columns, width, images)};
  }
  return line(columns_part(walker, image, columns, kRomColumns, images),
              columns_part(walker, image, columns, 2 * kRomColumns, images), kRomColumns, 2 * kRomColumns,
              width);
}

ComponentPart lanes_part(const netlist::Instance& finish, int64_t lanes) {
  ComponentPart result{finish, 1};
  const int64_t beats = size(finish, "PO", 1) / size(finish, "PF", 1);
  result.instance.parameters["PF"] = lanes;
  result.instance.parameters["PO"] = lanes * beats;
  return result;
}

std::vector<ComponentPart> finish_parts(const netlist::Instance& finish, const PartLimits& limits) {
  const int64_t lanes = size(finish, "PF", 1), beats = size(finish, "PO", 1) / lanes,
                acc = size(finish, "ACC", 32);
  const bool tables = acc == 64 && size(finish, "TABLES", 0) > 0;
  const int64_t few = tables ? 1 : 4;
  if (lanes > 2 * few && lanes * acc * (tables ? 4 : 1) > limits.sum_bits) {
    return line(lanes_part(finish, few), lanes_part(finish, 2 * few), few, 2 * few, lanes);
  }
  if (beats <= std::max<int64_t>(32, limits.held_beats)) return {{finish, 1}};
  return sizes_line(finish, "PO", 16 * lanes, 32 * lanes);
}

std::vector<ComponentPart> array_parts(const netlist::Instance& array, const char* terms, const char* columns,
                                       const PartLimits& limits) {
  const int64_t width = size(array, columns, 1);
  if (width <= 4 || width * size(array, terms, 1) * size(array, "ACC", 32) <= limits.product_bits)
    return {{array, 1}};
  return size(array, "ACC", 32) == 64 ? sizes_line(array, columns, 1, 2) : sizes_line(array, columns, 2, 4);
}

std::vector<ComponentPart> ring_parts(const netlist::Instance& ring, const PartLimits& limits) {
  const int64_t width = size(ring, "WIDTH", 1), beat = size(ring, "BEAT", 1);
  if (width <= std::max(limits.ring_bits, 4 * beat)) return {{ring, 1}};
  return sizes_line(ring, "WIDTH", 2 * beat, 4 * beat);
}

std::vector<ComponentPart> window_parts(const netlist::Instance& window, const PartLimits& limits) {
  const int64_t elements = size(window, "PI", 1);
  const int64_t bits = elements * size(window, "AW", 8) * size(window, "KH", 3) * size(window, "KW", 3);
  if (elements <= 8 || bits <= limits.window_bits) return {{window, 1}};
  return sizes_line(window, "PI", 4, 8);
}

}  // namespace

std::vector<ComponentPart> component_parts(const netlist::Instance& component, const PartLimits& limits,
                                           MemoryImages& images) {
  if (component.module == "rom_walker" && size(component, "WIDTH", 1) > limits.rom_bits) {
    return rom_parts(component, limits, images);
  }
  if (component.module == "finish") return finish_parts(component, limits);
  if (component.module == "sliding_window") return window_parts(component, limits);
  if (component.module == "mac_array") return array_parts(component, "PI", "PO", limits);
  if (component.module == "lane_array") return array_parts(component, "TAPS", "P", limits);
  if (component.module == "weight_ring") return ring_parts(component, limits);
  return {{component, 1}};
}

}  // namespace tilewright::pipeline
