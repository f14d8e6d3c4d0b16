// ONNX Runtime's side of host_float_speed: one request per line of standard input, one answer per line of standard
// output, both JSON. Everything runs on one thread with all of ONNX Runtime's graph optimisations.
//   {"load": MODEL, "inputs": [{"name", "type", "dims", "file"}], "outputs": [FILE]}   runs once, writes raw outputs
//   {"run": N}                                                                      CPU seconds of N runs
const fs = require("fs");
const readline = require("readline");
const ort = require(process.argv[2] + "/node_modules/onnxruntime-node");

const options = {intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: "sequential", graphOptimizationLevel: "all"};
const arrays = {float32: Float32Array, float16: Uint16Array, int64: BigInt64Array};
let session, feeds;

function readInput(input) {
  const bytes = fs.readFileSync(input.file);
  const values = new arrays[input.type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return new ort.Tensor(input.type, values, input.dims);
}

async function load(request) {
  if (session) await session.release();
  session = await ort.InferenceSession.create(request.load, options);
  feeds = Object.fromEntries(request.inputs.map((input) => [input.name, readInput(input)]));
  const results = await session.run(feeds);
  session.outputNames.forEach((name, i) => {
    const data = results[name].data;
    fs.writeFileSync(request.outputs[i], Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  });
  return {outputs: session.outputNames};
}

async function run(count) {
  const begin = process.cpuUsage();
  for (let i = 0; i < count; ++i) await session.run(feeds);
  const used = process.cpuUsage(begin);
  return {seconds: (used.user + used.system) / 1e6};
}

async function serve() {
  for await (const line of readline.createInterface({input: process.stdin})) {
    const request = JSON.parse(line);
    let answer;
    try {
      answer = request.load ? await load(request) : await run(request.run);
    } catch (error) {
      answer = {error: String(error.message || error)};
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}
serve();
