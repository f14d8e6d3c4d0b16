"""A small language model as a graph in text: tokens look at those before them, once, by one head. Weights are random,
always the same."""
import numpy as np

TOKENS, VOCABULARY, WIDTH = 8, 16, 32


def graph(causal=True, tokens=TOKENS, vocabulary=VOCABULARY):
    """Without `causal`, a token looks at all tokens."""
    rng = np.random.default_rng(5)
    dense = lambda *shape: rng.normal(size=shape).round(3) / 2  # noqa: E731
    later = np.triu(np.full((tokens, tokens), -30.0 if causal else 0.0), 1)
    weights = {"table": dense(vocabulary, WIDTH) * 4, "query": dense(WIDTH, WIDTH), "key": dense(WIDTH, WIDTH),
               "value": dense(WIDTH, WIDTH), "out": dense(WIDTH, vocabulary), "later": later}
    rows, square = f"f32[1x{tokens}x{WIDTH}]", f"f32[1x{tokens}x{tokens}]"
    lines = ['graph "small"', f'input %0 "tokens": i64[1x{tokens}]']
    for number, (name, weight) in enumerate(weights.items(), 1):
        shape = "x".join(map(str, weight.shape))
        lines.append(f'const %{number} "{name}": f32[{shape}] = [{", ".join(map(str, weight.ravel()))}]')
    return "\n".join(lines + [
        f'node "embed" Gather(%1, %0) -> (%7 "x": {rows}) {{axis: 0}}',
        f'node "query" MatMul(%7, %2) -> (%8 "q": {rows})',
        f'node "key" MatMul(%7, %3) -> (%9 "k": {rows})',
        f'node "value" MatMul(%7, %4) -> (%10 "v": {rows})',
        f'node "turn" Transpose(%9) -> (%11 "k_turned": f32[1x{WIDTH}x{tokens}]) {{perm: [0, 2, 1]}}',
        f'node "score" MatMul(%8, %11) -> (%12 "scores": {square})',
        f'node "mask" Add(%12, %6) -> (%13 "masked": {square})',
        f'node "softmax" Softmax(%13) -> (%14 "shares": {square}) {{axis: -1}}',
        f'node "mix" MatMul(%14, %10) -> (%15 "mixed": {rows})',
        f'node "sum" Add(%7, %15) -> (%16 "summed": {rows})',
        f'node "logits" MatMul(%16, %5) -> (%17 "logits": f32[1x{tokens}x{vocabulary}])',
        'output %17', ''])


def random_texts(count):
    return np.random.default_rng(1).integers(0, VOCABULARY, (count, TOKENS))
