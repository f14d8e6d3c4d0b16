"""Errors by kind, with every problem; options that do not exist; Ctrl-C and threads."""
import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import MODEL, PIXEL, ROOT

import tilewright as tw


def test_all_problems_are_listed(lenet, images):
    with pytest.raises(tw.InvalidInput) as caught:
        lenet.quantize(images[:4], scales="no", method="none")
    assert [d.where for d in caught.value.diagnostics] == ["scales", "method"]
    assert all(d.hint for d in caught.value.diagnostics)
    assert isinstance(caught.value, ValueError) and caught.value.exit_code == 1


@pytest.mark.parametrize("call, kind", [
    (lambda m, x: tw.load("/no/such.onnx"), tw.InvalidInput),
    (lambda m, x: tw.load(ROOT / "README.md"), tw.InvalidInput),
    (lambda m, x: m.compile("overlay-16x16"), tw.InvalidInput),  # not quantised
    (lambda m, x: m.quantize(), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4], weight_bits=9), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4], weight_group=32), tw.InvalidInput),  # 8 bits
    (lambda m, x: m.quantize(x[:4], weight_bits=4, weight_group=1), tw.InvalidInput),
    (lambda m, x: m.quantize(number_type="q10.22", weight_group=32), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4], number_type="q99.x"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4], mixed="4,8"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4], mixed="4,8", target_db=20, mean_bits=6), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4], mixed="4,wide", mean_bits=6), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4], mean_bits=6), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).compile("no-such-overlay"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).compile("overlay-16x16").run(x[:1], engine="fast"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).compile("overlay-16x16").run(x[:1], engine="host", memory="fixed"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).compile("overlay-16x16").report("no-memory"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).generate("no-such-device"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).generate("xc7z020", budget="dsp=1,lut=10"), tw.Infeasible),
    (lambda m, x: tw.map(m, "no-such-array"), tw.InvalidInput),
    (lambda m, x: tw.map(m, "eyeriss-256", dataflow="zz"), tw.InvalidInput),
    (lambda m, x: tw.map(m, "eyeriss-256", objective="beauty"), tw.InvalidInput),
    (lambda m, x: tw.place("s = s +", "hycube-4x4"), tw.InvalidInput),
    (lambda m, x: tw.place("no/such/graph.json", "hycube-4x4"), tw.InvalidInput),
    (lambda m, x: tw.place("s = s + x[i]", "hycube-4x4", method="magic"), tw.InvalidInput),
    (lambda m, x: tw.place("s = s + x[i]", "hycube-4x4", objective="beauty"), tw.InvalidInput),
    (lambda m, x: tw.place("s = s + x[i]", "hycube-4x4", starters="none"), tw.InvalidInput),
    (lambda m, x: tw.place("s = s + x[i]", "hycube-4x4", delay="long"), tw.InvalidInput),
    (lambda m, x: tw.place("s = s + x[i]", "hycube-4x4", ii="2..1"), tw.InvalidInput),
    (lambda m, x: tw.map(m, "eyeriss-256", rules="mine"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).generate("xc7z020", form="round"), tw.InvalidInput),
    (lambda m, x: m.quantize(x[:4]).generate("xc7z020", objective="beauty"), tw.InvalidInput),
    (lambda m, x: tw.open_bundle(MODEL), tw.InvalidInput),
])
def test_kinds(lenet, images, call, kind):
    with pytest.raises(kind) as caught:
        call(lenet, images)
    assert str(caught.value) and caught.value.diagnostics


@pytest.mark.parametrize("options", [{"method": m} for m in ("best", "layer-error", "squared-error", "min-max",
                                                                "percentile", "kl")]
                         + [{"scales": s} for s in ("real", "power-of-two")])
def test_every_word_of_quantize_is_taken(lenet, images, options):
    assert lenet.quantize(images[:4], **options).report["samples"] == 4


def test_mixed_bits_keep_their_bound(lenet, images):
    report = lenet.quantize(images[:8], mixed="4,8", mean_bits=6).report["mixed"]
    assert report["mean_bits"] <= 6
    assert {layer["bits"] for layer in report["layers"]} <= {4, 8}


def test_groups_of_weights_count_their_factors(lenet, images):
    quantized = lenet.quantize(images[:8], weight_bits=4, weight_group=32, method="squared-error")
    assert 4.1 < quantized.report["weight_bits"] < 4.25
    assert "with the factors of groups of 32" in quantized.text


def test_a_missing_file_is_no_expression():
    with pytest.raises(tw.InvalidInput, match="no/such/graph.json.*No such file"):
        tw.place("no/such/graph.json", "hycube-4x4")


def test_options_that_do_not_exist(lenet):
    with pytest.raises(TypeError, match="there is no option 'pareto_bufer'"):
        tw.map(lenet, "eyeriss-256", pareto_bufer="glb")


def interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()


def long_layer(folder):
    file = folder / "layer.yaml"
    file.write_text("name: long\nconvolution: {input_channels: 509, output_channels: 1021, output: 127, kernel: 7}\n")
    return file


def test_interrupt_gives_the_best_so_far(tmp_path):
    lines = []
    interrupt_after(0.7)
    begin = time.monotonic()
    found = tw.map(long_layer(tmp_path), "eyeriss-256", imperfect=True, pareto=True, progress=lines.append)
    assert found.ending == "request" and len(found.data) > 0 and lines
    assert time.monotonic() - begin < 30


def test_time_is_kept(tmp_path):
    begin = time.monotonic()
    found = tw.map(long_layer(tmp_path), "eyeriss-256", imperfect=True, pareto=True, time=1)
    assert found.ending == "time" and len(found.data) > 0
    assert time.monotonic() - begin < 10


def test_interrupt_of_what_has_no_part_result(bundle, images):
    interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        bundle.run(np.concatenate([images] * 2), scale=PIXEL, engine="host", threads=1)


def test_an_exception_of_the_callback_ends_the_call(tmp_path):
    def fail(_):
        raise RuntimeError("no more")
    with pytest.raises(RuntimeError, match="no more"):
        tw.map(long_layer(tmp_path), "eyeriss-256", imperfect=True, pareto=True, progress=fail)


def test_other_threads_run_meanwhile(bundle, images):
    results = {}
    workers = [threading.Thread(target=lambda i=i: results.update({i: bundle.run(images[i:i + 50], scale=PIXEL)}))
               for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for i, result in results.items():
        assert np.array_equal(result, bundle.run(images[i:i + 50], scale=PIXEL))
    assert len(results) == 4
