// AlexNet's convolutions on the row-stationary chip: mappings as published (JSSC 2017, Table III; the third
// layer's q, r, t = 3, 2, 2, the only ones that its measured traffic allows) and processing times and traffic
// as measured (Table V, batch of 4, 1 V).
#pragma once

#include "tilewright/spatial/chip/mapping.h"

namespace tilewright::claims {

struct ChipLayer {
  RowStationaryLayer layer;
  RowStationaryMapping mapping;
  double measured_ms, tolerance;           // processing time; relative
  double measured_buffer_megabytes;        // of 10^6 bytes
  double plotted_dram_megabytes;           // before compression, read from a plot to 0.02
  double pixel_kilobytes, psum_kilobytes;  // of 1024 bytes, in the global buffer
  int64_t active_pes;
};

inline constexpr double kMeasuredTotalMs = 103.5, kTotalTolerance = 0.04;

inline const ChipLayer kAlexnetOnChip[] = {
    {{"CONV1", 1, 4, 3, 96, 227, 227, 11, 11, 4},
     {96, 1, 7, 16, 1, 1, 2},
     16.5,
     0.05,
     18.5,
     6.06,
     15.5,
     72.2,
     154},
    {{"CONV2", 2, 4, 48, 128, 31, 31, 5, 5, 1},
     {64, 1, 27, 16, 2, 1, 1},
     39.2,
     0.05,
     77.6,
     5.43,
     3.8,
     91.1,
     135},
    {{"CONV3", 1, 4, 256, 384, 15, 15, 3, 3, 1},
     {64, 4, 13, 16, 3, 2, 2},
     21.8,
     0.05,
     50.2,
     5.07,
     10.5,
     84.5,
     156},
    {{"CONV4", 2, 4, 192, 192, 15, 15, 3, 3, 1},
     {64, 4, 13, 16, 3, 2, 2},
     16.0,
     0.05,
     37.4,
     3.93,
     10.5,
     84.5,
     156},
    {{"CONV5", 2, 4, 192, 128, 15, 15, 3, 3, 1},
     {64, 4, 13, 16, 3, 2, 2},
     10.0,
     0.10,
     24.9,
     2.61,
     10.5,
     84.5,
     156},
};

}  // namespace tilewright::claims
