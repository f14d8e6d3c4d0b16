// The layout of a task table's row in its word: one table of fields per kind of row. Packing and unpacking
// here, the positions in the SystemVerilog package (component/config_package.h) and the text in
// docs/design/pipeline/pipeline.md all come from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

// The width of a field: `bits`, or that many times a parameter of the component.
struct FieldWidth {
  int bits = 1;
  const char* times = nullptr;  // the parameter's name
  bool is_signed = false;       // two's complement
};
constexpr FieldWidth unsigned_bits(int bits) { return {bits, nullptr, false}; }
constexpr FieldWidth signed_bits(int bits) { return {bits, nullptr, true}; }
// As wide as the parameter says; such a field may have no bits.
constexpr FieldWidth parameter_bits(const char* name, bool is_signed) { return {1, name, is_signed}; }
// `name` (a parameter) fields of `bits` side by side.
constexpr FieldWidth repeated_bits(int bits, const char* name) { return {bits, name, false}; }

// One field of the rows that `Row` holds. It stores a member, or a value derived from the members by a
// function, which is computed when a row is written and skipped when it is read.
template <typename Row>
struct RowField {
  using Derived = int64_t (*)(const Row&, const netlist::Parameters&);
  using Value = std::variant<int64_t Row::*, bool Row::*, std::vector<int64_t> Row::*, Derived>;

  const char* name;  // in capitals, as in docs/design/pipeline/pipeline.md
  FieldWidth width;
  Value value;
};
// From the lowest bit up.
template <typename Row>
using RowFields = std::span<const RowField<Row>>;

// The same without the values.
struct RowLayout {
  const char* name;  // of the kind of row, as "finish_integer"
  std::vector<std::pair<const char*, FieldWidth>> fields;
};

template <typename Row>
RowLayout row_layout(const char* name, RowFields<Row> fields) {
  RowLayout layout{name, {}};
  for (const RowField<Row>& field : fields) layout.fields.push_back({field.name, field.width});
  return layout;
}

// In a component of these parameters. Errors: a parameter that the layout needs is missing.
inline int field_bits(const FieldWidth& width, const netlist::Parameters& parameters) {
  return width.bits * (width.times == nullptr ? 1 : int(netlist::integer(parameters, width.times)));
}
template <typename Row>
int row_bits(RowFields<Row> fields, const netlist::Parameters& parameters = {}) {
  int bits = 0;
  for (const RowField<Row>& field : fields) bits += field_bits(field.width, parameters);
  return bits;
}
// The lowest bit of a field. Errors (internal): there is none of that name.
template <typename Row>
int field_low(RowFields<Row> fields, std::string_view name, const netlist::Parameters& parameters = {}) {
  int low = 0;
  for (const RowField<Row>& field : fields) {
    if (name == field.name) return low;
    low += field_bits(field.width, parameters);
  }
  throw Error(ErrorKind::kInternal, "no field is called " + std::string(name));
}

// Appends one row to the word of `writer`. Missing elements of a repeated field are 0.
template <typename Row>
void write_row(RowWriter& writer, RowFields<Row> fields, const Row& row,
               const netlist::Parameters& parameters = {}) {
  for (const auto& [name, width, value] : fields) {
    const int bits = field_bits(width, parameters);
    if (bits == 0) continue;
    if (const auto* const list = std::get_if<std::vector<int64_t> Row::*>(&value)) {
      for (int i = 0; i < bits / width.bits; ++i) {
        writer.field(width.bits, size_t(i) < (row.*(*list)).size() ? (row.*(*list))[size_t(i)] : 0);
      }
    } else if (const auto* const number = std::get_if<int64_t Row::*>(&value)) {
      writer.field(bits, row.*(*number));
    } else if (const auto* const flag = std::get_if<bool Row::*>(&value)) {
      writer.field(bits, row.*(*flag) ? 1 : 0);
    } else {
      writer.field(bits, std::get<typename RowField<Row>::Derived>(value)(row, parameters));
    }
  }
}

template <typename Row>
Row read_row(RowReader& reader, RowFields<Row> fields, const netlist::Parameters& parameters = {}) {
  Row row;
  for (const auto& [name, width, value] : fields) {
    const int bits = field_bits(width, parameters);
    if (bits == 0) continue;
    if (const auto* const list = std::get_if<std::vector<int64_t> Row::*>(&value)) {
      for (int i = 0; i < bits / width.bits; ++i) {
        (row.*(*list)).push_back(int64_t(reader.field(width.bits)));
      }
      continue;
    }
    const int64_t stored = width.is_signed ? reader.signed_field(bits) : int64_t(reader.field(bits));
    if (const auto* const number = std::get_if<int64_t Row::*>(&value)) {
      row.*(*number) = stored;
    } else if (const auto* const flag = std::get_if<bool Row::*>(&value)) {
      row.*(*flag) = stored != 0;
    }
  }
  return row;
}

// A whole table, one row per word.
template <typename Row>
MemoryImage write_rows(RowFields<Row> fields, const std::vector<Row>& rows,
                       const netlist::Parameters& parameters = {}) {
  MemoryImage table(row_bits(fields, parameters));
  for (const Row& row : rows) {
    RowWriter writer(table);
    write_row(writer, fields, row, parameters);
  }
  return table;
}
template <typename Row>
std::vector<Row> read_rows(RowFields<Row> fields, const MemoryImage& table,
                           const netlist::Parameters& parameters = {}) {
  std::vector<Row> rows;
  for (int64_t i = 0; i < table.words(); ++i) {
    RowReader reader(table, i);
    rows.push_back(read_row(reader, fields, parameters));
  }
  return rows;
}

}  // namespace tilewright::pipeline
