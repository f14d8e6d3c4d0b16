"""tilewright.backend: ONNX's own tests on the host, quantised models on the overlay, refusals with their reasons."""
import numpy as np
import onnx_backend
import pytest
from conftest import MODEL, PIXEL
from onnx_backend import BackendIsNotSupposedToImplementIt

import onnx
from onnx import TensorProto, helper
from tilewright import backend


def test_tests_of_the_onnx_project():
    passed, failures, refusals = onnx_backend.run_all()
    print(f"{passed} passed, {len(failures)} failed, {len(refusals)} not covered")
    assert not failures, "\n".join(f"{test}: {problem}" for test, problem in failures.items())
    assert passed >= 984 and all(refusals.values())


def test_wrong_answers_fail(monkeypatch):
    run = backend.Prepared.run
    monkeypatch.setattr(backend.Prepared, "run",
                        lambda self, inputs, **_: tuple(y if y.dtype == bool else y + y.dtype.type(1)
                                                        for y in run(self, inputs)))
    passed, failures, _ = onnx_backend.run_all()
    assert len(failures) > 10 * passed  # what stays right: booleans, infinities, empty arrays


@pytest.fixture(scope="module")
def float_model():
    return onnx.load(MODEL)


@pytest.fixture(scope="module")
def quantized_model(lenet, images, tmp_path_factory):
    file = tmp_path_factory.mktemp("backend") / "q.onnx"
    quantized = lenet.quantize(images[:100], scale=PIXEL, scales="power-of-two", output=file)
    return quantized, onnx.load(file)


def sample(images, i):
    return (images[i:i + 1, None] * PIXEL).astype(np.float32)


def test_devices():
    assert [backend.supports_device(d) for d in ("CPU", "OVERLAY", "CUDA", "")] == [True, True, False, False]
    with pytest.raises(ValueError, match="no device 'CUDA'"):
        backend.prepare(onnx.ModelProto(), "CUDA")


def test_models_on_the_host(lenet, float_model, images):
    prepared = backend.prepare(float_model)
    for i in range(5):
        expected = lenet.run(sample(images, i))
        assert np.array_equal(prepared.run([sample(images, i)])[0], expected)
        assert np.array_equal(prepared.run(sample(images, i))[0], expected)  # one input needs no list
        assert np.array_equal(backend.run_model(float_model, [sample(images, i)])[0], expected)


@pytest.mark.parametrize("hardware", ["overlay-16x16", "vta-default"])
def test_quantised_models_on_the_overlay(quantized_model, images, hardware):
    prepared = backend.prepare(quantized_model[1], "OVERLAY", hardware=hardware)
    bundle = quantized_model[0].compile(hardware)
    for i in range(5):
        assert np.array_equal(prepared.run([sample(images, i)])[0], bundle.run(sample(images, i)))


@pytest.mark.parametrize("model, reason", [
    ("float_model", "quantised"),
    ("relu", "quantised"),
    ("quantize_only", "no layer runs on overlay-16x16"),
])
def test_what_the_overlay_does_not_take(request, float_model, model, reason):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    relu = helper.make_model(helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "relu", [x],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])]), opset_imports=[helper.make_opsetid("", 17)])
    scale = helper.make_tensor("s", TensorProto.FLOAT, [], [0.5])
    zero = helper.make_tensor("z", TensorProto.INT8, [], [0])
    quantize = helper.make_model(helper.make_graph(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])], "quantize", [x],
        [helper.make_tensor_value_info("y", TensorProto.INT8, [4])], [scale, zero]),
        opset_imports=[helper.make_opsetid("", 17)])
    with pytest.raises(BackendIsNotSupposedToImplementIt, match=reason):
        backend.prepare({"float_model": float_model, "relu": relu, "quantize_only": quantize}[model], "OVERLAY")


def test_nodes():
    x, w = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 2), np.float32)
    assert np.array_equal(backend.run_node(helper.make_node("MatMul", ["x", "w"], ["y"]), [x, w])[0], x @ w)
    reshape = helper.make_node("Reshape", ["x", "shape"], ["y"])
    assert backend.run_node(reshape, [x, np.array([3, -1])])[0].shape == (3, 2)
    values, indices = backend.run_node(helper.make_node("TopK", ["x", "k"], ["v", "i"]), [x, np.array([2])],
                                       outputs_info=[(np.float32, (2, 2)), (np.int64, (2, 2))])
    assert np.array_equal(values, [[2, 1], [5, 4]]) and np.array_equal(indices, [[2, 1], [2, 1]])
    squeeze = helper.make_node("Squeeze", ["x"], ["y"], axes=[0])  # the attribute of opset 11
    assert backend.run_node(squeeze, [x[:1]], opset_version=11)[0].shape == (3,)
    einsum = helper.make_node("Einsum", ["x", "w"], ["y"], equation="ij,jk->ik")
    assert np.allclose(backend.run_node(einsum, [x, w])[0], x @ w)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="Unique"):
        backend.run_node(helper.make_node("Unique", ["x"], ["y"]), [x])
    with pytest.raises(ValueError, match="1 values .* 2 inputs"):
        backend.run_node(helper.make_node("MatMul", ["x", "w"], ["y"]), [x])


def test_dynamic_dimensions_take_any_size():
    model = helper.make_model(helper.make_graph(
        [helper.make_node("Mul", ["x", "x"], ["y"])], "square",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", None])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", None])]),
        opset_imports=[helper.make_opsetid("", 17)])
    prepared = backend.prepare(model)
    rng = np.random.default_rng(1)
    for shape in [(2, 3), (5, 1), (2, 3), (1, 7)]:
        x = rng.normal(size=shape).astype(np.float32)
        assert np.array_equal(prepared.run([x])[0], x * x)


def test_wrong_inputs_are_errors(float_model):
    prepared = backend.prepare(float_model)
    for inputs in ([], [np.zeros((1, 1, 28, 27), np.float32)], [np.zeros((1, 1, 28, 28), np.float64)],
                   [np.zeros((1, 1, 28, 28), np.float32)] * 2):
        with pytest.raises(ValueError):
            prepared.run(inputs)
