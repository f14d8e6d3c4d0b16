"""Quantised models as QONNX: valid, by QONNX's own definition the same numbers, and read back to the same integers."""
import numpy as np
import onnx
import pytest
from conftest import MODEL, PIXEL, command
from onnx import numpy_helper

import tilewright as tw

DOMAIN = "qonnx.custom_op.general"


def quant(x, scale, zero, bits, signed, narrow):
    """The definition of Quant: the quotient in f32, the zero point added without rounding. What the levels stand for."""
    low = -2 ** (bits - 1) + narrow if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1 - narrow
    levels = np.round(np.clip((x / scale).astype(np.float64) + zero, low, high))
    return (levels - zero).astype(np.float32) * scale


def constants(model):
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


@pytest.fixture(scope="module", params=[{}, {"symmetric": True}, {"weight_bits": 4, "activation_bits": 3},
                                        {"per_tensor": True, "weight_bits": 2}, {"scales": "power-of-two"}])
def pair(request, lenet, images, tmp_path_factory):
    """A quantised model, its QDQ file and its QONNX file."""
    folder = tmp_path_factory.mktemp("qonnx")
    model = lenet.quantize(images[:50], scale=PIXEL, **request.param)
    for form in ("qdq", "qonnx"):
        model.save(folder / f"{form}.onnx", format=form)
    return model, folder, request.param


def test_the_file_is_valid(pair):
    model, folder, options = pair
    file = onnx.load(folder / "qonnx.onnx")
    onnx.checker.check_model(file)
    assert [(entry.domain, entry.version) for entry in file.opset_import] == [("", 17), (DOMAIN, 1)]
    quants = [node for node in file.graph.node if node.op_type == "Quant"]
    assert len(quants) > 10 and not any("Quantize" in node.op_type for node in file.graph.node)
    for node in quants:
        assert node.domain == DOMAIN and len(node.input) == 4
        assert {item.name for item in node.attribute} == {"signed", "narrow", "rounding_mode"}
    if options.get("symmetric"):
        assert all(constants(file)[node.input[2]] == 0 for node in quants)


def test_by_definition_it_is_the_qdq_form(pair):
    _, folder, _ = pair
    qonnx, qdq = onnx.load(folder / "qonnx.onnx"), onnx.load(folder / "qdq.onnx")
    theirs, ours = constants(qonnx), constants(qdq)
    made_by = {output: node for node in qdq.graph.node for output in node.output}
    dequantizers = {node.name: node for node in qdq.graph.node if node.op_type == "DequantizeLinear"}
    random = np.random.default_rng(1)
    for node in qonnx.graph.node:
        if node.op_type != "Quant":
            continue
        scale, zero, bits = (theirs[name] for name in node.input[1:])
        attributes = {item.name: item.i for item in node.attribute if item.name != "rounding_mode"}
        source = dequantizers.pop(node.name)
        s, z = ours[source.input[1]], ours[source.input[2]].astype(np.float32)
        if node.input[0] in theirs:
            integers = ours[source.input[0]]
            axis = next((item.i for item in source.attribute if item.name == "axis"), 1)
            if s.size > 1:
                s = s.reshape([-1 if a == axis else 1 for a in range(integers.ndim)])
            real = quant(theirs[node.input[0]], scale, zero, int(bits), **attributes)
            assert np.array_equal(real, integers.astype(np.float32) * s)
            continue
        before = made_by[source.input[0]]
        low, high = (ours[name] for name in before.input[1:]) if before.op_type == "Clip" else (-128, 127)
        x = (random.integers(-300, 300, 1000) / np.float32(2) * s).astype(np.float32)  # halves of steps
        levels = np.clip(np.clip(np.round(x / s) + z, -128, 127), low, high)
        assert np.array_equal(quant(x, scale, zero, int(bits), **attributes), (levels - z) * s)
    assert not dequantizers


def test_read_back_it_has_the_same_integers(pair, images):
    model, folder, _ = pair
    again = tw.load(folder / "qonnx.onnx")
    x = images[50:90]
    assert np.array_equal(again.run(x, scale=PIXEL), model.run(x, scale=PIXEL))
    ours, theirs = (m.compile("overlay-16x16").run(x, scale=PIXEL, engine="host") for m in (model, again))
    assert np.array_equal(ours, theirs)


def test_the_command_writes_the_same_file(lenet, images, tmp_path):
    np.save(tmp_path / "x.npy", images[:50].astype(np.float32) * np.float32(PIXEL))
    lenet.quantize(tmp_path / "x.npy", output=tmp_path / "ours.onnx", format="qonnx", symmetric=True)
    command("quantize", MODEL, "--calibration", tmp_path / "x.npy", "--format", "qonnx", "--symmetric", "-o",
            tmp_path / "theirs.onnx")
    assert (tmp_path / "ours.onnx").read_bytes() == (tmp_path / "theirs.onnx").read_bytes()


def test_other_formats_are_refused(lenet, images, tmp_path):
    model = lenet.quantize(images[:10], scale=PIXEL)
    with pytest.raises(tw.InvalidInput, match="format: there is no 'qonn'.*qonnx"):
        model.save(tmp_path / "q.onnx", format="qonn")
    with pytest.raises(tw.InvalidInput, match="fixed point has no form in the format 'qonnx'"):
        lenet.quantize(number_type="q10.22", output=tmp_path / "q.onnx", format="qonnx")
