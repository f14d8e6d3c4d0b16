"""Texts continued token by token by a small random language model, against the logits of its whole window."""
import json
import os

import numpy as np
import pytest
from conftest import made
from language_model import TOKENS, VOCABULARY

SEED = int(os.environ.get("TILEWRIGHT_SEED", "1"))
CASES = int(os.environ.get("TILEWRIGHT_CASES", "3"))


def window_logits(folder, text):
    """[TOKENS, VOCABULARY]; what is behind the text does not matter."""
    np.save(folder / "window.npy", np.pad(text, (0, TOKENS - len(text)))[None])
    made("run", "lm.onnx", "--engine", "host", "--input", "window.npy", "-o", "rows.npy", folder=folder)
    return np.load(folder / "rows.npy").reshape(TOKENS, VOCABULARY)


def decode(folder, prompt, tokens, *options):
    done = made("decode", "lm.twb", "--prompt-tokens", ",".join(map(str, prompt)), "--tokens", tokens, "--json", *options,
                folder=folder)
    return json.loads(done.stdout)


def random_prompt(case):
    rng = np.random.default_rng([SEED, case])
    return rng.integers(0, VOCABULARY, rng.integers(1, TOKENS)).tolist()


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("engine", ["functional", "host", "cycle"])
def test_greedy_text_is_what_the_window_finds_likeliest(files, engine, case):
    prompt = random_prompt(case)
    answer = decode(files, prompt, TOKENS - len(prompt) + 1, "--engine", engine, "--verify")
    text = prompt + answer["tokens"]
    rows = window_logits(files, text[:-1])
    assert answer["tokens"] == rows[len(prompt) - 1:].argmax(1).tolist()
    assert answer["text"] == "".join(map(chr, answer["tokens"]))
    assert (answer["prompt_tokens"], answer["positions"], answer["mismatches"]) == (len(prompt), TOKENS, 0)
    if engine == "cycle":
        cycles = answer["cycles"]
        assert len(cycles) == TOKENS and min(cycles) > 0
        assert answer["tokens_per_s"] == pytest.approx(100e6 * len(cycles) / sum(cycles))
    else:
        assert "cycles" not in answer


def test_drawn_texts_depend_on_the_seed_alone(files):
    drawn = [decode(files, [3], TOKENS, "--temperature", 5, "--seed", seed)["tokens"] for seed in (1, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert len(set(map(tuple, drawn))) > 1
    sharp = decode(files, [3], TOKENS, "--temperature", 5, "--seed", 2, "--top", 1)["tokens"]
    assert sharp == decode(files, [3], TOKENS)["tokens"]


def test_run_takes_the_same_bundle_call_after_call(files):
    text = np.random.default_rng(SEED).integers(0, VOCABULARY, TOKENS)
    np.savez(files / "calls.npz", tokens=text[:, None, None], position=np.arange(TOKENS)[:, None])
    made("run", "lm.twb", "--input", "calls.npz", "--verify", "-o", "calls_out.npz", folder=files)
    logits = np.load(files / "calls_out.npz")["logits"].reshape(TOKENS, VOCABULARY)
    assert np.array_equal(logits, window_logits(files, text))


def test_the_text_is_printed_behind_its_prompt(files):
    prompt = "".join(chr(max(token, 1)) for token in random_prompt(0))
    printed = made("decode", "lm.twb", f"--prompt={prompt}", "--tokens", 1, "--engine", "cycle", "--verify", folder=files)
    assert "cycles per token on the overlay" in printed.stdout
    assert "verified: the logits of" in printed.stdout
