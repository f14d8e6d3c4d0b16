// Numbers and texts as people read them. A column of numbers has one scale, so that its cells compare at a glance.
"use strict";

const kPrefixes = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""],
                   [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"], [1e-12, "p"], [1e-15, "f"]];
const kJoules = {fj: 1e-15, pj: 1e-12, nj: 1e-9, uj: 1e-6, mj: 1e-3, j: 1};
const kSeconds = {s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9};
const kMissing = "\u2013";

const isNumber = (value) => typeof value === "number";

// Four significant digits, thousands separated; whole numbers in full.
function plainNumber(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 9999.5) return Math.round(value).toLocaleString("en-US");
  if (size >= 1e-4) return String(Number(value.toPrecision(4))).replace(/^(-?)(\d{4})/, (all, sign, d) => sign + d[0] + "," + d.slice(1));
  const power = Math.floor(Math.log10(size));
  const raised = String(power).replace(/./g, (c) => "-0123456789".includes(c) ? "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"["-0123456789".indexOf(c)] : c);
  return String(Number((value / 10 ** power).toPrecision(3))) + "\u00d710" + raised;
}

// How values of a unit up to `largest` are written: {factor, unit}. Counts stay counts below ten million.
function scaleOf(largest, unit) {
  if (!(largest > 0) || unit === "%" || unit === "yes/no") return {factor: 1, unit};
  const base = kJoules[unit.toLowerCase()] || kSeconds[unit];
  if (!base && unit !== "" && largest < 1e7) return {factor: 1, unit};
  if (!base && unit === "" && (largest < 1e9 || largest >= 1e18)) return {factor: 1, unit};
  const size = largest * (base || 1);
  let [by, prefix] = kPrefixes.find(([p]) => size >= p * 0.99995) || [1e-15, "f"];
  if (kSeconds[unit] && by > 1) [by, prefix] = [1, ""];
  const symbol = kJoules[unit.toLowerCase()] ? "J" : kSeconds[unit] ? "s" : unit === "bytes" ? "B" : unit;
  const blank = !base && unit !== "" && unit !== "bytes" ? "\u00a0" : "";
  return {factor: (base || 1) / by, unit: prefix + blank + symbol};
}

function largestOf(values) {
  let largest = 0;
  for (const value of values) if (isNumber(value)) largest = Math.max(largest, Math.abs(value));
  return largest;
}

// {text, unit} of one value on a scale; shares and flags have no scale.
function parts(value, unit, scale) {
  if (value === null || value === undefined || value === "") return {text: kMissing, unit: ""};
  if (!isNumber(value)) return {text: String(value), unit: ""};
  if (unit === "%") return {text: (100 * value).toFixed(1).replace(/^-0\.0$/, "0.0"), unit: "%"};
  if (unit === "yes/no") return {text: value ? "yes" : "no", unit: ""};
  if (unit === "x") return {text: value.toFixed(3), unit: "\u00d7"};
  const on = scale || scaleOf(Math.abs(value), unit);
  return {text: plainNumber(on.factor === 1 ? value : Number((value * on.factor).toPrecision(4))), unit: on.unit};
}
function textOf(value, unit, scale) {
  const {text, unit: shown} = parts(value, unit, scale);
  return shown === "" ? text : shown === "%" || shown === "\u00d7" ? text + "\u202f" + shown : text + "\u00a0" + shown;
}

// A relative change, or the difference of shares in points; nothing where both are the same or one is missing.
function deltaText(now, other, unit) {
  if (!isNumber(now) || !isNumber(other) || now === other) return "";
  const up = now > other ? "+" : "\u2212";
  if (unit === "%") return up + (100 * Math.abs(now - other)).toFixed(1) + "\u202fpoints";
  if (other === 0) return up + plainNumber(Math.abs(now - other));
  const share = 100 * Math.abs((now - other) / other);
  return up + (share >= 0.05 ? (share < 1000 ? share.toFixed(1) : plainNumber(Math.round(share))) : "<0.1") + "\u202f%";
}
function deltaClass(now, other, better) {
  if (!isNumber(now) || !isNumber(other) || now === other || better === "") return "";
  return (now < other) === (better === "less") ? "good" : "bad";
}

const kCanvas = document.createElement("canvas").getContext("2d");
function textWidth(text, size = 12) {
  kCanvas.font = size + "px " + getComputedStyle(document.body).fontFamily;
  return kCanvas.measureText(text).width;
}
// As much of the start of `text` as fits, with an ellipsis; "" if hardly anything does. The full text is in the tooltip.
function fitted(text, width, size = 12) {
  if (textWidth(text, size) <= width) return text;
  let length = Math.floor(text.length * width / textWidth(text, size));
  while (length > 3 && textWidth(text.slice(0, length) + "\u2026", size) > width) --length;
  return length > 3 ? text.slice(0, length) + "\u2026" : "";
}
