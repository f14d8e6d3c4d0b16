"""Operators of transformers in ONNX files, standard (opset 23) and ONNX Runtime's, against their definitions in NumPy.

Every definition is written for one query of one head at a time, in f64, and shares nothing with the reader, which makes
graphs of matrix products."""
import numpy as np
import pytest

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


@pytest.mark.parametrize("seed", range(24))
def test_attention(seed):
    rng = np.random.default_rng(seed)
    batch, key_heads, shared, size, value_size = rng.integers(1, 4, 5)
    size, value_size, heads = 2 * size, value_size + 1, key_heads * shared
    length, new_keys, past = rng.integers(1, 6), rng.integers(1, 7), rng.integers(0, 4)
    keys = new_keys + past
    q, k, v = (random(rng, batch, heads, length, size), random(rng, batch, key_heads, new_keys, size),
               random(rng, batch, key_heads, new_keys, value_size))
    past_k, past_v = (random(rng, batch, key_heads, past, n) if past else None for n in (size, value_size))
    all_k = np.concatenate([past_k, k], axis=2) if past else k
    all_v = np.concatenate([past_v, v], axis=2) if past else v
    mask, bias = None, np.zeros((1, 1, 1, 1))
    shape = [(length, keys), (batch, 1, length, keys), (1, heads, length, keys), (1, keys)][seed % 4]
    if seed % 3 == 1:
        mask = bias = random(rng, *shape)
    elif seed % 3 == 2:
        mask = rng.random(shape) < 0.6
        mask[..., 0, :] = seed % 2 == 1  # a query may see nothing
        bias = np.where(mask, 0, -np.inf)
    options = {}
    if rng.random() < 0.5:
        options["is_causal"] = 1
        bias = bias + causal(length, keys, past)
    if rng.random() < 0.5:
        options["scale"] = scale = float(np.float32(rng.uniform(0.1, 1.5)))
    else:
        scale = None
    cap = float(rng.choice([0, 0.5, 3]))
    if cap:
        options["softcap"] = cap
    mode = int(rng.integers(0, 4))
    expected, stages = attention(q, all_k, all_v, bias, scale, cap)
    is_flat = seed % 2 == 0
    if is_flat:
        q, k, v = flat(q), flat(k), flat(v)
        options |= {"q_num_heads": int(heads), "kv_num_heads": int(key_heads)}
    y, present_k, present_v, scores = run(
        "Attention", {"q": q, "k": k, "v": v, "mask": mask, "past_k": past_k, "past_v": past_v}, 4,
        qk_matmul_output_mode=mode, **options)
    close(y, flat(expected) if is_flat else expected)
    assert np.array_equal(present_k, all_k) and np.array_equal(present_v, all_v)
    hidden = np.isneginf(stages[mode])
    assert np.array_equal(np.isneginf(scores), hidden)
    close(np.where(hidden, 0, scores), np.where(hidden, 0, stages[mode]))


def test_attention_of_halves_computes_its_softmax_as_told():
    rng = np.random.default_rng(1)
    q, k, v = (rng.normal(size=(1, 2, 3, 4)).astype(np.float16) for _ in range(3))
    y, = run("Attention", {"q": q, "k": k, "v": v}, softmax_precision=1)
    assert y.dtype == np.float16
    close(y.astype(np.float64), attention(q, k, v)[0], 3e-3)


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


