"""Normalisations, embeddings and products of few bits of transformers in ONNX files, and a decoder block of them, against
their definitions in NumPy."""
import numpy as np
import pytest

from onnx import helper, numpy_helper
from tilewright import backend

from transformer_models import MICROSOFT, TYPES, attention, by_heads, causal, close, flat, random, rotary, run


def normalized(x, scale, bias, epsilon):
    """Rows along the last axis, with their means and the inverse of their deviations."""
    x = x.astype(np.float64)
    mean = x.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + epsilon)
    return (x - mean) * inverse * scale + (0 if bias is None else bias), mean, inverse


def by_root(x, scale, epsilon, axis=-1):
    x = x.astype(np.float64)
    axes = tuple(range(axis % x.ndim, x.ndim))
    inverse = 1 / np.sqrt((x ** 2).mean(axes, keepdims=True) + epsilon)
    return x * inverse * scale, inverse


@pytest.mark.parametrize("axis", [-1, -2, 0, 1, 2])
def test_rms_normalization(axis):
    rng = np.random.default_rng(axis + 5)
    x = random(rng, 2, 3, 5)
    scale = random(rng, *x.shape[axis % 3:])
    options = {} if axis == -1 else {"axis": axis, "epsilon": 0.25}
    y, = run("RMSNormalization", {"x": x, "scale": scale}, **options)
    close(y, by_root(x, scale, options.get("epsilon", 1e-5), axis)[0])


@pytest.mark.parametrize("domain", ["", MICROSOFT])
def test_simplified_layer_normalization(domain):
    rng = np.random.default_rng(3)
    x, scale = random(rng, 2, 3, 8), random(rng, 8)
    y, inverse = run("SimplifiedLayerNormalization", {"x": x, "scale": scale}, 2, domain=domain, opset=14, axis=-1,
                     epsilon=1e-3)
    expected, expected_inverse = by_root(x, scale, np.float32(1e-3))
    close(y, expected)
    close(inverse, expected_inverse)


@pytest.mark.parametrize("seed", range(8))
def test_skip_layer_normalization(seed):
    rng = np.random.default_rng(seed)
    x, scale = random(rng, 2, 3, 8), random(rng, 8)
    skip = random(rng, *[(2, 3, 8), (1, 3, 8), (3, 8)][seed % 3])
    shift = random(rng, 8) if seed % 2 else None
    bias = random(rng, 8) if seed % 4 > 1 else None
    total = x.astype(np.float64) + skip + (0 if bias is None else bias)
    epsilon = {"epsilon": 0.125} if seed % 2 else {}
    y, whole = run("SkipSimplifiedLayerNormalization", {"x": x, "skip": skip, "gamma": scale, "bias": bias},
                   ["y", "", "", "sum"], domain=MICROSOFT, **epsilon)
    close(y, by_root(total, scale, epsilon.get("epsilon", 1e-12))[0])
    close(whole, total)
    y, whole = run("SkipLayerNormalization", {"x": x, "skip": skip, "gamma": scale, "beta": shift, "bias": bias},
                   ["y", "", "", "sum"], domain=MICROSOFT, **epsilon)
    close(y, normalized(total, scale, shift, epsilon.get("epsilon", 1e-12))[0])
    close(whole, total)


@pytest.mark.parametrize("seed", range(4))
def test_embed_layer_normalization(seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 11, (2, 5)).astype(np.int32)
    tables = [random(rng, n, 8) for n in (11, 7, 2)]
    scale, shift = random(rng, 8), random(rng, 8)
    segments = rng.integers(0, 2, (2, 5)).astype(np.int32) if seed % 2 else None
    mask = rng.integers(0, 2, (2, 5)).astype(np.int32) if seed > 1 else None
    places = rng.integers(0, 7, (2, 5)).astype(np.int32) if seed == 3 else None
    y, kept, total = run(
        "EmbedLayerNormalization",
        {"words": words, "segments": segments, "word": tables[0], "position": tables[1],
         "segment": tables[2] if seed % 2 else None, "gamma": scale, "beta": shift, "mask": mask, "places": places},
        3, domain=MICROSOFT, epsilon=1e-5)
    expected = np.array([[tables[0][words[b, t]].astype(np.float64) +
                          tables[1][t if places is None else places[b, t]] +
                          (0 if segments is None else tables[2][segments[b, t]]) for t in range(5)] for b in range(2)])
    close(total, expected)
    close(y, normalized(expected, scale, shift, np.float32(1e-5))[0])
    assert np.array_equal(kept, [0, 0] if mask is None else mask.sum(1))


