"""Arrays of every type and layout give what a plain copy of them gives; what cannot be read is refused."""
import os
import random
import sys

import numpy as np
import pytest
from conftest import PIXEL

import tilewright as tw
from tilewright import _native

SEED = int(os.environ.get("TILEWRIGHT_SEED", "1"))


def layouts(plain):
    """The same values in other layouts."""
    yield np.asfortranarray(plain)
    yield plain.astype(plain.dtype.newbyteorder(">"))
    wide = np.zeros((*plain.shape[:-1], 2 * plain.shape[-1]), plain.dtype)
    wide[..., ::2] = plain
    yield wide[..., ::2]
    yield plain[::-1][::-1]
    offset = np.zeros(plain.nbytes + 1, np.uint8)
    unaligned = offset[1:].view(plain.dtype).reshape(plain.shape)
    unaligned[...] = plain
    yield unaligned
    frozen = plain.copy()
    frozen.flags.writeable = False
    yield frozen
    yield plain.reshape(len(plain), 1, *plain.shape[1:])
    yield plain.reshape(len(plain), -1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int16", "uint16", "int32", "uint32",
                                   "int64", "uint64"])
def test_every_type_and_layout(bundle, images, dtype):
    first = random.Random(SEED).randrange(9000)
    plain = np.ascontiguousarray(images[first:first + 4].astype(dtype))
    before = plain.copy()
    expected = bundle.run(images[first:first + 4], scale=PIXEL)
    for array in layouts(plain):
        assert np.array_equal(bundle.run(array, scale=PIXEL), expected), array.strides
    assert np.array_equal(plain, before)


def test_lists_are_arrays(bundle, images):
    assert np.array_equal(bundle.run(images[:2].tolist(), scale=PIXEL), bundle.run(images[:2], scale=PIXEL))


@pytest.mark.parametrize("array", [np.zeros(3, complex), np.array(["a"]), np.array([None]), np.zeros((2, 5)),
                                   np.zeros((0, 28, 28)), np.array(1.0)])
def test_others_are_refused(bundle, array):
    with pytest.raises(tw.InvalidInput):
        bundle.run(array)


def test_plain_arrays_are_not_copied(bundle, images):
    plain = images[:4].copy()
    before = sys.getrefcount(plain)
    samples = _native.samples([("", plain)], 1.0, "")
    assert sys.getrefcount(plain) == before + 1  # the samples read it where it is
    del samples
    assert sys.getrefcount(plain) == before
    strided = images[:8:2]
    before = sys.getrefcount(strided)
    samples = _native.samples([("", strided)], 1.0, "")
    assert sys.getrefcount(strided) == before  # a copy
    assert not bundle.run(plain, scale=PIXEL).flags.owndata


def test_outputs_outlive_their_run(bundle, images):
    outputs = [bundle.run(images[i:i + 1], scale=PIXEL) for i in range(50)]
    together = bundle.run(images[:50], scale=PIXEL)
    assert np.array_equal(np.concatenate(outputs), together)
    outputs[0][...] = 0  # the caller's own
    assert np.array_equal(bundle.run(images[:1], scale=PIXEL), together[:1])
