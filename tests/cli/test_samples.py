"""Files of the field as samples: arrays for several inputs, pictures, sounds. What comes out of a model that returns its
inputs is compared bit for bit with NumPy and Pillow."""
import io
import itertools
import json
import os
import random
import wave

import numpy as np
import onnx
import pytest
from conftest import made, run
from onnx import TensorProto, helper
from PIL import Image

SEED = int(os.environ.get("TILEWRIGHT_SEED", "1"))
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "uint8": TensorProto.UINT8,
         "int8": TensorProto.INT8, "int16": TensorProto.INT16, "uint16": TensorProto.UINT16,
         "int32": TensorProto.INT32, "int64": TensorProto.INT64}


def echo(path, **inputs):
    """A model that returns each of its inputs, NAME=(type, shape), as out_NAME."""
    def values(prefix):
        return [helper.make_tensor_value_info(prefix + name, TYPES[kind], shape)
                for name, (kind, shape) in inputs.items()]
    nodes = [helper.make_node("Identity", [name], ["out_" + name]) for name in inputs]
    graph = helper.make_graph(nodes, "echo", values(""), values("out_"))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def outputs(folder, *arguments):
    made("run", *arguments, "-o", "out.npz", folder=folder)
    return {name[len("out_"):]: array for name, array in np.load(folder / "out.npz").items()}


def refusal(folder, *arguments):
    done = run(*arguments, folder=folder)
    assert done.returncode in (1, 2), (arguments, done.returncode, done.stdout, done.stderr)
    assert done.stderr.startswith("tilewright: "), done.stderr
    return done.stderr


# Several inputs

def random_array(rng, kind, shape):
    if kind.startswith("float"):
        return rng.standard_normal(shape).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)


@pytest.mark.parametrize("case", range(12))
def test_inputs_by_name(tmp_path, case):
    """As files, archives, and both; whatever layout NumPy stored."""
    rng, choose = np.random.default_rng([SEED, case]), random.Random(SEED * 1000 + case)
    batch, count = choose.choice([1, 2]), choose.choice([1, 2, 4])
    inputs, arrays = {}, {}
    for i in range(choose.randint(2, 4)):
        shape = [choose.randint(2, 5) for _ in range(choose.randint(1, 3))]
        name, kind = choose.choice(["x", "in.", "a/b:", "model input "]) + str(i), choose.choice(list(TYPES))
        inputs[name] = (kind, [batch, *shape])
        arrays[name] = random_array(rng, kind, [batch * count, *shape])
    echo(tmp_path / "m.onnx", **inputs)
    archived = choose.sample(list(arrays), choose.randint(0, len(arrays)))
    given = []
    for i, (name, array) in enumerate(arrays.items()):
        stored = np.asfortranarray(array) if choose.random() < 0.5 else array
        if name not in archived:
            np.save(tmp_path / f"{i}.npy", stored)
            given += ["--input", f"{name}={i}.npy"]
    if archived:
        save = choose.choice([np.savez, np.savez_compressed])
        save(tmp_path / "in.npz", **{name: arrays[name] for name in archived})
        given += ["--input", "in.npz"]
    found = outputs(tmp_path, "m.onnx", *given)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array), name


def test_outputs_are_what_numpy_would_save(tmp_path):
    echo(tmp_path / "m.onnx", a=("float32", [1, 3]), b=("int64", [1]))
    np.savez(tmp_path / "in.npz", a=np.eye(3, dtype=np.float32), b=np.arange(3))
    first = made("run", "m.onnx", "--input", "in.npz", "-o", "out.npz", folder=tmp_path)
    bytes_of_first = (tmp_path / "out.npz").read_bytes()
    made("run", "m.onnx", "--input", "in.npz", "-o", "out.npz", folder=tmp_path)
    assert (tmp_path / "out.npz").read_bytes() == bytes_of_first and "3 inputs" in first.stdout
    made("run", "m.onnx", "--input", "in.npz", "-o", "out.npy", folder=tmp_path)
    assert np.array_equal(np.load(tmp_path / "out.npy"), np.eye(3))
    assert np.array_equal(np.load(tmp_path / "out.1.npy"), np.arange(3))


