// SPDX-License-Identifier: Apache-2.0
// Timeline: rows of bars sorted by start; only those in view are drawn.
const timeline = { canvas: byId("timeline"), from: 0, to: 1, rows: [], drag: null, focus: -1 };
const rowHeight = 24, barHeight = 17, axisHeight = 26, labelWidth = 130;

function fullSpan() {
  let end = placement().repeat_us || placement().makespan_us;
  if (data.measured && state.placement === 0) end = Math.max(end, data.measured.makespan_us);
  return end > 0 ? end : 1;
}
function addRow(label, device, bars, faint) {
  bars.sort((a, b) => a.start - b.start);
  let longest = 0;
  for (const b of bars) longest = Math.max(longest, b.time);
  timeline.rows.push({ label, device, bars, longest, faint });
}
// With the objective period a schedule repeats, and the timeline is one period of
// it: pieces of a bar there, with the number of periods that its request is old.
function fold(start, time) {
  const period = placement().repeat_us, at = { whole: start, length: time };
  if (!period) return [{ ...at, start, time }];
  if (time >= period) return [{ ...at, start: 0, time: period, age: Math.floor(start / period) }];
  const age = Math.floor(start / period + 1e-9), from = Math.max(0, start - age * period);
  const first = { ...at, start: from, time: Math.min(time, period - from), age };
  return from + time <= period * (1 + 1e-9) ? [first] : [first, { ...at, start: 0, time: from + time - period, age: age + 1 }];
}
function buildRows() {
  const p = placement(), measured = state.placement === 0 ? data.measured : null;
  const onPath = new Set();
  for (const item of p.path) onPath.add(item.op !== undefined ? "o" + item.op : "t" + item.transfer);
  timeline.rows = [];
  const byDevice = data.devices.map(() => []);
  for (let i = 0; i < nOps; i++) {
    for (const piece of fold(p.start_us[i], p.time_us[i])) byDevice[p.device[i]].push({ ...piece, color: p.device[i], op: i, path: onPath.has("o" + i) });
  }
  const measuredBy = data.devices.map(() => []);
  if (measured) {
    for (const e of measured.events) {
      if (e.kind === "call") measuredBy[e.device].push({ start: e.start_us, time: e.time_us, color: e.device, op: e.op, name: e.name, measured: true });
    }
  }
  for (let k = 0; k < nDevices; k++) {
    addRow(data.devices[k].id, k, byDevice[k], false);
    if (measured) addRow("measured", k, measuredBy[k], true);
  }
  const pairs = new Map();
  for (const share of p.pairs) pairs.set(share.from * nDevices + share.to, []);
  p.transfers.forEach((t, i) => {
    for (const piece of fold(t.start_us, t.time_us)) pairs.get(t.from * nDevices + t.to).push({ ...piece, color: t.from, transfer: i, path: onPath.has("t" + i) });
  });
  for (const share of p.pairs) {
    addRow(data.devices[share.from].id + " → " + data.devices[share.to].id, share.from, pairs.get(share.from * nDevices + share.to), false);
  }
  if (measured) {
    const receives = data.devices.map(() => []);
    for (const e of measured.events) {
      if (e.kind === "receive") receives[e.device].push({ start: e.start_us, time: e.time_us, color: e.device, op: -1, name: e.name, measured: true });
    }
    for (let k = 0; k < nDevices; k++) if (receives[k].length) addRow("→ " + data.devices[k].id + " measured", k, receives[k], true);
  }
}
// First bar that may reach into view.
function firstVisible(row, from) {
  let low = 0, high = row.bars.length;
  const before = from - row.longest;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (row.bars[mid].start < before) low = mid + 1; else high = mid;
  }
  return low;
}
function xOf(us) {
  return labelWidth + (us - timeline.from) / (timeline.to - timeline.from) * (timeline.width - labelWidth - 8);
}
function usOf(x) {
  return timeline.from + (x - labelWidth) / (timeline.width - labelWidth - 8) * (timeline.to - timeline.from);
}
function drawAxis(g, height) {
  const step = niceStep(timeline.to - timeline.from, Math.max(1, Math.min(9, (timeline.width - labelWidth) / 75)));
  g.strokeStyle = style("--line");
  g.fillStyle = style("--soft");
  g.textAlign = "center";
  for (let t = Math.ceil(timeline.from / step) * step; t <= timeline.to; t += step) {
    const x = xOf(t);
    g.beginPath(); g.moveTo(x, 0); g.lineTo(x, height - axisHeight + 4); g.stroke();
    g.fillText(timeText(t), Math.min(x, timeline.width - 34), height - 11);
  }
}
function drawBars(g, row, y) {
  const ink = style("--path"), paper = style("--paper"), hasPath = state.showPath && placement().path.length > 0;
  let until = -1;
  for (let i = firstVisible(row, timeline.from); i < row.bars.length; i++) {
    const b = row.bars[i];
    if (b.start > timeline.to) break;
    if (b.start + b.time < timeline.from) continue;
    const left = Math.max(labelWidth, xOf(b.start)), right = Math.min(timeline.width - 8, xOf(b.start + b.time));
    const width = Math.max(0.6, right - left), lit = hasPath && b.path;
    if (left + width <= until + 0.3 && !lit) continue;
    until = left + width;
    const opacity = row.faint ? 0.55 : hasPath && !b.path ? 0.45 : 1;
    g.globalAlpha = opacity;
    g.fillStyle = colorOf(b.color);
    g.fillRect(left, y, width, barHeight);
    g.globalAlpha = 1;
    if (lit) { g.fillStyle = ink; g.fillRect(left, y + barHeight - 3, width, 3); }
    if (width > 34) {
      g.fillStyle = inkOn(colorOf(b.color), opacity, paper); g.textAlign = "left";
      g.fillText(shorten(g, barName(b), width - 6), left + 3, y + barHeight / 2);
    }
  }
}
function barName(b) {
  if (b.name !== undefined) return b.name;
  if (b.transfer !== undefined) return data.ops.name[placement().transfers[b.transfer].op];
  return data.ops.name[b.op];
}
function drawTimeline() {
  const height = timeline.rows.length * rowHeight + axisHeight + 6;
  const { g, width } = prepareCanvas(timeline.canvas, height);
  timeline.width = width;
  drawAxis(g, height);
  timeline.rows.forEach((row, i) => {
    const y = 5 + i * rowHeight;
    g.fillStyle = row.faint ? style("--soft") : style("--ink");
    g.textAlign = "right";
    g.fillText(shorten(g, row.label, labelWidth - 12), labelWidth - 6, y + barHeight / 2);
    drawBars(g, row, y);
  });
  if (timeline.drag) {
    g.fillStyle = "#0072b233";
    g.fillRect(Math.min(timeline.drag.x, timeline.drag.now), 0, Math.abs(timeline.drag.now - timeline.drag.x), height - axisHeight);
  }
}
function barAt(x, y) {
  const row = timeline.rows[Math.floor((y - 3) / rowHeight)];
  if (!row || x < labelWidth) return null;
  const us = usOf(x), slack = (timeline.to - timeline.from) / timeline.width * 2;
  let best = null, distance = Infinity;
  for (let i = firstVisible(row, us - slack); i < row.bars.length && row.bars[i].start <= us + slack; i++) {
    const b = row.bars[i];
    if (b.start + b.time < us - slack) continue;
    const d = us < b.start ? b.start - us : us > b.start + b.time ? us - b.start - b.time : 0;
    if (d <= distance) { distance = d; best = b; }
  }
  return best;
}
function reasonText(reason) {
  return { first: "starts at once", input: "waited for its input", device: "waited for its device", traffic: "waited for other transfers" }[reason] || "";
}
function pathItem(b) {
  return placement().path.find(i => b.transfer !== undefined ? i.transfer === b.transfer : i.op === b.op && !b.measured && i.op !== undefined);
}
function barText(b) {
  const p = placement(), lines = [barName(b)];
  if (b.transfer !== undefined) {
    const t = p.transfers[b.transfer];
    lines.push("transfer " + data.devices[t.from].id + " → " + data.devices[t.to].id + (t.reader !== undefined ? " for " + data.ops.name[t.reader] : ""));
    lines.push(bytesText(t.bytes));
  } else if (b.op >= 0) {
    if (data.ops.type[b.op]) lines.push(data.ops.type[b.op]);
    if (b.measured) lines.push("measured; predicted " + timeText(p.time_us[b.op]));
  }
  if (b.age !== undefined) lines.push(b.age === 0 ? "of the newest request" : "of the request " + b.age + " before the newest");
  const at = b.whole === undefined ? b : { start: b.whole, time: b.length };
  lines.push(timeText(at.start) + " + " + timeText(at.time) + (b.age === undefined ? "" : " after the request began"));
  const item = b.measured ? null : pathItem(b);
  if (item) lines.push("on the critical path: " + reasonText(item.reason));
  return lines.join("\n");
}
function clampView(from, to) {
  const full = fullSpan(), least = full / 1e6;
  let span = Math.min(full, Math.max(least, to - from));
  if (from < 0) from = 0;
  if (from + span > full) from = full - span;
  timeline.from = from;
  timeline.to = from + span;
  drawTimeline();
}
function zoomTimeline(factor, center) {
  const at = center === undefined ? (timeline.from + timeline.to) / 2 : center;
  clampView(at - (at - timeline.from) * factor, at + (timeline.to - at) * factor);
}
function resetTimeline() { timeline.from = 0; timeline.to = fullSpan(); timeline.focus = -1; buildRows(); drawTimeline(); }
function focusPath(step) {
  const p = placement();
  if (!p.path.length) return false;
  const next = timeline.focus + step;
  if (next < 0 || next >= p.path.length) { timeline.focus = -1; hideTip(); return false; }
  timeline.focus = next;
  const item = p.path[next], t = item.transfer !== undefined ? p.transfers[item.transfer] : null;
  const start = t ? t.start_us : p.start_us[item.op], time = t ? t.time_us : p.time_us[item.op];
  const span = timeline.to - timeline.from;
  if (start < timeline.from || start + time > timeline.to) clampView(start - span / 3, start - span / 3 + span);
  const box = timeline.canvas.getBoundingClientRect();
  showTip(barText(t ? { transfer: item.transfer, start, time } : { op: item.op, start, time }), box.left + xOf(start), box.top + 30);
  return true;
}
function bindTimeline() {
  const c = timeline.canvas, tools = byId("timeline-tools");
  const tool = (text, run) => tools.append(element("button", { type: "button", onclick: run }, text));
  tool("all", () => clampView(0, fullSpan()));
  tool("+", () => zoomTimeline(0.5));
  tool("−", () => zoomTimeline(2));
  const lit = element("button", { type: "button", "aria-pressed": "true", id: "path-button" }, "critical path");
  lit.addEventListener("click", () => { state.showPath = !state.showPath; lit.setAttribute("aria-pressed", state.showPath); drawTimeline(); });
  if (data.objective !== "period") tools.append(lit);
  if (data.placements.length > 1) {
    const choice = element("select", { "aria-label": "placement" });
    data.placements.forEach((p, i) => choice.append(element("option", { value: i }, p.name + ", " + timeText(p.objective_us))));
    choice.addEventListener("change", () => { state.placement = Number(choice.value); renderAll(); });
    tools.append(choice);
  }
  c.addEventListener("pointermove", e => {
    const box = c.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    if (timeline.drag) { timeline.drag.now = x; drawTimeline(); return; }
    const b = barAt(x, y);
    if (b) showTip(barText(b), e.clientX, e.clientY); else hideTip();
  });
  c.addEventListener("pointerleave", () => { if (!timeline.drag) hideTip(); });
  c.addEventListener("pointerdown", e => {
    const x = e.clientX - c.getBoundingClientRect().left;
    if (x > labelWidth) { timeline.drag = { x, now: x }; c.setPointerCapture(e.pointerId); }
  });
  c.addEventListener("pointerup", () => {
    const d = timeline.drag;
    timeline.drag = null;
    if (d && Math.abs(d.now - d.x) > 4) clampView(usOf(Math.min(d.x, d.now)), usOf(Math.max(d.x, d.now)));
    else drawTimeline();
  });
  c.addEventListener("wheel", e => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoomTimeline(e.deltaY > 0 ? 1.25 : 0.8, usOf(e.clientX - c.getBoundingClientRect().left));
  }, { passive: false });
  c.addEventListener("keydown", e => {
    const span = timeline.to - timeline.from;
    if (e.key === "+" || e.key === "=") zoomTimeline(0.5);
    else if (e.key === "-") zoomTimeline(2);
    else if (e.key === "0") clampView(0, fullSpan());
    else if (e.key === "ArrowLeft") clampView(timeline.from - span / 8, timeline.to - span / 8);
    else if (e.key === "ArrowRight") clampView(timeline.from + span / 8, timeline.to + span / 8);
    else if (e.key === "Tab" && state.showPath) { if (!focusPath(e.shiftKey ? -1 : 1)) return; }
    else if (e.key === "Escape") { timeline.focus = -1; hideTip(); }
    else return;
    e.preventDefault();
  });
}
