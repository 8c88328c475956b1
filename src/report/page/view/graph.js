// SPDX-License-Identifier: Apache-2.0
// Graph: boxes in layers, longest path from the inputs; many ops are collapsed
// into boxes by the beginning of their names.
const graph = { canvas: byId("graph"), boxes: [], lines: [], x: 0, y: 0, zoom: 1, drag: null, open: new Set(), search: "" };
const mostBoxes = 400, boxWidth = 120, boxHeight = 26, gapX = 18, gapY = 20, graphHeight = 560;

function prefixOf(name, depth) {
  const separator = /[\/.:_]/g;
  for (let match; (match = separator.exec(name));) if (--depth === 0) return name.slice(0, match.index);
  return name;
}
// Group of each op: itself, or a block that is not opened.
function groupOps() {
  const groups = new Array(nOps);
  if (nOps <= mostBoxes) { for (let i = 0; i < nOps; i++) groups[i] = "op " + i; return groups; }
  let depth = 12, count = Infinity;
  for (; depth > 0; depth--) {
    const seen = new Set();
    for (let i = 0; i < nOps && seen.size <= mostBoxes; i++) seen.add(prefixOf(data.ops.name[i], depth));
    count = seen.size;
    if (count <= mostBoxes && count > 1) break;
  }
  const run = Math.ceil(nOps / (mostBoxes / 2));
  for (let i = 0; i < nOps; i++) {
    const key = depth > 0 ? prefixOf(data.ops.name[i], depth) : "ops " + Math.floor(i / run) * run + " to " + (Math.min(nOps, (Math.floor(i / run) + 1) * run) - 1);
    groups[i] = graph.open.has(key) ? "op " + i : "in " + key;
  }
  return groups;
}
function layoutGraph() {
  const p = placement(), groups = groupOps(), index = new Map(), boxes = [];
  for (let i = 0; i < nOps; i++) {
    let b = index.get(groups[i]);
    if (!b) {
      b = { key: groups[i].slice(3), single: groups[i].startsWith("op ") ? i : -1, ops: [], layer: 0, first: i, counts: new Map(), edges: [] };
      index.set(groups[i], b);
      boxes.push(b);
    }
    b.ops.push(i);
    b.counts.set(p.device[i], (b.counts.get(p.device[i]) || 0) + 1);
  }
  const seen = new Map(), lines = [];
  for (let e = 0; e < data.edges.from.length; e++) {
    const a = index.get(groups[data.edges.from[e]]), b = index.get(groups[data.edges.to[e]]);
    if (a === b) continue;
    const key = boxes.length * a.first + b.first, crosses = p.device[data.edges.from[e]] !== p.device[data.edges.to[e]];
    let line = seen.get(key);
    if (!line) { line = { a, b, crosses: false }; seen.set(key, line); lines.push(line); }
    line.crosses = line.crosses || crosses;
  }
  // Ops are numbered in topological order: lines go forward except between
  // blocks that interleave, which keep the layer they have.
  boxes.sort((a, b) => a.first - b.first);
  for (const line of lines) line.a.edges.push(line);
  for (const b of boxes) for (const line of b.edges) if (line.b.first > b.first) line.b.layer = Math.max(line.b.layer, b.layer + 1);
  const layers = [];
  for (const b of boxes) (layers[b.layer] = layers[b.layer] || []).push(b);
  const sources = new Map(boxes.map(b => [b, []]));
  for (const line of lines) if (line.b.layer > line.a.layer) sources.get(line.b).push(line.a);
  for (let l = 0; l < layers.length; l++) {
    const row = layers[l] || [];
    for (const b of row) {
      const from = sources.get(b);
      b.wish = from.length ? from.reduce((s, a) => s + a.x, 0) / from.length : 0;
    }
    row.sort((a, b) => a.wish - b.wish || a.first - b.first);
    const total = row.length * (boxWidth + gapX) - gapX;
    row.forEach((b, i) => { b.x = i * (boxWidth + gapX) - total / 2 + boxWidth / 2; b.y = l * (boxHeight + gapY); });
  }
  foldLayers(layers);
  graph.boxes = boxes;
  graph.lines = lines;
}
// Deep graphs continue at the top of a further column, by the number of columns
// with which the boxes are largest.
function foldLayers(layers) {
  const widest = Math.max(...layers.map(row => (row || []).length)) * (boxWidth + gapX) + 2 * gapX;
  const width = (graph.canvas.clientWidth || 800) - 40, height = graphHeight - 40;
  let best = 0, most = layers.length;
  for (let columns = 1; columns <= layers.length; columns++) {
    const rows = Math.ceil(layers.length / columns), zoom = Math.min(width / (columns * widest), height / (rows * (boxHeight + gapY)));
    if (zoom > best) { best = zoom; most = rows; }
  }
  layers.forEach((row, l) => { for (const b of row) { b.x += Math.floor(l / most) * widest; b.y = l % most * (boxHeight + gapY); } });
}
function fitGraph() {
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const b of graph.boxes) {
    left = Math.min(left, b.x - boxWidth / 2); right = Math.max(right, b.x + boxWidth / 2);
    top = Math.min(top, b.y); bottom = Math.max(bottom, b.y + boxHeight);
  }
  const width = graph.canvas.clientWidth || 800;
  graph.zoom = Math.min(1.2, (width - 40) / Math.max(1, right - left), Math.max(0.35, (graphHeight - 40) / Math.max(1, bottom - top)));
  graph.x = (left + right) / 2;
  graph.y = top + Math.min((bottom - top) / 2, (graphHeight - 40) / 2 / graph.zoom - 10);
}
function screenX(x) { return (x - graph.x) * graph.zoom + graph.width / 2; }
function screenY(y) { return (y - graph.y) * graph.zoom + graph.height / 2; }
function boxName(b) { return b.single >= 0 ? data.ops.name[b.single] : b.key; }
function drawGraph() {
  const { g, width, height } = prepareCanvas(graph.canvas, graphHeight);
  graph.width = width; graph.height = height;
  const soft = style("--line"), ink = style("--ink"), limit = style("--limit");
  for (const pass of [false, true]) {
    g.beginPath();
    for (const line of graph.lines) {
      if (line.crosses !== pass) continue;
      const x1 = screenX(line.a.x), y1 = screenY(line.a.y + boxHeight), x2 = screenX(line.b.x), y2 = screenY(line.b.y);
      if (Math.max(y1, y2) < 0 || Math.min(y1, y2) > height || Math.max(x1, x2) < 0 || Math.min(x1, x2) > width) continue;
      g.moveTo(x1, y1); g.lineTo(x2, y2);
    }
    g.strokeStyle = pass ? limit : soft;
    g.lineWidth = pass ? 1.6 : 1;
    g.stroke();
  }
  const needle = graph.search.toLowerCase();
  let named = 0;
  for (const b of graph.boxes) {
    const w = boxWidth * graph.zoom, h = boxHeight * graph.zoom, x = screenX(b.x) - w / 2, y = screenY(b.y);
    if (x + w < 0 || y + h < 0 || x > width || y > height) continue;
    let at = x;
    for (const [k, n] of [...b.counts].sort((p, q) => p[0] - q[0])) {
      g.fillStyle = colorOf(k);
      g.fillRect(at, y, w * n / b.ops.length + 0.5, h);
      at += w * n / b.ops.length;
    }
    const found = needle && b.ops.some(i => data.ops.name[i].toLowerCase().includes(needle));
    if (b.single < 0 || found) { g.strokeStyle = ink; g.lineWidth = found ? 4 : 1.5; g.strokeRect(x, y, w, h); }
    if (h > 11) {
      named++;
      g.save(); g.fillStyle = "#fff"; g.textAlign = "center"; g.shadowColor = "#000"; g.shadowBlur = 3;
      const label = b.single >= 0 ? boxName(b).split("/").pop() : boxName(b) + " (" + b.ops.length + ")";
      g.fillText(shorten(g, label, w - 6), x + w / 2, y + h / 2);
      g.restore();
    }
  }
  graph.canvas.setAttribute("aria-label", "Graph of ops, coloured by device: the names of " + named + " of " + graph.boxes.length + " boxes are shown");
}
function boxAt(x, y) {
  for (const b of graph.boxes) {
    const w = boxWidth * graph.zoom, h = boxHeight * graph.zoom, left = screenX(b.x) - w / 2, top = screenY(b.y);
    if (x >= left && x <= left + w && y >= top && y <= top + h) return b;
  }
  return null;
}
function boxText(b) {
  const p = placement(), lines = [boxName(b)];
  if (b.single >= 0) {
    const i = b.single;
    if (data.ops.type[i]) lines.push(data.ops.type[i]);
    lines.push("on " + data.devices[p.device[i]].id + ", " + timeText(p.start_us[i]) + " + " + timeText(p.time_us[i]));
    lines.push("memory " + bytesText(data.ops.memory_bytes[i]));
  } else {
    lines.push(b.ops.length + " ops; click to open");
    for (const [k, n] of b.counts) lines.push(n + " on " + data.devices[k].id);
  }
  return lines.join("\n");
}
function zoomGraph(factor, x, y) {
  const cx = x === undefined ? graph.width / 2 : x, cy = y === undefined ? graph.height / 2 : y;
  const worldX = (cx - graph.width / 2) / graph.zoom + graph.x, worldY = (cy - graph.height / 2) / graph.zoom + graph.y;
  graph.zoom = Math.min(4, Math.max(0.02, graph.zoom * factor));
  graph.x = worldX - (cx - graph.width / 2) / graph.zoom;
  graph.y = worldY - (cy - graph.height / 2) / graph.zoom;
  drawGraph();
}
function bindGraph() {
  const c = graph.canvas, tools = byId("graph-tools");
  const tool = (text, run) => tools.append(element("button", { type: "button", onclick: run }, text));
  tool("all", () => { fitGraph(); drawGraph(); });
  tool("+", () => zoomGraph(1.4));
  tool("−", () => zoomGraph(1 / 1.4));
  if (nOps > mostBoxes) tool("collapse", () => { graph.open.clear(); layoutGraph(); fitGraph(); drawGraph(); });
  tools.append(element("input", { type: "search", placeholder: "find an op", "aria-label": "find an op", oninput: e => {
    graph.search = e.target.value;
    const needle = graph.search.toLowerCase();
    const b = needle ? graph.boxes.find(q => q.ops.some(i => data.ops.name[i].toLowerCase().includes(needle))) : null;
    if (b) { graph.x = b.x; graph.y = b.y; graph.zoom = Math.max(graph.zoom, 0.7); }
    drawGraph();
  } }));
  c.addEventListener("pointermove", e => {
    const box = c.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    if (graph.drag) {
      graph.x = graph.drag.x - (x - graph.drag.fromX) / graph.zoom;
      graph.y = graph.drag.y - (y - graph.drag.fromY) / graph.zoom;
      graph.drag.moved = graph.drag.moved || Math.abs(x - graph.drag.fromX) + Math.abs(y - graph.drag.fromY) > 4;
      drawGraph();
      return;
    }
    const b = boxAt(x, y);
    if (b) showTip(boxText(b), e.clientX, e.clientY); else hideTip();
  });
  c.addEventListener("pointerleave", hideTip);
  c.addEventListener("pointerdown", e => {
    const box = c.getBoundingClientRect();
    graph.drag = { fromX: e.clientX - box.left, fromY: e.clientY - box.top, x: graph.x, y: graph.y, moved: false };
    c.setPointerCapture(e.pointerId);
  });
  c.addEventListener("pointerup", e => {
    const d = graph.drag, box = c.getBoundingClientRect();
    graph.drag = null;
    if (!d || d.moved) return;
    const b = boxAt(e.clientX - box.left, e.clientY - box.top);
    if (b && b.single < 0) { graph.open.add(b.key); layoutGraph(); drawGraph(); }
  });
  c.addEventListener("wheel", e => {
    if (document.activeElement !== c && !e.ctrlKey) return;
    e.preventDefault();
    const box = c.getBoundingClientRect();
    zoomGraph(e.deltaY > 0 ? 0.87 : 1.15, e.clientX - box.left, e.clientY - box.top);
  }, { passive: false });
  c.addEventListener("keydown", e => {
    const step = 60 / graph.zoom;
    if (e.key === "+" || e.key === "=") zoomGraph(1.4);
    else if (e.key === "-") zoomGraph(1 / 1.4);
    else if (e.key === "0") { fitGraph(); drawGraph(); }
    else if (e.key === "ArrowLeft") { graph.x -= step; drawGraph(); }
    else if (e.key === "ArrowRight") { graph.x += step; drawGraph(); }
    else if (e.key === "ArrowUp") { graph.y -= step; drawGraph(); }
    else if (e.key === "ArrowDown") { graph.y += step; drawGraph(); }
    else return;
    e.preventDefault();
  });
}
