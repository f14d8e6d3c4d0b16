r"""The design of this folder in simulation, behind the calls of a board: what driver.py does there, it does here.

    verilator --cc --exe --build -O3 -Wno-fatal --top tilewright_pipeline -GFOLDER="\"$PWD\"" --Mdir simulated \
      -CFLAGS -fPIC -LDFLAGS -shared -o libdesign.so rtl/*.sv host/host.cpp

in the folder of the design, then in Python:

    from driver import Accelerator
    from simulated import SimulatedBoard
    board = SimulatedBoard()
    net = Accelerator(board, board.allocate)
"""
import ctypes
import pathlib

import numpy as np

LIBRARY = pathlib.Path(__file__).resolve().parent.parent / "simulated" / "libdesign.so"
CYCLES_PER_ACCESS = 1000  # that go by while a program on a processor reads a register once


class Buffer(np.ndarray):
    """An array in the memory that the design sees."""
    device_address = 0

    def flush(self):
        """Caches have nothing to write back."""

    def invalidate(self):
        """Caches have nothing to forget."""


class SimulatedBoard:
    """Registers (read, write) and memory (allocate) of a simulated design. `memory`: its bytes."""

    def __init__(self, library=LIBRARY, memory=1 << 26):
        self._library = ctypes.CDLL(str(library))
        for name, result, arguments in (
                ("open", ctypes.c_void_p, [ctypes.c_uint64]),
                ("close", None, [ctypes.c_void_p]),
                ("memory", ctypes.c_void_p, [ctypes.c_void_p]),
                ("read", ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_uint32]),
                ("write", None, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32]),
                ("pass", ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64])):
            function = getattr(self._library, "design_" + name)
            function.restype, function.argtypes = result, arguments
        self._design = self._library.design_open(memory)
        data = (ctypes.c_uint8 * memory).from_address(self._library.design_memory(self._design))
        self._memory, self._used = np.frombuffer(data, np.uint8), 0

    def close(self):
        """Ends the simulation; its buffers are gone."""
        if self._design:
            self._library.design_close(self._design)
        self._design = None

    def read(self, offset=0):
        """As pynq.MMIO.read."""
        if not self._library.design_pass(self._design, CYCLES_PER_ACCESS):
            raise RuntimeError("the design went outside of memory")
        return int(self._library.design_read(self._design, offset))

    def write(self, offset, value):
        """As pynq.MMIO.write."""
        self._library.design_write(self._design, offset, value)

    def allocate(self, shape, dtype=np.uint8):
        """As pynq.allocate."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self._used + size > len(self._memory):
            raise MemoryError(f"{len(self._memory)} bytes are simulated; give SimulatedBoard more with memory=")
        array = self._memory[self._used:self._used + size].view(dtype).reshape(shape).view(Buffer)
        array.device_address = self._used
        self._used += -(-size // 4096) * 4096
        return array
