#include "tilewright/spatial/chip/processing_element.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

RowStationaryChip small_chip() {
  RowStationaryChip chip;
  chip.filter_spad_words = 16;
  chip.pixel_spad_words = 4;
  chip.psum_spad_words = 4;
  chip.pipeline_stages = 3;
  chip.link_words_per_cycle = 2;
  return chip;
}

TEST(PsumFifo, WordsCanBeTakenInOrderFromTheirCycleOn) {
  PsumFifo fifo(2);
  fifo.push(7, 100);
  fifo.push(8, 100);
  EXPECT_EQ(fifo.room(), 0);
  EXPECT_EQ(fifo.available(99, 2), 0);
  fifo.arrive(2, 50);
  EXPECT_EQ(fifo.available(50, 1), 1);
  EXPECT_EQ(fifo.available(50, 5), 2);
  EXPECT_EQ(fifo.pop(), 7);
  fifo.push(9, 60);
  EXPECT_EQ(fifo.available(50, 5), 1);
  EXPECT_EQ(fifo.pop(), 8);
  EXPECT_EQ(fifo.pop(), 9);
}

// Two filters, window of 2 pixels, 2 output columns, stride 1: the schedule worked out by hand.
TEST(ProcessingElement, OneDimensionalConvolution) {
  PsumFifo input(4), output(4);
  PeWork work;
  work.columns = 2;
  work.taps = 2;
  work.filters = 2;
  ProcessingElement pe(small_chip(), work, &input, &output);
  for (int16_t weight : {1, 10, 2, 20}) pe.receive_weight(weight);
  EXPECT_EQ(pe.step(0), 1);  // no pixel
  EXPECT_EQ(pe.cycles().wait_pixel, 1);
  for (int16_t pixel : {3, 4, 5}) pe.receive_pixel(pixel);
  EXPECT_EQ(pe.pixel_room(), 1);
  EXPECT_EQ(pe.step(1), 3);  // pixel 3 with two filters
  EXPECT_EQ(pe.pixel_room(), 1);
  EXPECT_EQ(pe.step(3), 5);
  EXPECT_EQ(pe.pixel_room(), 2);  // the oldest pixel is out of the window
  EXPECT_EQ(pe.step(5), 6);       // nothing from below
  EXPECT_EQ(pe.cycles().wait_psum_in, 1);
  input.push(100, 6);
  input.push(200, 6);
  EXPECT_EQ(pe.step(6), 7);
  EXPECT_EQ(output.available(9, 2), 0);  // a transfer of two words is not complete
  EXPECT_EQ(pe.step(7), 8);
  EXPECT_EQ(output.available(9, 2), 0);
  EXPECT_EQ(output.available(10, 2), 2);
  EXPECT_EQ(output.pop(), 100 + 3 * 1 + 4 * 2);
  EXPECT_EQ(output.pop(), 200 + 3 * 10 + 4 * 20);
  EXPECT_EQ(pe.step(8), 10);
  EXPECT_EQ(pe.step(10), 12);
  input.push(0, 0);
  input.push(0, 0);
  EXPECT_EQ(pe.step(12), 13);
  EXPECT_EQ(pe.step(13), 14);
  EXPECT_TRUE(pe.done());
  EXPECT_EQ(output.pop(), 4 * 1 + 5 * 2);
  EXPECT_EQ(output.pop(), 4 * 10 + 5 * 20);
  EXPECT_EQ(pe.cycles().multiply, 8);
  EXPECT_EQ(pe.cycles().accumulate, 4);
  EXPECT_EQ(pe.cycles().total(), 14);
  EXPECT_EQ(pe.psum_reads(), 8);
  EXPECT_EQ(pe.psum_writes(), 8);
}

TEST(ProcessingElement, WaitsForTheWeightItNeeds) {
  PsumFifo input(4), output(4);
  PeWork work;
  work.filters = 2;
  work.takes_psums = false;
  ProcessingElement pe(small_chip(), work, &input, &output);
  pe.receive_pixel(2);
  pe.receive_weight(5);
  EXPECT_EQ(pe.step(0), 1);  // the one product that is possible
  EXPECT_EQ(pe.step(1), 2);
  EXPECT_EQ(pe.cycles().wait_weight, 1);
  pe.receive_weight(7);
  EXPECT_EQ(pe.step(2), 3);
  pe.step(3);
  pe.step(4);
  EXPECT_TRUE(pe.done());
  EXPECT_EQ(output.pop(), 10);
  EXPECT_EQ(output.pop(), 14);
}

TEST(ProcessingElement, SecondAdderHidesTheAccumulation) {
  RowStationaryChip chip = small_chip();
  chip.overlap.shared_adder = false;
  PsumFifo input(4), output(1);
  PeWork work;
  work.columns = 2;
  ProcessingElement pe(chip, work, &input, &output);
  pe.receive_weight(3);
  pe.receive_pixel(5);
  pe.receive_pixel(6);
  EXPECT_EQ(pe.step(0), 1);
  EXPECT_EQ(pe.cycles().wait_psum_in, 1);
  input.push(1, 0);
  EXPECT_EQ(pe.step(1), 2);
  input.push(2, 0);
  EXPECT_EQ(pe.step(2), 3);  // the output is full
  EXPECT_EQ(pe.cycles().wait_psum_out, 1);
  EXPECT_EQ(output.pop(), 16);
  pe.step(3);
  EXPECT_TRUE(pe.done());
  EXPECT_EQ(output.pop(), 20);
  EXPECT_EQ(pe.cycles().multiply, 2);
  EXPECT_EQ(pe.cycles().accumulate, 0);
}

}  // namespace
}  // namespace tilewright
