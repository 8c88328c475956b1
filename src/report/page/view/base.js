// SPDX-License-Identifier: Apache-2.0
"use strict";
// Data of the page, colours, numbers with units, and small pieces of HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const nDevices = data.devices.length, nOps = data.ops.name.length;
// Okabe and Ito: distinguishable with any colour vision.
const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a600", "#8c8c8c"];
const state = { placement: 0, showPath: true };

function colorOf(device) { return palette[device % palette.length]; }
function placement() { return data.placements[state.placement]; }
function byId(id) { return document.getElementById(id); }
function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function trim(value, digits) {
  return value >= 100 ? value.toFixed(Math.max(0, digits - 2)) : value >= 10 ? value.toFixed(Math.max(0, digits - 1)) : value.toFixed(digits);
}
function timeText(us) {
  const sign = us < 0 ? "-" : "", a = Math.abs(us);
  if (a >= 1e6) return sign + trim(a / 1e6, 2) + " s";
  if (a >= 1e3) return sign + trim(a / 1e3, 2) + " ms";
  return sign + trim(a, 2) + " µs";
}
function bytesText(bytes) {
  if (bytes === null || bytes === undefined) return "unknown";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0, value = bytes;
  while (value >= 1024 && i < units.length - 1) { value /= 1024; i++; }
  return (i === 0 ? String(value) : trim(value, 2)) + " " + units[i];
}
function percentText(part) { return (100 * part).toFixed(part < 0.1 && part > 0 ? 2 : 1) + " %"; }

function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const key in attributes || {}) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), attributes[key]);
    else e.setAttribute(key, attributes[key]);
  }
  for (const c of children) e.append(c);
  return e;
}
function swatch(device) {
  const s = element("span", { class: "swatch" });
  s.style.background = colorOf(device);
  return s;
}
function deviceLabel(k) { return element("span", {}, swatch(k), data.devices[k].id); }
function table(heads, rows) {
  const head = element("tr");
  for (const h of heads) head.append(element("th", { scope: "col", class: h.number ? "number" : "" }, h.text));
  const body = element("tbody");
  for (const row of rows) {
    const tr = element("tr");
    row.forEach((cell, i) => tr.append(element("td", { class: heads[i].number ? "number" : "" }, cell)));
    body.append(tr);
  }
  return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), body));
}

// Relative luminance and contrast of WCAG 2, of colours as [r, g, b].
function luminance(rgb) {
  const [r, g, b] = rgb.map(v => v / 255 <= 0.04045 ? v / 255 / 12.92 : Math.pow((v / 255 + 0.055) / 1.055, 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
function rgbOf(hex) { return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)); }
// Black or white, by contrast to a colour that is drawn with an opacity on paper.
function inkOn(color, opacity, paper) {
  const under = rgbOf(paper), seen = rgbOf(color).map((v, i) => v * opacity + under[i] * (1 - opacity));
  return contrast([0, 0, 0], seen) >= contrast([255, 255, 255], seen) ? "#000000" : "#ffffff";
}

const tip = byId("tip");
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.height - 8)) + "px";
}
function hideTip() { tip.hidden = true; }

// A canvas in device pixels; returns its context and size in CSS pixels.
function prepareCanvas(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 800;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "middle";
  return { g, width, height };
}
function shorten(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let n = Math.floor(text.length * room / g.measureText(text).width);
  while (n > 0 && g.measureText(text.slice(0, n) + "…").width > room) n--;
  return n > 0 ? text.slice(0, n) + "…" : "";
}
function niceStep(span, most) {
  const raw = span / most, power = Math.pow(10, Math.floor(Math.log10(raw)));
  for (const m of [1, 2, 5, 10]) if (m * power >= raw) return m * power;
  return 10 * power;
}