def test_a_single_array_is_the_only_input(tmp_path):
    echo(tmp_path / "m.onnx", x=("float32", [1, 4]))
    array = np.random.default_rng(SEED).standard_normal((3, 4)).astype(np.float32)
    np.savez(tmp_path / "arr.npz", array)  # numpy calls it arr_0
    assert np.array_equal(outputs(tmp_path, "m.onnx", "--input", "arr.npz")["x"], array)
    np.save(tmp_path / "a=b.npy", array)  # a file that exists is one, whatever its name
    assert np.array_equal(outputs(tmp_path, "m.onnx", "--input", "a=b.npy")["x"], array)


def test_every_problem_of_the_inputs_in_one_run(tmp_path):
    echo(tmp_path / "m.onnx", a=("float32", [1, 4]), beta=("int8", [1, 2]), c=("float32", [1, 4]), d=("float32", [1, 4]),
         e=("float32", [1, 4]))
    np.savez(tmp_path / "in.npz", a=np.zeros((3, 5), np.float32), beta=np.full((3, 2), 300), betta=np.zeros(3))
    np.save(tmp_path / "c.npy", np.zeros((2, 4), np.float32))
    np.save(tmp_path / "e.npy", np.zeros((3, 4), np.float32))
    text = refusal(tmp_path, "run", "m.onnx", "--input", "in.npz", "--input", "c=c.npy", "--input", "c=c.npy",
                   "--input", "e=e.npy", "--input", "e=no.npy")
    for part in ("the model has no input 'betta'; did you mean 'beta'? its inputs: a, beta, c, d, e",
                 "file 'c.npy': input 'c' is already given by c.npy; leave one out",
                 "input 'd' of the model is not given; add --input d=FILE",
                 "input 'a': 'in.npz' holds samples of 5 elements",
                 "input 'beta': 'in.npz' holds the value 300",
                 "different numbers of samples: 2 for 'c', 3 for 'e'",
                 "cannot open 'no.npy'"):
        assert part in text, (part, text)
    text = refusal(tmp_path, "run", "m.onnx", "--input", "c.npy")
    assert text == ("tilewright: file 'c.npy': the model has 5 inputs (a, beta, c, d, e), and it names none of them; name it, "
                    "as in --input a=FILE, or give an .npz with a member for each\n")
    text = refusal(tmp_path, "run", "m.onnx", "--input", "a=in.npz")
    assert "it holds 3 arrays, and one is wanted for input 'a'" in text


