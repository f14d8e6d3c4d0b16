"""Attention and rotary embeddings of ONNX files, standard (opset 23) and ONNX Runtime's, against their definitions."""
import numpy as np
import pytest

from transformer_models import MICROSOFT, attention, by_heads, causal, close, flat, random, rotary, run


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
