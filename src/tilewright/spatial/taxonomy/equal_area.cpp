// Piecewise linear area curves and the split of an area between register files and buffer.
#include "tilewright/spatial/taxonomy/equal_area.h"

#include <algorithm>
#include <cmath>

namespace tilewright::study {

double memory_area(const AreaModel& model, double bytes) {
  const std::vector<AreaPoint>& points = model.area;
  if (bytes <= 0 || points.empty()) return 0;
  if (bytes <= points.front().bytes) return bytes * points.front().per_byte_um2;
  if (bytes >= points.back().bytes) return bytes * points.back().per_byte_um2;
  size_t k = 1;
  while (points[k].bytes < bytes) ++k;
  const AreaPoint& a = points[k - 1];
  const AreaPoint& b = points[k];
  const double share = (bytes - a.bytes) / (b.bytes - a.bytes);
  return bytes * (a.per_byte_um2 + share * (b.per_byte_um2 - a.per_byte_um2));
}

double memory_bytes(const AreaModel& model, double area_um2) {
  const std::vector<SizePoint>& points = model.size;
  if (points.empty() || area_um2 < points.front().area_um2) return 0;
  if (area_um2 >= points.back().area_um2) return area_um2 * points.back().bytes / points.back().area_um2;
  size_t k = 1;
  while (points[k].area_um2 < area_um2) ++k;
  const SizePoint& a = points[k - 1];
  const SizePoint& b = points[k];
  return a.bytes + (area_um2 - a.area_um2) / (b.area_um2 - a.area_um2) * (b.bytes - a.bytes);
}

double storage_area(const AreaModel& model, int64_t pes) {
  return double(pes) * memory_area(model, model.baseline_bytes_per_pe) +
         memory_area(model, double(pes) * model.baseline_bytes_per_pe);
}

Storage equal_area_storage(const StudyMachine& machine, int64_t register_file_bytes) {
  Storage storage;
  storage.register_file_bytes = register_file_bytes;
  storage.register_file_words = register_file_bytes / machine.word_bytes;
  storage.buffer_bytes = machine.buffer_bytes;
  if (machine.buffer_bytes == 0) {
    const double left = storage_area(machine.area, machine.pes) -
                        double(machine.pes) * memory_area(machine.area, double(register_file_bytes));
    storage.buffer_bytes = memory_bytes(machine.area, std::max(left, 0.0));
  }
  storage.buffer_words = int64_t(std::floor(storage.buffer_bytes / double(machine.word_bytes)));
  storage.total_bytes = storage.buffer_bytes + double(machine.pes * register_file_bytes);
  return storage;
}

}  // namespace tilewright::study