def test_quantize_and_compile_take_several_inputs(tmp_path):
    """A convolution of each of two pictures, added: every verb that takes samples."""
    rng = np.random.default_rng(SEED)
    weights = [helper.make_tensor(f"w{i}", TensorProto.FLOAT, [16, 3, 3, 3], rng.standard_normal(16 * 27) * 0.1)
               for i in range(2)]
    nodes = [helper.make_node("Conv", ["left", "w0"], ["l"]), helper.make_node("Conv", ["right", "w1"], ["r"]),
             helper.make_node("Add", ["l", "r"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
    pictures = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 8, 8]) for name in ("left", "right")]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16, 6, 6])
    onnx.save(helper.make_model(helper.make_graph(nodes, "two", pictures, [y], weights),
                                opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx")
    left, right = rng.standard_normal((2, 12, 3, 8, 8)).astype(np.float32)
    np.savez(tmp_path / "both.npz", left=left, right=right)
    np.save(tmp_path / "left.npy", left)
    np.save(tmp_path / "right.npy", right)
    made("quantize", "m.onnx", "--calibration", "both.npz", "--evaluate", "left=left.npy", "--evaluate",
         "right=right.npy", "-o", "q.onnx", folder=tmp_path)
    made("compile", "q.onnx", "--hardware", "overlay-16x16", "-o", "m.twb", folder=tmp_path)
    by_name = outputs(tmp_path, "m.twb", "--input", "left=left.npy", "--input", "right=right.npy", "--verify")
    assert np.array_equal(next(iter(by_name.values())),
                          next(iter(outputs(tmp_path, "m.twb", "--input", "both.npz").values())))
    made("compare", "m.onnx", "m.twb", "--input", "both.npz", folder=tmp_path)
    made("generate", "m.onnx", "--device", "xc7z020", "--calibration", "both.npz", "-o", "design", folder=tmp_path)
    for engine in ("host", "cycle"):
        designs = outputs(tmp_path, "design", "--engine", engine, "--input", "left=left.npy", "--input", "right=right.npy")
        assert all(np.array_equal(designs[name], by_name[name]) for name in by_name)
    for runs in ("m.twb", "design"):
        text = refusal(tmp_path, "run", runs, "--input", "right=left.npy")
        assert "input 'left' of the model is not given" in text


def test_a_mapped_program_takes_one_array(files):
    np.save(files / "columns.npy", np.ones((5, 2), np.int32))
    made("run", "mapped.json", "--input", "columns.npy", "--engine", "fabric", folder=files)
    for given in (["--input", "x=columns.npy"], ["--input", "columns.npy", "--input", "columns.npy"]):
        text = refusal(files, "run", "mapped.json", *given, "--engine", "fabric")
        assert "a mapped program takes one array" in text
    text = refusal(files, "run", "mapped.json", "--input", "columns.npy", "--engine", "fabric", "--preprocess", "length=2")
    assert "--preprocess does not apply to a mapped program" in text


def test_no_output_overwrites_a_named_input(tmp_path):
    echo(tmp_path / "m.onnx", x=("float32", [1, 4]))
    np.save(tmp_path / "x.npy", np.zeros((1, 4), np.float32))
    text = refusal(tmp_path, "run", "m.onnx", "--input", "x=x.npy", "-o", "x.npy")
    assert "would overwrite what --input reads" in text


# Pictures

MODES = ["L", "RGB", "P", "1", "I;16", "RGBA", "LA"]


def random_picture(rng, mode, height, width):
    """Blurred, so that its values are not all of one frequency."""
    if mode == "I;16":
        return Image.fromarray(rng.integers(0, 65536, (height, width), np.uint16))
    channels = {"L": 1, "P": 3, "1": 1, "LA": 2, "RGBA": 4}.get(mode, 3)
    pixels = rng.integers(0, 256, (height, width, channels), np.uint8)
    if mode in ("RGBA", "LA"):
        pixels[..., -1] = 255
    if mode == "P":
        return Image.fromarray(pixels).quantize(rng.integers(2, 257))
    if mode == "1":
        return Image.fromarray(pixels[..., 0] > 127)
    return Image.fromarray(pixels.squeeze() if channels == 1 else pixels, mode if channels in (2, 4) else None)


def as_array(picture, colour):
    """[height, width, channels] by Pillow."""
    if picture.mode.startswith("I"):
        return np.asarray(picture).astype(np.uint16)[..., None]
    pixels = np.asarray(picture.convert("L" if colour == "grey" else "RGB"))
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    return pixels[..., ::-1] if colour == "bgr" else pixels


@pytest.mark.parametrize("mode", MODES)
def test_png_pixels(tmp_path, mode):
    rng = np.random.default_rng([SEED, MODES.index(mode)])
    for case in range(4):
        height, width = rng.integers(4, 40, 2)
        picture = random_picture(rng, mode, height, width)
        picture.save(tmp_path / "p.png")
        for colour, first in itertools.product(["grey", "rgb", "bgr"], [True, False]):
            if mode == "I;16" and colour != "grey":
                continue
            channels = 1 if colour == "grey" else 3
            shape = [1, channels, height, width] if first else [1, height, width, channels]
            echo(tmp_path / "m.onnx", x=("uint16" if mode == "I;16" else "uint8", [int(s) for s in shape]))
            found = outputs(tmp_path, "m.onnx", "--input", "p.png", "--preprocess",
                            f"colour={colour},layout={'nchw' if first else 'nhwc'}")["x"][0]
            found = found.transpose(1, 2, 0) if first else found
            assert np.array_equal(found, as_array(picture, colour)), (case, colour, first)


def test_jpeg_pixels(tmp_path):
    rng = np.random.default_rng(SEED)
    for case, (mode, sampling, progressive) in enumerate(itertools.product(["L", "RGB"], [0, 1, 2], [False, True])):
        height, width = (int(s) for s in rng.integers(8, 60, 2))
        random_picture(rng, mode, height, width).save(tmp_path / "p.jpg", quality=int(rng.integers(20, 96)),
                                                      subsampling=sampling, progressive=progressive)
        colour = ["grey", "rgb"][case % 2]
        echo(tmp_path / "m.onnx", x=("uint8", [1, height, width, 1 if colour == "grey" else 3]))
        found = outputs(tmp_path, "m.onnx", "--input", "p.jpg", "--preprocess", f"colour={colour},layout=nhwc")["x"][0]
        assert np.array_equal(found, as_array(Image.open(tmp_path / "p.jpg"), colour)), (mode, sampling, progressive)


def prepared(picture, resize, crop, colour):
    """The pixels by Pillow, sizes as torchvision computes them."""
    if picture.mode.startswith("I"):
        picture = picture.convert("I")
    else:
        picture = picture.convert("L" if colour == "grey" else "RGB")
    width, height = picture.size
    if isinstance(resize, int):
        short, long = min(width, height), max(width, height)
        longer = int(resize * long / short)
        height, width = (resize, longer) if height <= width else (longer, resize)
    elif resize:
        height, width = resize
    if resize:
        picture = picture.resize((width, height), Image.BILINEAR)
    if crop:
        rows, columns = (crop, crop) if isinstance(crop, int) else crop
        top, left = int(round((height - rows) / 2.0)), int(round((width - columns) / 2.0))
        picture = picture.crop((left, top, left + columns, top + rows))
    return as_array(picture, colour)


def size_words(size):
    return str(size) if isinstance(size, int) else "x".join(map(str, size))


@pytest.mark.parametrize("case", range(30))
def test_resized_and_cropped(tmp_path, case):
    rng, choose = np.random.default_rng([SEED, case]), random.Random(SEED * 1000 + case)
    mode = choose.choice(["L", "RGB", "RGB", "P", "I;16"])
    colour = "grey" if mode == "I;16" else choose.choice(["grey", "rgb", "bgr"])
    picture = random_picture(rng, mode, choose.randint(1, 90), choose.randint(1, 90))
    picture.save(tmp_path / "p.png")
    resize = choose.choice([choose.randint(1, 40), (choose.randint(1, 120), choose.randint(1, 120)), None])
    before = prepared(picture, resize, None, colour)
    crop = choose.choice([None, choose.randint(1, min(before.shape[:2])),
                          (choose.randint(1, before.shape[0]), choose.randint(1, before.shape[1]))])
    expected = prepared(picture, resize, crop, colour)
    words = [f"colour={colour}", "layout=nhwc"]
    words += [f"resize={size_words(resize)}"] if resize else []
    words += [f"crop={size_words(crop)}"] if crop else []
    choose.shuffle(words)
    echo(tmp_path / "m.onnx", x=("uint16" if mode == "I;16" else "uint8", [1, *expected.shape]))
    found = outputs(tmp_path, "m.onnx", "--input", "p.png", "--preprocess", ",".join(words))["x"][0]
    assert np.array_equal(found, expected), (mode, picture.size, words)


def test_values_are_float32_arithmetic(tmp_path):
    """The preprocessing of ImageNet models, as torchvision does it."""
    rng = np.random.default_rng(SEED)
    picture = random_picture(rng, "RGB", 300, 400)
    picture.save(tmp_path / "p.png")
    mean, std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    pixels = prepared(picture, 256, 224, "rgb").astype(np.float32)
    expected = (pixels / np.float32(255) - mean) / std
    words = "resize=256,crop=224,scale=1/255,mean=0.485:0.456:0.406,std=0.229:0.224:0.225"
    (tmp_path / "imagenet.yaml").write_text(
        "resize: 256\ncrop: [224, 224]\nscale: 1/255\nmean: [0.485, 0.456, 0.406]\nstd: [0.229, 0.224, 0.225]\n")
    for steps, shape in itertools.product([words, "imagenet.yaml"], [[1, 3, 224, 224], [1, 224, 224, 3]]):
        echo(tmp_path / "m.onnx", x=("float32", shape))
        found = outputs(tmp_path, "m.onnx", "--input", "p.png", "--preprocess", steps)["x"][0]
        assert np.array_equal(found, expected.transpose(2, 0, 1) if shape[1] == 3 else expected)
    facts = json.loads(made("run", "m.onnx", "--input", "p.png", "--preprocess", words, "--json", folder=tmp_path).stdout)
    assert facts["preprocessing"]["x"] == {
        "kind": "pictures", "path": "p.png", "files": 1, "left_out": 0,
        "steps": ["RGB", "shorter side resized to 256 (bilinear)", "the middle 224x224", "divided by 255",
                  "minus 0.485:0.456:0.406", "divided by 0.229:0.224:0.225", "NHWC"]}


def test_a_folder_in_the_order_of_its_names(tmp_path):
    rng = np.random.default_rng(SEED)
    folder = tmp_path / "pictures"
    folder.mkdir()
    names = ["b.png", "B.png", "a10.png", "a9.jpeg", "c.JPG", "é.png"]
    for name in names:
        random_picture(rng, "RGB", 12, 10).save(folder / name, quality=90)
    (folder / "labels.txt").write_text("none\n")
    (folder / "deeper").mkdir()
    random_picture(rng, "RGB", 12, 10).save(folder / "deeper" / "a.png")
    echo(tmp_path / "m.onnx", x=("uint8", [1, 12, 10, 3]))
    expected = [np.asarray(Image.open(folder / name)) for name in sorted(names, key=os.fsencode)]
    assert np.array_equal(outputs(tmp_path, "m.onnx", "--input", "pictures")["x"], expected)
    assert np.array_equal(outputs(tmp_path, "m.onnx", "--input", "pictures", "--input-count", 2)["x"], expected[:2])
    text = made("run", "m.onnx", "--input", "pictures", folder=tmp_path).stdout
    assert "input 'x': 6 pictures of 'pictures': RGB, NHWC; 2 more in the folder left out\n" in text
    echo(tmp_path / "two.onnx", x=("uint8", [2, 12, 10, 3]))
    assert np.array_equal(outputs(tmp_path, "two.onnx", "--input", "pictures", "--threads", 3)["x"], expected)


def test_pictures_that_do_not_fit(tmp_path):
    rng = np.random.default_rng(SEED)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(30):
        random_picture(rng, "RGB", 12, 10 + i % 3).save(folder / f"{i:02}.png")
    transparent = np.full((12, 10, 4), 255, np.uint8)
    transparent[3, 4, 3] = 254
    Image.fromarray(transparent).save(folder / "alpha.png")
    Image.fromarray(transparent, "CMYK").save(folder / "cmyk.jpg")
    echo(tmp_path / "m.onnx", x=("float32", [1, 3, 12, 10]))
    text = refusal(tmp_path, "run", "m.onnx", "--input", "pictures")
    for part in ("file 'pictures/01.png': it comes out as 3x12x11, the model wants 3x12x10; add --preprocess resize=12x10",
                 "and 2 more like these"):
        assert part in text, (part, text)
    text = refusal(tmp_path, "run", "m.onnx", "--input", "pictures/alpha.png")
    assert "pixel 3, 4 (row, column) is transparent; draw the picture on a background" in text
    assert "its colours are CMYK; save it in RGB" in refusal(tmp_path, "run", "m.onnx", "--input", "pictures/cmyk.jpg")
    cases = {"crop=13": "a part of 13 x 13 is wanted of a picture of 12 x 10 (height x width); resize it first",
             "colour=grey": "the input of 1x3x12x10 has 3 channels, the pictures have 1; change colour=",
             "layout=nhwc": "the input of 1x3x12x10 has 10 channels",
             "mean=1:2": "'1:2' is not 1 number or 3",
             "std=0": "'0' is not a number other than 0",
             "scale=1/0": "'1/0' is not a number other than 0, or two as in 1/255",
             "resize=0": "'0' is not the shorter side or HEIGHTxWIDTH, each from 1 to 32768",
             "resize=1x2x3": "'1x2x3' is not the shorter side",
             "colour=red": "there is no 'red'; choose one of: rgb, bgr, grey",
             "color=rgb": "unknown field; did you mean 'colour'?",
             "rate=16000": "--preprocess: rate, channel and length do not apply to pictures",
             "crop": "'crop' is no FIELD=VALUE", "crop=3,crop=4": "(crop): it is given twice",
             "none.yaml": "No such file"}
    for steps, part in cases.items():
        text = refusal(tmp_path, "run", "m.onnx", "--input", "pictures/00.png", "--preprocess", steps)
        assert part in text, (steps, text)
    text = refusal(tmp_path, "run", "m.onnx", "--input", "pictures/00.png", "--preprocess", "scale=2", "--input-scale", 3)
    assert "the values are scaled twice" in text
    echo(tmp_path / "odd.onnx", x=("float32", [1, 3, 12, 3]))
    text = refusal(tmp_path, "run", "odd.onnx", "--input", "pictures/00.png")
    assert "the first axis and also the last one has 1 or 3; state it: --preprocess layout=nchw" in text
    (tmp_path / "none").mkdir()
    assert "folder 'none': the folder holds no picture or sound" in refusal(tmp_path, "run", "m.onnx", "--input", "none")
    np.save(tmp_path / "x.npy", np.zeros((1, 3, 12, 10), np.float32))
    text = refusal(tmp_path, "run", "m.onnx", "--input", "x.npy", "--preprocess", "scale=2")
    assert "--preprocess has no effect: no input is a picture or a sound; leave it out" in text
    text = refusal(tmp_path, "quantize", "m.onnx", "--preprocess", "scale=2", "-o", "q.onnx")
    assert "--preprocess has no effect without --calibration or --evaluate" in text


# Sounds

def wav_bytes(samples, form, rate=16000):
    """`samples`: [length, channels] of integers, or of floats for the forms f32 and f64."""
    codes = {"f32": 3, "f64": 3}
    widths = {"u8": 1, "i16": 2, "i24": 3, "i32": 4, "f32": 4, "f64": 8}
    width, channels = widths[form], samples.shape[1]
    if form == "i24":
        data = samples.astype("<i4").reshape(-1).view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    else:
        data = samples.astype({"u8": "u1"}.get(form, "<" + form[0] + str(width))).tobytes()
    head = b"".join(int(value).to_bytes(size, "little") for value, size in (
        (codes.get(form, 1), 2), (channels, 2), (rate, 4), (rate * width * channels, 4), (width * channels, 2),
        (8 * width, 2)))
    parts = b"WAVEfmt " + len(head).to_bytes(4, "little") + head + b"data" + len(data).to_bytes(4, "little") + data
    parts += b"\0" * (len(data) % 2)
    return b"RIFF" + len(parts).to_bytes(4, "little") + parts


FORMS = ["u8", "i16", "i24", "i32", "f32", "f64"]


def random_sound(rng, form, length, channels):
    if form.startswith("f"):
        return rng.standard_normal((length, channels)).astype(form[0] + str(int(form[1:]) // 8))
    bits = int(form[1:])
    low = 0 if form == "u8" else -2 ** (bits - 1)
    return rng.integers(low, low + 2 ** bits, (length, channels))


def as_floats(samples, form):
    if form.startswith("f"):
        return samples.astype(np.float64)
    return (samples - (128 if form == "u8" else 0)) / 2.0 ** (int(form[1:]) - 1)


@pytest.mark.parametrize("form", FORMS)
def test_wav_values(tmp_path, form):
    rng = np.random.default_rng([SEED, FORMS.index(form)])
    for channels in (1, 2, 3):
        length = int(rng.integers(1, 400))
        samples = random_sound(rng, form, length, channels)
        (tmp_path / "s.wav").write_bytes(wav_bytes(samples, form))
        values = as_floats(samples, form).astype(np.float32)
        for step, mono in (("mean", values.astype(np.float64).mean(axis=1)), (channels - 1, values[:, -1])):
            wanted = int(rng.integers(1, 500))
            expected = np.zeros(wanted, np.float32)
            expected[:min(wanted, length)] = mono[:wanted]
            echo(tmp_path / "m.onnx", x=("float32", [1, 1, wanted]))
            found = outputs(tmp_path, "m.onnx", "--input", "s.wav", "--preprocess",
                            f"channel={step},length={wanted},rate=16000")["x"]
            if channels == 3 and step == "mean":
                assert np.allclose(found.ravel(), expected, rtol=1e-6, atol=0)  # NumPy adds in another order
            else:
                assert np.array_equal(found.ravel(), expected), (channels, step)
        if channels == 1:
            echo(tmp_path / "m.onnx", x=("float32", [1, length]))
            assert np.array_equal(outputs(tmp_path, "m.onnx", "--input", "s.wav")["x"].ravel(), values[:, 0])


def test_sounds_as_integers_and_of_a_folder(tmp_path):
    rng = np.random.default_rng(SEED)
    folder = tmp_path / "sounds"
    folder.mkdir()
    samples = rng.integers(-2 ** 15, 2 ** 15, (3, 50))
    for name, values in zip("abc", samples):
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 50, "NONE", None))
            file.writeframes(values.astype("<i2").tobytes())
    echo(tmp_path / "m.onnx", x=("int16", [1, 50]))
    assert np.array_equal(outputs(tmp_path, "m.onnx", "--input", "sounds", "--preprocess", "scale=32768")["x"], samples)
    text = refusal(tmp_path, "run", "m.onnx", "--input", "sounds")
    assert "which the model's input of type i16 cannot" in text
    text = made("run", "m.onnx", "--input", "sounds", "--preprocess", "scale=32768,rate=8000", folder=tmp_path).stdout
    assert "input 'x': 3 sounds of 'sounds': 8000 Hz, PCM in [-1, 1), times 32768\n" in text


def test_sounds_that_do_not_fit(tmp_path):
    (tmp_path / "s.wav").write_bytes(wav_bytes(np.zeros((40, 2)), "i16", 44100))
    echo(tmp_path / "m.onnx", x=("float32", [1, 40]))
    text = refusal(tmp_path, "run", "m.onnx", "--input", "s.wav", "--preprocess", "rate=16000")
    assert "it has 44100 values a second, not 16000; resample it with another tool" in text
    assert "it has 2 channels; state --preprocess channel=mean" in text
    assert "it has no channel 2; the last one is 1" in refusal(tmp_path, "run", "m.onnx", "--input", "s.wav",
                                                               "--preprocess", "channel=2")
    text = refusal(tmp_path, "run", "m.onnx", "--input", "s.wav", "--preprocess", "channel=0,length=39")
    assert "holds samples of 39 elements (array 1x39), the model wants 1x40" in text
    text = refusal(tmp_path, "run", "m.onnx", "--input", "s.wav", "--preprocess", "resize=3")
    assert "--preprocess: colour, resize, crop and layout do not apply to sounds" in text
    data = bytearray(wav_bytes(np.zeros((40, 1)), "i16"))
    data[20] = 7  # mu-law
    (tmp_path / "mu.wav").write_bytes(data)
    assert refusal(tmp_path, "run", "m.onnx", "--input", "mu.wav")


# Damaged files

def damaged_files(rng):
    """(name, bytes) of small files of every format."""
    picture = random_picture(rng, "RGB", 9, 7)
    for ending, options in (("png", {}), ("jpg", {}), ("jpg", {"progressive": True})):
        buffer = io.BytesIO()
        picture.save(buffer, {"png": "PNG", "jpg": "JPEG"}[ending], **options)
        yield "p." + ending, buffer.getvalue()
    buffer = io.BytesIO()
    random_picture(rng, "P", 9, 7).save(buffer, "PNG", transparency=3)
    yield "p.png", buffer.getvalue()
    for save in (np.savez, np.savez_compressed):
        buffer = io.BytesIO()
        save(buffer, x=np.zeros((1, 9, 7, 3), np.float32))
        yield "x.npz", buffer.getvalue()
    for form in FORMS:
        yield "s.wav", wav_bytes(random_sound(rng, form, 189, 1), form)
    yield "steps.yaml", b"resize: [9, 7]\nmean: [1, 2, 3]\nscale: 1/255\nlayout: nhwc\n"


def test_damaged_files_are_refused(tmp_path):
    """Truncated, bytes changed, bytes added: an answer or an error, never a crash. tests/fuzz does more of it."""
    rng = np.random.default_rng(SEED)
    echo(tmp_path / "m.onnx", x=("float32", [1, 9, 7, 3]))
    random_picture(rng, "RGB", 9, 7).save(tmp_path / "good.png")
    refused = 0
    for name, original in damaged_files(rng):
        for case in range(8):
            data = bytearray(original)
            if case % 2 == 0:
                del data[int(rng.integers(0, len(data))):]
            else:
                for at in rng.integers(0, len(data), 1 + case):
                    data[at] = rng.integers(0, 256)
            (tmp_path / name).write_bytes(data)
            steps = ["--preprocess", name] if name == "steps.yaml" else []
            done = run("run", "m.onnx", "--input", "good.png" if steps else name, *steps, folder=tmp_path)
            assert done.returncode in (0, 1, 2), (name, case, done.returncode, done.stderr)
            assert "check failed" not in done.stderr
            refused += done.returncode != 0
            if case % 2 == 0 and not steps:
                assert done.returncode != 0, (name, len(data))
    assert refused > 50


# Pictures beside arrays, and words that are nearly right

@pytest.fixture
def pictures(files, tmp_path):
    """lenet.onnx with its bundle, a folder of pictures, and arrays."""
    rng = np.random.default_rng(SEED)
    (tmp_path / "pictures").mkdir()
    for i in range(4):
        Image.fromarray(rng.integers(0, 256, (50, 40), np.uint8)).save(tmp_path / f"pictures/{i}.png")
    np.save(tmp_path / "x.npy", rng.random((3, 1, 28, 28), np.float32))
    for name in ("lenet.onnx", "m.twb"):
        (tmp_path / name).symlink_to(files / name)
    return tmp_path


STEPS = "resize=32,crop=28,scale=1/255"


def test_pictures_calibrate_and_arrays_judge_and_the_other_way_round(pictures):
    for calibration, evaluation, samples in (("pictures", "x.npy", 3), ("x.npy", "pictures", 4)):
        done = made("quantize", "lenet.onnx", "--calibration", calibration, "--evaluate", evaluation, "--preprocess", STEPS,
                    "-o", "q.onnx", "--json", folder=pictures)
        facts = json.loads(done.stdout)
        assert facts["samples"] == samples and facts["preprocessing"]["image"]["files"] == 4
    text = refusal(pictures, "quantize", "lenet.onnx", "--calibration", "x.npy", "--evaluate", "x.npy", "--preprocess", STEPS,
                   "-o", "q.onnx")
    assert "--preprocess has no effect: no input is a picture or a sound" in text


def test_every_problem_of_all_samples_of_quantisation_in_one_run(pictures):
    text = refusal(pictures, "quantize", "lenet.onnx", "--calibration", "a.npy", "--evaluate", "b.npy", "--labels", "c.npy",
                   "--preprocess", "sizes=1", "-o", "q.onnx")
    for part in ("(sizes): unknown field", "'a.npy'", "'b.npy'", "'c.npy'"):
        assert text.count(part) >= 1, (part, text)
    assert text.count("unknown field") == 1 and not (pictures / "q.onnx").exists()


def test_compare_says_that_it_takes_the_first(pictures):
    text = made("compare", "lenet.onnx", "m.twb", "--input", "pictures", "--preprocess", STEPS, folder=pictures).stdout
    assert "the first of 4 samples is compared" in text
    one = made("compare", "lenet.onnx", "m.twb", "--input", "pictures/0.png", "--preprocess", STEPS, folder=pictures).stdout
    assert one.splitlines()[1:] == text.splitlines()[2:]


def test_words_that_are_nearly_right(pictures):
    (pictures / "twice.yaml").write_text("resize: 28x28\nresize: 30\n")
    for steps, part in (("twice.yaml", "twice.yaml:2 (resize): it is given twice; leave one out"),
                        ("scale=0x10", "'0x10' is not a number other than 0"),
                        ("mean=1x2x3", "'1x2x3' is not a number for every channel"),
                        ("resize=28:28", "'28:28' is not the shorter side or HEIGHTxWIDTH"),
                        ("length=0", "(length): '0' is not a number of values from 1 to"),
                        ("{resize: {a: 1}}", "(resize): is neither a value nor a list of values"),
                        ("{resize: '28,crop=3'}", "'28,crop=3' is not the shorter side")):
        text = refusal(pictures, "run", "lenet.onnx", "--input", "pictures", "--preprocess", steps)
        assert part in text, (steps, text)
    done = [made("run", "lenet.onnx", "--input", "pictures", "--preprocess", steps, folder=pictures).stdout.split(" s on")[1]
            for steps in ("{resize: 32, crop: [28, 28], scale: 1/255}", STEPS)]
    assert done[0] == done[1]


def test_files_without_samples(pictures):
    (pictures / "pictures/dangling.png").symlink_to("nowhere")
    (pictures / "empty.png").write_bytes(b"")
    np.save(pictures / "none.npy", np.zeros((0, 1, 28, 28), np.float32))
    Image.fromarray(np.zeros((28, 28), np.uint8)).save(pictures / "p.bmp")
    for file, part in (("pictures", "cannot open 'pictures/dangling.png'"), ("empty.png", "the file is empty"),
                       ("none.npy", "'none.npy' holds no samples"),
                       ("p.bmp", "no samples in a known form; give .npy, .npz, idx, PNG, JPEG or WAV")):
        text = refusal(pictures, "run", "lenet.onnx", "--input", file)
        assert part in text, (file, text)


def test_a_sound_of_another_length_names_the_one_to_state(tmp_path):
    echo(tmp_path / "m.onnx", x=("float32", [1, 90]))
    with wave.open(str(tmp_path / "s.wav"), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", None))
        file.writeframes(bytes(2 * 60))
    assert "add --preprocess length=90" in refusal(tmp_path, "run", "m.onnx", "--input", "s.wav")
    made("run", "m.onnx", "--input", "s.wav", "--preprocess", "length=90", folder=tmp_path)