def packed(integers, bits):
    """Rows of integers as bytes, low bits first; what is missing in the last byte is 0."""
    count = 8 // bits
    rows = np.pad(integers, [(0, 0), (0, -integers.shape[1] % count)]).reshape(len(integers), -1, count)
    return sum(rows[..., i].astype(np.int64) << (i * bits) for i in range(count)).astype(np.uint8)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("block", [16, 32, 64, 128, 256])
def test_matmul_of_few_bits(bits, block):
    rng = np.random.default_rng(bits * block)
    for rows, zeros, with_bias in ((block, "packed", True), (2 * block + 5, "none", False), (3 * block, "packed", True),
                                   (40, "real", False)):
        columns, blocks = 6, -(-rows // block)
        integers = rng.integers(0, 1 << bits, (columns, blocks * block))
        scales = rng.uniform(0.01, 0.1, (columns, blocks)).astype(np.float32)
        zero = rng.integers(0, 1 << bits, (columns, blocks))
        given = {"packed": packed(zero, bits).reshape(-1), "none": None, "real": zero.astype(np.float32)}[zeros]
        zero = np.full_like(zero, 1 << (bits - 1)) if zeros == "none" else zero
        bias = random(rng, columns) if with_bias else None
        x = random(rng, 2, 3, rows)
        weights = np.array([[(integers[n, k] - zero[n, k // block]) * float(scales[n, k // block])
                             for n in range(columns)] for k in range(rows)])
        y, = run("MatMulNBits",
                 {"x": x, "weights": packed(integers, bits).reshape(columns, blocks, -1), "scales": scales.reshape(-1),
                  "zeros": given, "order": None, "bias": bias}, domain=MICROSOFT,
                 constants={"weights", "scales", "zeros"}, K=rows, N=columns, bits=bits, block_size=block,
                 accuracy_level=4)
        close(y, x.astype(np.float64) @ weights + (0 if bias is None else bias))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("zeros", [False, True])
def test_scales_by_blocks(axis, zeros):
    rng = np.random.default_rng(axis + 3)
    x = rng.integers(-128, 128, (10, 9)).astype(np.int8)
    block, at = 4, axis % 2
    shape = [10, 9]
    shape[at] = -(-shape[at] // block)
    scale = rng.uniform(0.1, 1, shape).astype(np.float32)
    zero = rng.integers(-9, 9, shape).astype(np.int8) if zeros else None
    spread = [np.take(a, np.arange((10, 9)[at]) // block, at) for a in (scale, zero if zeros else np.zeros(shape))]
    for constants in ((), ("x", "scale", "zero")):
        y, = run("DequantizeLinear", {"x": x, "scale": scale, "zero": zero, }, opset=21, axis=axis, block_size=block,
                 constants=constants) if not constants else run(
                     "DequantizeLinear", {"x": x, "scale": scale, "zero": zero}, axis=axis, block_size=block,
                     output_dtype=1)
        close(y, (x.astype(np.float64) - spread[1]) * spread[0])


@pytest.mark.parametrize("seed", range(8))
def test_fused_matmul(seed):
    rng = np.random.default_rng(seed)
    a, b = random(rng, 2, 3, 4, 5), random(rng, 2, 3, 5, 6)
    options, given = {"alpha": 0.5}, [a, b]
    for i, name in enumerate("AB"):
        if seed >> i & 1:
            options["trans" + name], given[i] = 1, given[i].swapaxes(-1, -2)
    if seed >> 2 & 1:  # rows come before the batch
        options |= {"transBatchA": 1, "transBatchB": 1}
        given = [np.moveaxis(x, 2, 0) for x in given]
    y, = run("FusedMatMul", {"a": given[0], "b": given[1]}, domain=MICROSOFT, **options)
    close(y, 0.5 * (a.astype(np.float64) @ b))


def gauss(x):
    from math import erf
    return np.array([0.5 * t * (1 + erf(t / 2 ** 0.5)) for t in x.astype(np.float64).ravel()]).reshape(x.shape)


def test_gelu():
    rng = np.random.default_rng(2)
    x, bias = 3 * random(rng, 3, 8), random(rng, 8)
    tanh = lambda t: 0.5 * t * (1 + np.tanh((2 / np.pi) ** 0.5 * (t + 0.044715 * t ** 3)))  # noqa: E731
    wide = x.astype(np.float64)
    cases = [("Gelu", "", {"x": x}, {}, gauss(x)), ("Gelu", "", {"x": x}, {"approximate": "tanh"}, tanh(wide)),
             ("Gelu", MICROSOFT, {"x": x}, {}, gauss(x)), ("FastGelu", MICROSOFT, {"x": x}, {}, tanh(wide)),
             ("FastGelu", MICROSOFT, {"x": x, "bias": bias}, {}, tanh(wide + bias)),
             ("BiasGelu", MICROSOFT, {"x": x, "bias": bias}, {}, gauss(wide + bias)),
             ("QuickGelu", MICROSOFT, {"x": x}, {"alpha": 1.5}, wide / (1 + np.exp(-1.5 * wide)))]
    for op, domain, inputs, options, expected in cases:
        close(run(op, inputs, domain=domain, **options)[0], expected)


@pytest.mark.parametrize("domain, opset", [("", 17), ("", 23), (MICROSOFT, 17)])
def test_layer_normalization(domain, opset):
    rng = np.random.default_rng(opset)
    x, scale, shift = random(rng, 2, 3, 8), random(rng, 8), random(rng, 8)
    y, mean, inverse = run("LayerNormalization", {"x": x, "scale": scale, "shift": shift}, 3, domain=domain,
                           opset=opset)
    for found, expected in zip((y, mean, inverse), normalized(x, scale, shift, 1e-5)):
        close(found, expected)


def few_bits(rng, rows, columns, block=32):
    """4-bit weights as MatMulNBits has them, and the numbers that they stand for."""
    blocks = rows // block
    integers, zero = rng.integers(0, 16, (columns, rows)), rng.integers(0, 16, (columns, blocks))
    scales = rng.uniform(0.01, 0.05, (columns, blocks)).astype(np.float32)
    numbers = (integers - np.repeat(zero, block, 1)) * np.repeat(scales.astype(np.float64), block, 1)
    return packed(integers, 4).reshape(columns, blocks, -1), scales.reshape(-1), packed(zero, 4).reshape(-1), numbers.T


@pytest.mark.parametrize("past", [0, 3])
def test_decoder_block_as_tools_export_it(past):
    """Root mean squares, 4-bit products, rotary attention of groups whose lengths come from the mask, a gate."""
    rng = np.random.default_rng(past)
    heads, key_heads, size, width, inner, length = 4, 2, 16, 64, 96, 2 if past == 0 else 1
    keys, out = length + past, heads * size
    shapes = {"qkv": (width, (heads + 2 * key_heads) * size), "o": (out, width), "gate": (width, inner),
              "up": (width, inner), "down": (inner, width)}
    weights = {name: few_bits(rng, *shape) for name, shape in shapes.items()}
    scales = [random(rng, width) for _ in range(3)]
    angles = rng.uniform(0, 6, (9, size // 2))
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    constants = {"cos": cosines, "sin": sines, "one": np.array(1, np.int64), "ones": np.array([1], np.int64)}
    constants |= {f"s{i}": scale for i, scale in enumerate(scales)}
    node = helper.make_node

    def product(x, name, y):
        constants.update({f"{name}.{part}": a for part, a in zip(("w", "s", "z"), weights[name])})
        rows, columns = shapes[name]
        return node("MatMulNBits", [x, f"{name}.w", f"{name}.s", f"{name}.z"], [y], domain=MICROSOFT, K=rows,
                    N=columns, bits=4, block_size=32)

    nodes = [
        node("ReduceSum", ["mask", "ones"], ["counts"], keepdims=1), node("Sub", ["counts", "one"], ["last"]),
        node("Cast", ["last"], ["last32"], to=6), node("Shape", ["mask"], ["sizes"]),
        node("Gather", ["sizes", "one"], ["total"], axis=0), node("Cast", ["total"], ["total32"], to=6),
        node("SimplifiedLayerNormalization", ["x", "s0"], ["a"], axis=-1, epsilon=1e-5, stash_type=1),
        product("a", "qkv", "b"),
        node("GroupQueryAttention", ["b", "", "", "past.k", "past.v", "last32", "total32", "cos", "sin"],
             ["c", "present.k", "present.v"], domain=MICROSOFT, num_heads=heads, kv_num_heads=key_heads, do_rotary=1),
        product("c", "o", "d"),
        node("SkipSimplifiedLayerNormalization", ["x", "d", "s1"], ["e", "", "", "f"], domain=MICROSOFT, epsilon=1e-5),
        product("e", "gate", "g"), product("e", "up", "h"), node("Sigmoid", ["g"], ["i"]), node("Mul", ["g", "i"], ["j"]),
        node("Mul", ["j", "h"], ["k"]), product("k", "down", "l"),
        node("SkipSimplifiedLayerNormalization", ["f", "l", "s2"], ["y", "", "", "whole"], domain=MICROSOFT, epsilon=1e-5)]
    x, mask = random(rng, 1, length, width), np.ones((1, keys), np.int64)
    feeds = {"x": x, "mask": mask, "past.k": random(rng, 1, key_heads, past, size),
             "past.v": random(rng, 1, key_heads, past, size)}
    if past == 0:  # a prompt
        feeds = {"x": x, "mask": mask}
        nodes[8].input[3:5] = ["", ""]
    graph = helper.make_graph(
        nodes, "block", [helper.make_tensor_value_info(n, TYPES[a.dtype], a.shape) for n, a in feeds.items()],
        [helper.make_tensor_value_info(n, 1, None) for n in ("y", "whole", "present.k")],
        [numpy_helper.from_array(a, n) for n, a in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)])
    model.ir_version = 10
    y, whole, present = backend.ready(model, "CPU", "overlay-16x16", 1).run(list(feeds.values()))

    numbers = {name: parts[3] for name, parts in weights.items()}
    epsilon = np.float32(1e-5)
    q, k, v = np.split(by_root(x, scales[0], epsilon)[0] @ numbers["qkv"], [out, out + key_heads * size], axis=-1)
    places = np.arange(past, keys)[None]
    q, k = (rotary(by_heads(a, n), cosines[places], sines[places], size, False) for a, n in ((q, heads), (k, key_heads)))
    v = by_heads(v, key_heads)
    if past:
        k, v = np.concatenate([feeds["past.k"], k], axis=2), np.concatenate([feeds["past.v"], v], axis=2)
    total = x + flat(attention(q, k, v, causal(length, keys, past))[0]) @ numbers["o"]
    e = by_root(total, scales[1], epsilon)[0]
    g = e @ numbers["gate"]
    total = total + (g / (1 + np.exp(-g)) * (e @ numbers["up"])) @ numbers["down"]
    close(present, k, 1e-4)
    close(whole, total, 1e-4)
    close(y, by_root(total, scales[2], epsilon)[0], 1e-4)


def test_operators_of_halves():
    rng = np.random.default_rng(4)
    x, skip, scale, q, k, v = (rng.normal(size=shape).astype(np.float16)
                               for shape in ((2, 3, 8), (2, 3, 8), (8,), (2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)))
    weights, scales, zeros, numbers = few_bits(rng, 32, 6)
    wide, angles = rng.normal(size=(2, 32)).astype(np.float16), rng.uniform(0, 6, (2, 3, 2))
    cosines, sines = np.cos(angles).astype(np.float16), np.sin(angles).astype(np.float16)
    bits = {"x": wide, "w": weights, "s": scales.astype(np.float16), "z": zeros}
    cases = [("RMSNormalization", "", {"x": x, "scale": scale}, {}, by_root(x, scale, 1e-5)[0]),
             ("SkipSimplifiedLayerNormalization", MICROSOFT, {"x": x, "skip": skip, "gamma": scale}, {},
              by_root(x.astype(np.float64) + skip, scale, 0)[0]),
             ("SkipLayerNormalization", MICROSOFT, {"x": x, "skip": skip, "gamma": scale}, {},
              normalized(x.astype(np.float64) + skip, scale, None, 0)[0]),
             ("RotaryEmbedding", "", {"x": q, "cos": cosines, "sin": sines}, {},
              rotary(q, cosines, sines, 4, False)),
             ("MultiHeadAttention", MICROSOFT, {"q": flat(q), "k": flat(k), "v": flat(v)}, {"num_heads": 2},
              flat(attention(q, k, v)[0])),
             ("MatMulNBits", MICROSOFT, bits, {"K": 32, "N": 6, "bits": 4, "block_size": 32},
              wide.astype(np.float64) @ numbers)]
    for op, domain, inputs, options, expected in cases:
        y = run(op, inputs, domain=domain, constants={"w", "s", "z"}, **options)[0]
        assert y.dtype == np.float16
        close(y.astype(np.float64), expected, 1e-2)
