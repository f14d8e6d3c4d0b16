"""Runs the design of this folder from Python: real values or the network's integers in, the same out.

On a board with PYNQ, with the bitstream and the .hwh file that block_design.tcl makes beside this file:

    from driver import Accelerator
    net = Accelerator.on_board("tilewright.bit")
    scores = net(images)             # float32; one array per input of the model, images along axis 0
    classes = net.classes(images)

Without a board: simulated.py. The numbers are those of docs/reference/arithmetic.md of Tilewright, to the bit.
"""
import pathlib
import time
from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """A tensor in memory: pixels of words of `word_elements` elements of `bits`; with a window (window_rows > 0)
    each pixel holds all elements that the window sees."""
    rows: int
    columns: int
    channels: int
    source_rows: int
    source_columns: int
    source_channels: int
    word_elements: int
    bits: int
    bipolar: bool
    bytes: int
    window_rows: int
    window_columns: int
    stride_y: int
    stride_x: int
    top: int
    left: int
    pad_value: int


class Tensor(NamedTuple):
    """A tensor of the model: element i of its own order is element first + sum of digit * step of the image or
    result, the digits of i to the radices `size`, the first the most significant. Of an output: a softmax of all
    its integers (QSoftmax; without exponentials none), one of all its real values after that."""
    name: str
    shape: tuple
    first: int
    digits: tuple
    scale: float
    zero_point: int
    low: int
    high: int
    exponentials: tuple
    numerator: int
    shift: int
    softmax_zero: int
    softmax: bool

    def places(self):
        at = np.array([self.first], np.int64)
        for size, step in self.digits:
            at = (at[:, None] + np.arange(size) * step).ravel()
        return at


# @design@


class DesignError(Exception):
    """The design cannot do what it is asked."""


def numbers_of(values, tensor):
    """The network's numbers for real values."""
    values = np.asarray(values, np.float32)
    if FRACTION >= 0:
        scaled = np.floor(np.ldexp(values.astype(np.float64), FRACTION) + 0.5)
        return np.nan_to_num(np.clip(scaled, -2.0**31, 2.0**31 - 1), nan=0).astype(np.int64)
    low, high = np.float32(tensor.low - tensor.zero_point), np.float32(tensor.high - tensor.zero_point)
    scaled = values / np.float32(tensor.scale)
    return np.rint(np.minimum(np.where(scaled > low, scaled, low), high)).astype(np.int64) + tensor.zero_point


