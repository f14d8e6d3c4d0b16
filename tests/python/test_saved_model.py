"""A SavedModel's folder, written here field by field as TensorFlow does, is a model like any other."""
import struct

import numpy as np
import pytest

import tilewright as tw

FLOAT = 1


def varint(n):
    n &= 2 ** 64 - 1
    digits = []
    while n >= 128:
        digits.append(n & 127 | 128)
        n >>= 7
    return bytes([*digits, n])


def field(number, value):
    """A protobuf field: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def entry(key, value):
    return field(1, key) + field(2, value)


def shape(*sizes):
    return b"".join(field(2, field(1, size)) for size in sizes)


def node(name, op, inputs=(), **attributes):
    return field(1, field(1, name) + field(2, op) + b"".join(field(3, i) for i in inputs)
                 + b"".join(field(5, entry(key, value)) for key, value in attributes.items()))


def checksum(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def block(entries):
    """Of a LevelDB table: nothing is shared between keys, one restart, no compression, checksum."""
    data = b"".join(varint(0) + varint(len(key)) + varint(len(value)) + key + value for key, value in entries)
    data += struct.pack("<II", 0, 1)
    return data + b"\0" + checksum(data + b"\0")


def table(entries):
    data, meta = block(entries), block([])
    places = [varint(len(data)) + varint(len(meta) - 5), b""]
    index = block([(entries[-1][0], varint(0) + varint(len(data) - 5))])
    places[1] = varint(len(data) + len(meta)) + varint(len(index) - 5)
    return data + meta + index + b"".join(places).ljust(40, b"\0") + struct.pack("<Q", 0xdb4775248b80fb57)


@pytest.fixture
def weights():
    return np.arange(12, dtype=np.float32).reshape(4, 3) - 5


@pytest.fixture
def folder(tmp_path, weights):
    graph = (node("x", "Placeholder", dtype=field(6, FLOAT), shape=field(7, shape(-1, 4)))
             + node("w", "VarHandleOp", dtype=field(6, FLOAT), shape=field(7, shape(4, 3)))
             + node("read", "ReadVariableOp", ["w"], dtype=field(6, FLOAT))
             + node("y", "MatMul", ["x", "read"], T=field(6, FLOAT)))
    signature = (field(1, entry("features", field(1, "x:0") + field(2, FLOAT) + field(3, shape(-1, 4))))
                 + field(2, entry("scores", field(1, "y:0") + field(2, FLOAT) + field(3, shape(-1, 3))))
                 + field(3, "tensorflow/serving/predict"))
    meta = field(1, field(4, "serve")) + field(2, graph) + field(5, entry("serving_default", signature))
    data = weights.tobytes()
    tensor = (field(1, FLOAT) + field(2, shape(4, 3)) + field(5, len(data)) + varint(6 << 3 | 5) + checksum(data))
    (tmp_path / "variables").mkdir()
    (tmp_path / "saved_model.pb").write_bytes(field(1, 1) + field(2, meta))
    (tmp_path / "variables/variables.index").write_bytes(table([(b"", field(1, 1)), (b"w", tensor)]))
    (tmp_path / "variables/variables.data-00000-of-00001").write_bytes(data)
    return tmp_path


def test_the_folder_is_loaded(folder, weights):
    x = np.random.default_rng(1).integers(-3, 3, (5, 4)).astype(np.float32)
    for path in (folder, str(folder) + "/", folder / "saved_model.pb"):
        model = tw.load(path, signature="serving_default")
        assert [value.name for value in model.inputs + model.outputs] == ["features", "scores"]
        assert np.array_equal(model.run(x).reshape(5, 3), x @ weights)
    assert tw.load(str(folder) + "/").name == folder.name


def test_what_is_wrong_with_its_files_is_said(folder):
    with pytest.raises(tw.InvalidInput, match="has no signature 'train'; its signatures: serving_default"):
        tw.load(folder, signature="train")
    data = folder / "variables/variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-1] + b"?")
    with pytest.raises(tw.InvalidInput, match="checksum of the elements does not fit") as caught:
        tw.load(folder)
    assert [problem.where for problem in caught.value.diagnostics] == ["node 'w'"]
    data.unlink()
    with pytest.raises(tw.InvalidInput, match="variables.data-00000-of-00001' is missing"):
        tw.load(folder)