@pytest.mark.parametrize("seed", range(12))
def test_rotary_embedding(seed):
    rng = np.random.default_rng(seed)
    batch, heads, length = rng.integers(1, 4, 3)
    size = 2 * rng.integers(2, 5)
    width = int(2 * rng.integers(1, size // 2)) if seed % 3 else size
    x = random(rng, batch, heads, length, size)
    has_places = seed % 2 == 0
    places = rng.integers(0, 9, (batch, length)) if has_places else None
    angles = rng.uniform(0, 6, (9, width // 2) if has_places else (batch, length, width // 2))
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    options = {"interleaved": int(seed % 4 < 2)}
    if width != size:
        options["rotary_embedding_dim"] = width
    expected = rotary(x, cosines[places] if has_places else cosines, sines[places] if has_places else sines, width,
                      options["interleaved"])
    is_flat = seed % 5 < 2
    if is_flat:
        options["num_heads"] = int(heads)
    y, = run("RotaryEmbedding", {"x": flat(x) if is_flat else x, "cos": cosines, "sin": sines, "places": places},
             **options)
    close(y, flat(expected) if is_flat else expected)


@pytest.mark.parametrize("seed", range(8))
def test_rotary_embedding_of_onnx_runtime(seed):
    rng = np.random.default_rng(seed)
    batch, heads, length = rng.integers(1, 4, 3)
    size = 2 * rng.integers(2, 5)
    width = int(2 * rng.integers(1, size // 2)) if seed % 3 == 1 else size
    x = random(rng, batch, heads, length, size)
    angles = rng.uniform(0, 6, (12, width // 2))
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    given = np.array([rng.integers(0, 5)]) if seed % 2 else rng.integers(0, 12, (batch, length))
    places = given + np.arange(length) + np.zeros((batch, 1), np.int64) if seed % 2 else given
    options = {"interleaved": int(seed % 4 < 2)}
    if width != size:
        options |= {"rotary_embedding_dim": width, "num_heads": int(heads)}
    is_flat = seed % 5 < 3
    y, = run("RotaryEmbedding", {"x": flat(x) if is_flat else x, "places": given, "cos": cosines, "sin": sines},
             domain=MICROSOFT, **options)
    expected = rotary(x, cosines[places], sines[places], width, options["interleaved"])
    close(y, flat(expected) if is_flat else expected)


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


def key_mask(rng, kind, batch, length, keys):
    """A mask of ONNX Runtime's, and the scores' additions that it stands for."""
    bias = np.zeros((batch, 1, length, keys))
    if kind == "none":
        return None, bias
    if kind == "ends":
        mask = rng.integers(1, keys + 1, batch)
        keeps = [[[j < mask[b] for j in range(keys)]] * length for b in range(batch)]
    elif kind == "ends and starts":
        starts = rng.integers(0, keys, batch)
        ends = np.array([rng.integers(start + 1, keys + 1) for start in starts])
        mask = np.concatenate([ends, starts])
        keeps = [[[starts[b] <= j < ends[b] for j in range(keys)]] * length for b in range(batch)]
    elif kind == "keys":
        mask = rng.integers(0, 2, (batch, keys))
        keeps = [[mask[b] > 0] * length for b in range(batch)]
    else:
        mask = rng.integers(0, 2, (batch, length, keys))
        keeps = mask > 0
    bias[:, 0][~np.array(keeps)] = -10000
    return mask.astype(np.int32), bias


@pytest.mark.parametrize("seed", range(15))
def test_attention_of_onnx_runtime(seed):
    rng = np.random.default_rng(seed)
    batch, heads, length = rng.integers(1, 4, 3)
    size, width = 4, 6
    past = int(rng.integers(0, 3))
    value_size = 3 if seed % 3 == 0 and not past else size
    sizes = [int(heads * size), int(heads * size), int(heads * value_size)]
    x, weights, bias = random(rng, batch, length, width), random(rng, width, sum(sizes)), random(rng, sum(sizes))
    mask, added = key_mask(rng, ["none", "ends", "ends and starts", "keys", "scores"][seed % 5], batch, length,
                           length + past)
    options = {"num_heads": int(heads)}
    if value_size != size:
        options["qkv_hidden_sizes"] = sizes
    if seed % 2:
        options["unidirectional"] = 1
        added = added + causal(length, length + past, past)
    extra = random(rng, 1, heads, length, length + past) if seed % 4 == 1 else None
    added = added if extra is None else added + extra
    before = random(rng, 2, batch, heads, past, size) if past else None
    q, k, v = (by_heads(part, heads) for part in np.split(x.astype(np.float64) @ weights + bias,
                                                          np.cumsum(sizes)[:2], axis=-1))
    if past:
        k, v = np.concatenate([before[0], k], axis=2), np.concatenate([before[1], v], axis=2)
    has_present = value_size == size
    y, *present = run("Attention", {"x": x, "weights": weights, "bias": bias, "mask": mask, "past": before,
                                    "extra": extra}, 1 + has_present, domain=MICROSOFT, **options)
    close(y, flat(attention(q, k, v, added)[0]), 2e-3)  # scores beside -10000 have few digits
    if has_present:
        close(present[0], np.stack([k, v]))


@pytest.mark.parametrize("seed", range(24))
def test_multi_head_attention(seed):
    rng = np.random.default_rng(seed)
    batch, heads, length = rng.integers(1, 4, 3)
    keys, size = int(rng.integers(1, 6)), 4
    form = ["apart", "all packed", "keys packed", "an encoder's"][seed % 4]
    if form == "all packed":
        keys = length
    past = int(rng.integers(0, 3)) if form == "apart" else 0
    value_size = 3 if form == "apart" and not past else size
    q, k, v = (random(rng, batch, heads, n, m) for n, m in ((length, size), (keys, size), (keys, value_size)))
    bias = random(rng, heads * (2 * size + value_size)) if form == "apart" and seed % 8 < 4 else None
    inputs = {"q": flat(q), "k": flat(k), "v": flat(v)}
    if form == "all packed":
        inputs = {"q": np.stack([x.transpose(0, 2, 1, 3) for x in (q, k, v)], axis=3), "k": None, "v": None}
    elif form == "keys packed":
        inputs |= {"k": np.stack([x.transpose(0, 2, 1, 3) for x in (k, v)], axis=3), "v": None}
    elif form == "an encoder's":
        inputs |= {"k": k, "v": v}
    if bias is not None:
        parts = np.split(bias.astype(np.float64), np.cumsum([heads * size, heads * size]))
        q, k, v = (by_heads(flat(x) + part, heads) for x, part in zip((q, k, v), parts))
    past_k, past_v = (random(rng, batch, heads, past, n) if past else None for n in (size, value_size))
    if past:
        k, v = np.concatenate([past_k, k], axis=2), np.concatenate([past_v, v], axis=2)
    mask, added = key_mask(rng, ["none", "ends", "keys", "scores"][seed // 4 % 4], batch, length, keys + past)
    extra = random(rng, batch, 1, length, keys + past) if seed % 5 == 1 else None
    added = added if extra is None else added + extra
    options = {"num_heads": int(heads)}
    if seed % 3 == 0 and form != "an encoder's":
        options["unidirectional"] = 1
        hidden = causal(length, keys + past, past)
        hidden[-1] = 0  # the last query is taken for the newest
        added = added + hidden
    if seed % 7 == 0:
        options["scale"] = 0.75
    y, *present = run("MultiHeadAttention",
                      inputs | {"bias": bias, "mask": mask, "extra": extra, "past_k": past_k, "past_v": past_v},
                      1 + 2 * (form == "apart"), domain=MICROSOFT, **options)
    close(y, flat(attention(q, k, v, added, options.get("scale"))[0]), 2e-3)
    for found, expected in zip(present, (k, v)):
        close(found, expected)


@pytest.mark.parametrize("seed", range(24))
def test_group_query_attention(seed):
    rng = np.random.default_rng(seed)
    batch, key_heads, shared = rng.integers(1, 4, 3)
    heads, size = int(key_heads * shared), 16
    is_prompt = seed % 3 == 0
    batch = 1 if seed % 3 == 2 else batch  # as ONNX Runtime has it; not needed here
    length = int(rng.integers(1, 5)) if is_prompt else 1 if seed % 3 == 1 else 3
    buffer = 0 if is_prompt else int(rng.integers(2, 5))
    before = np.zeros(batch, np.int64) if is_prompt else rng.integers(1, buffer + 1, batch)
    if not is_prompt:
        before[0] = buffer
    keys = length + buffer
    q, k, v = (random(rng, batch, h, length, size) for h in (heads, key_heads, key_heads))
    past_k, past_v = (random(rng, batch, key_heads, buffer, size) if buffer else None for _ in range(2))
    angles = rng.uniform(0, 6, (keys + 2, size // 2))
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    options = {"num_heads": heads, "kv_num_heads": int(key_heads)}
    window = None
    if seed % 4 == 1:
        options["local_window_size"] = window = 2
    if seed % 5 == 2:
        options["softcap"] = 1.5
    inputs = {"q": flat(q), "k": flat(k), "v": flat(v)}
    if seed % 4 == 3:
        inputs = {"q": np.concatenate([flat(x) for x in (q, k, v)], axis=-1), "k": None, "v": None}
    inputs |= {"past_k": past_k, "past_v": past_v, "last": (before + length - 1).astype(np.int32),
               "total": np.array(keys, np.int32)}
    if seed % 2:
        options |= {"do_rotary": 1, "rotary_interleaved": seed % 4 // 2}
        inputs |= {"cos": cosines, "sin": sines}
        places = before[:, None] + np.arange(length)
        q, k = (rotary(x, cosines[places], sines[places], size, options["rotary_interleaved"]) for x in (q, k))
    y, *present = run("GroupQueryAttention", inputs, 3, domain=MICROSOFT, constants={"total"}, **options)
    expected = np.zeros((batch, heads, length, size))
    for b in range(batch):
        own = [np.concatenate([past[b, :, :before[b]], x[b]], axis=1) if buffer else x[b]
               for past, x in ((past_k, k), (past_v, v))]
        for found, rows in zip(present, own):
            close(found[b, :, :rows.shape[1]], rows)
        expected[b] = attention(q[b:b + 1], own[0][None], own[1][None],
                                causal(length, before[b] + length, before[b], window),
                                cap=options.get("softcap", 0))[0][0]
    close(y, flat(expected), 5e-5)


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


@pytest.mark.parametrize("equation, a, b", [
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)), ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("bhqk,bhkd->bqhd", (2, 3, 4, 6), (2, 3, 6, 5)), ("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)),
    ("b h i d, b h j d -> b h i j", (2, 3, 4, 5), (2, 3, 6, 5)), ("bid,bjd->bij", (2, 4, 5), (2, 6, 5)),
    ("...qd,...kd->...qk", (2, 3, 4, 5), (2, 3, 6, 5)), ("bsd,dhk->bshk", (2, 4, 6), (6, 3, 5)),
    ("bshk,hkd->bsd", (2, 4, 3, 5), (3, 5, 6)), ("bgrqd,bgkd->bgrqk", (2, 2, 3, 4, 5), (2, 2, 6, 5))])
def test_einsum_of_attention(equation, a, b):
    rng = np.random.default_rng(len(equation))
    a, b = random(rng, *a), random(rng, *b)
    y, = run("Einsum", {"a": a, "b": b}, opset=12, equation=equation)
    close(y, np.einsum(equation, a.astype(np.float64), b.astype(np.float64)))


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
