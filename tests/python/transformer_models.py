"""What the tests of transformers share: models of one node, and definitions of attention and rotation in NumPy.

Every definition is written for one query of one head at a time, in f64, and shares nothing with the reader, which makes
graphs of matrix products."""
import numpy as np

import onnx
from onnx import helper, numpy_helper
from tilewright import backend

MICROSOFT = "com.microsoft"
TYPES = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int8): 3, np.dtype(np.int32): 6,
         np.dtype(np.int64): 7, np.dtype(bool): 9, np.dtype(np.float16): 10}


def model_of(op, inputs, outputs, domain="", opset=23, constants=(), **attributes):
    """A model of one node. `inputs`: {name: array, or None where the node leaves it out}; those among `constants` are
    initializers. `outputs`: how many, or a list of names with "" for those left out."""
    names = [name if array is not None else "" for name, array in inputs.items()]
    while names and not names[-1]:
        names.pop()
    results = [f"y{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
    given = {name: array for name, array in inputs.items() if array is not None}
    graph = helper.make_graph(
        [helper.make_node(op, names, results, name="node", domain=domain, **attributes)], "one",
        [helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape)
         for name, array in given.items() if name not in constants],
        [onnx.ValueInfoProto(name=name) for name in results if name],
        [numpy_helper.from_array(given[name], name) for name in given if name in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset),
                                                    helper.make_opsetid(MICROSOFT, 1)])
    model.ir_version = 10
    return model, {name: array for name, array in given.items() if name not in constants}


def run(op, inputs, outputs=1, **options):
    model, feeds = model_of(op, inputs, outputs, **options)
    # Not prepare(): the checker of an older onnx knows no opset 23.
    return backend.ready(model, "CPU", "overlay-16x16", 1).run(list(feeds.values()))


def close(found, expected, tolerance=2e-5):
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * max(1, np.abs(expected).max(initial=0)))


def random(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def softmax(scores):
    """Of what is not -infinity; 0 where that is nothing."""
    if np.isneginf(scores).all():
        return np.zeros_like(scores)
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def attention(q, k, v, bias=None, scale=None, cap=0.0):
    """[batch, heads, queries, size] of queries over keys, whose heads serve as many query heads in turn each: the
    result, and the scores as they are, capped, with the bias, and as weights."""
    batch, heads, length, size = q.shape
    shared = heads // k.shape[1]
    scale = 1 / np.sqrt(size) if scale is None else scale
    bias = np.zeros((1, 1, 1, 1)) if bias is None else bias
    bias = np.broadcast_to(bias, (batch, heads, length, k.shape[2])).astype(np.float64)
    result = np.zeros((batch, heads, length, v.shape[3]))
    stages = np.zeros((4, batch, heads, length, k.shape[2]))
    for b, h, i in np.ndindex(batch, heads, length):
        keys, values = k[b, h // shared].astype(np.float64), v[b, h // shared].astype(np.float64)
        scores = np.array([np.dot(q[b, h, i].astype(np.float64), key) for key in keys]) * scale
        capped = cap * np.tanh(scores / cap) if cap else scores
        weights = softmax(capped + bias[b, h, i])
        stages[:, b, h, i] = scores, capped, capped + bias[b, h, i], weights
        result[b, h, i] = sum(w * value for w, value in zip(weights, values))
    return result, stages


def flat(x):
    """[batch, heads, length, size] as [batch, length, heads * size]."""
    return np.stack([np.concatenate(list(sentence), axis=-1) for sentence in x])


def by_heads(x, heads):
    return np.stack([np.stack(np.split(sentence, heads, axis=-1)) for sentence in x])


def causal(length, keys, past, window=None):
    return np.array([[0 if j <= i + past and (window is None or j > i + past - window) else -np.inf
                      for j in range(keys)] for i in range(length)])


def turned(x, cosines, sines, width, interleaved):
    """One head's numbers, turned in the plane of each pair."""
    y = x.astype(np.float64).copy()
    for p in range(width // 2):
        i, j = (2 * p, 2 * p + 1) if interleaved else (p, p + width // 2)
        y[i] = x[i] * cosines[p] - x[j] * sines[p]
        y[j] = x[i] * sines[p] + x[j] * cosines[p]
    return y


def rotary(x, cosines, sines, width, interleaved):
    """x: [batch, heads, length, size]; the angles of [batch, length, width / 2]."""
    return np.array([[[turned(x[b, h, t], cosines[b, t], sines[b, t], width, interleaved)
                       for t in range(x.shape[2])] for h in range(x.shape[1])] for b in range(x.shape[0])])