def values_of(numbers, tensor):
    """Back; `numbers` has the images along axis 0."""
    if tensor.exponentials:
        powers = np.array(tensor.exponentials, np.int64)[numbers.max(axis=1, keepdims=True) - numbers]
        half = 1 << tensor.shift - 1 if tensor.shift else 0
        shares = powers * (tensor.numerator // powers.sum(axis=1, keepdims=True)) + half >> tensor.shift
        numbers = np.clip(shares + tensor.softmax_zero, tensor.low, tensor.high)
    if FRACTION >= 0:
        values = np.ldexp(numbers.astype(np.float32), -FRACTION)
    else:
        values = (numbers - tensor.zero_point).astype(np.float32) * np.float32(tensor.scale)
    if tensor.softmax:
        powers = np.exp((values - values.max(axis=1, keepdims=True)).astype(np.float64))
        values = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return values


def _sources():
    """Of every element of an image in memory: the element of the image that it holds, -1 for padding of the
    window, -2 for what nobody reads."""
    t = IMAGE
    at = np.full((t.rows, t.columns, t.word_elements), -2, np.int64)
    y, x = np.arange(t.rows)[:, None], np.arange(t.columns)[None, :]
    windowed = t.window_rows > 0
    for ky in range(t.window_rows if windowed else 1):
        for kx in range(t.window_columns if windowed else 1):
            iy = y * t.stride_y - t.top + ky if windowed else y
            ix = x * t.stride_x - t.left + kx if windowed else x
            inside = (iy >= 0) & (iy < t.source_rows) & (ix >= 0) & (ix < t.source_columns)
            first = (ky * t.window_columns + kx) * t.source_channels if windowed else 0
            for c in range(t.source_channels):
                place = (iy * t.source_columns + ix) * t.source_channels + c
                at[:, :, first + c] = np.where(inside, place, -1)
    return at.ravel()


def _packed(numbers, t):
    """Images of elements as bytes."""
    count = len(numbers)
    if t.bipolar:
        numbers = numbers > 0
    if t.bits >= 8:
        whole = np.ascontiguousarray(numbers.astype("<i4" if t.bits == 32 else "i1")).view(np.uint8).reshape(count, -1)
    else:
        bits = numbers.astype(np.int64)[:, :, None] >> np.arange(t.bits) & 1
        whole = np.packbits(bits.astype(np.uint8).reshape(count, -1), axis=1, bitorder="little")
    packed = np.zeros((count, t.bytes), np.uint8)
    packed[:, :whole.shape[1]] = whole
    return packed


def _unpacked(memory, t):
    """Results of bytes as elements: rows, columns, channels."""
    count, words = len(memory), t.rows * t.columns * t.word_elements
    if t.bits >= 8:
        size = t.bits // 8
        flat = np.ascontiguousarray(memory[:, :words * size]).view("<i4" if t.bits == 32 else "i1")
    else:
        bits = np.unpackbits(np.ascontiguousarray(memory), axis=1, bitorder="little")[:, :words * t.bits]
        flat = (bits.reshape(count, words, t.bits).astype(np.int64) << np.arange(t.bits)).sum(axis=2)
        sign = 1 << t.bits - 1
        flat = np.where(flat != 0, 1, -1) if t.bipolar else (flat ^ sign) - sign
    pixels = flat.reshape(count, t.rows, t.columns, t.word_elements)
    return pixels[..., :t.channels].astype(np.int32)


def _pages(count):
    return -(-count // 4096) * 4096


class Accelerator:
    """A design behind `registers`, which has read(offset) and write(offset, value) as pynq.MMIO does, and
    `allocate(shape=, dtype=)`, which makes numpy arrays that the design sees, with device_address, flush() and
    invalidate(), as pynq.allocate does."""

    cycles = 0
    """Of the last run, from its start to the end of the last image."""

    def __init__(self, registers, allocate, weights=None, timeout=60.0):
        self._registers, self._allocate, self._timeout = registers, allocate, timeout
        self._buffer, self._placed, self._sources = None, None, _sources()
        for word, wanted in enumerate(IDENTITY):
            found = registers.read(REGISTERS["IDENTITY"] + 4 * word)
            if found != wanted:
                raise DesignError(f"another design answers: word {word} of its identity is {found:#010x}, not "
                                  f"{wanted:#010x}; load the bitstream of this folder")
        self._weights = b""
        if WEIGHT_BYTES > 0:
            path = pathlib.Path(weights or pathlib.Path(__file__).with_name("weights.bin"))
            self._weights = path.read_bytes()
            if len(self._weights) != CHANNELS * WEIGHT_BYTES:
                raise DesignError(f"'{path}' has {len(self._weights)} bytes, not {CHANNELS * WEIGHT_BYTES}")

    @classmethod
    def on_board(cls, bitfile, **options):
        """Loads the bitstream and takes the design in it."""
        import pynq
        overlay = pynq.Overlay(str(bitfile))
        for entry in overlay.ip_dict.values():
            if VLNV in entry.get("type", ""):
                return cls(pynq.MMIO(entry["phys_addr"], entry["addr_range"]), pynq.allocate, **options)
        raise DesignError(f"'{bitfile}' has no {VLNV}; make it with block_design.tcl of this folder")

    def __call__(self, *values):
        """The model's outputs for its inputs, one array each, images along axis 0; a single output alone."""
        if MISSING:
            raise DesignError(f"the model takes more than this program computes: {MISSING}; use run()")
        if len(values) != len(INPUTS):
            raise DesignError(f"the model has {len(INPUTS)} inputs, not {len(values)}")
        flat = []
        for value, tensor in zip(values, INPUTS):
            value, each = np.asarray(value, np.float32), int(np.prod(tensor.shape))
            if value.size == 0 or value.size % each != 0:
                raise DesignError(f"input '{tensor.name}' has {each} elements per image ({tensor.shape}), "
                                  f"not {value.shape}")
            flat.append(value.reshape(-1, each))
        count = len(flat[0])
        if any(len(one) != count for one in flat):
            raise DesignError("the inputs have different numbers of images")
        t = IMAGE
        images = np.zeros((count, t.source_rows * t.source_columns * t.source_channels), np.int64)
        for value, tensor in zip(flat, INPUTS):
            images[:, tensor.places()] = numbers_of(value, tensor)
        results = self.run(images).reshape(count, -1)
        outputs = []
        for tensor in OUTPUTS:
            one = values_of(results[:, tensor.places()], tensor)
            outputs.append(one.reshape((count,) + tensor.shape[1:]) if tensor.shape[:1] == (1,) else one)
        return outputs[0] if len(outputs) == 1 else outputs

    def classes(self, *values):
        """The index of the largest element of the model's only output, by image."""
        scores = self(*values)
        if isinstance(scores, list):
            raise DesignError(f"the model has {len(scores)} outputs; call the design and choose one")
        return scores.reshape(len(scores), -1).argmax(axis=1)

    def run(self, images):
        """The network's own numbers: an image is rows, columns, channels; so are the results."""
        t = IMAGE
        each = t.source_rows * t.source_columns * t.source_channels
        images = np.asarray(images)
        if images.size == 0 or images.size % each != 0:
            raise DesignError(f"an image has {t.source_rows} x {t.source_columns} x {t.source_channels} elements, "
                              f"not {images.shape}")
        images = images.reshape(-1, each)
        count = len(images)
        output = _pages(count * IMAGE.bytes)
        weights = output + _pages(count * RESULT.bytes)
        memory = self._memory(weights + CHANNELS * _pages(WEIGHT_BYTES))
        base = memory.device_address
        known = np.concatenate([images, np.full((count, 1), t.pad_value, images.dtype)], axis=1)
        held = np.where(self._sources >= 0, self._sources, each)
        laid = np.where(self._sources == -2, -1 if t.bipolar else 0, known[:, held])
        memory[:count * t.bytes] = _packed(laid, t).ravel()
        self._place_weights(memory, weights)
        memory.flush()
        together = count if STREAMING else 1  # a streaming design takes all images as one
        self._write_address("INPUT", base)
        self._write_address("OUTPUT", base + output)
        for name, value in (("IMAGES", count // together), ("INPUT_BYTES", t.bytes * together),
                            ("INPUT_STRIDE", t.bytes), ("OUTPUT_BYTES", RESULT.bytes * together),
                            ("OUTPUT_STRIDE", RESULT.bytes), ("WEIGHT_BYTES", WEIGHT_BYTES), ("CONTROL", 1)):
            self._registers.write(REGISTERS[name], value)
        self._wait()
        memory.invalidate()
        results = np.array(memory[output:output + count * RESULT.bytes]).reshape(count, -1)
        return _unpacked(results, RESULT)

    def _memory(self, size):
        if self._buffer is None or len(self._buffer) < size:
            self._buffer = self._allocate(shape=(size,), dtype=np.uint8)
        return self._buffer

    def _place_weights(self, memory, first):
        if WEIGHT_BYTES == 0 or self._placed == (memory.device_address, first):
            return
        self._placed = (memory.device_address, first)
        for c, part in enumerate(np.frombuffer(self._weights, np.uint8).reshape(CHANNELS, WEIGHT_BYTES)):
            at = first + c * _pages(WEIGHT_BYTES)
            memory[at:at + WEIGHT_BYTES] = part
            self._write_address(f"WEIGHTS{c}", memory.device_address + at)

    def _write_address(self, name, value):
        self._registers.write(REGISTERS[name + "_LO"], value & 0xFFFFFFFF)
        self._registers.write(REGISTERS[name + "_HI"], value >> 32)

    def _wait(self):
        read, end = self._registers.read, time.monotonic() + self._timeout
        while not (status := read(REGISTERS["STATUS"])) & 1:
            if time.monotonic() > end:
                raise DesignError(f"no end after {self._timeout:g} s")
            time.sleep(0)
        if status & 2:
            raise DesignError("a memory port answered with an error")
        self.cycles = read(REGISTERS["CYCLES_LO"]) | read(REGISTERS["CYCLES_HI"]) << 32
        self._registers.write(REGISTERS["STATUS"], 1)
