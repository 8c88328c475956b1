// SPDX-License-Identifier: Apache-2.0
// Figures, shares of time, memory over time, transfers, worth, methods.
function figure(value, text) { return element("div", { class: "figure" }, element("b", {}, value), text); }

function renderFigures() {
  const p = placement(), period = data.objective === "period", box = byId("figures");
  box.replaceChildren(figure(timeText(p.objective_us), period ? "between two requests" : "for one request"));
  const gap = p.claimed_gap !== undefined ? p.claimed_gap : p.gap, own = p.bound_us === undefined ? "" : timeText(p.bound_us);
  if (gap !== undefined) box.append(figure(percentText(gap), "gap at most ¹"));
  byId("gap-note").textContent = gap === undefined ? "" :
    p.claimed_gap === undefined ? "¹ To the lower bound " + own + ", proven here by " + p.bound_by + "." :
    "¹ To the lower bound " + timeText(p.claimed_bound_us) + " that " + p.claimed_by + " claims in the file; this page does not prove it again." +
    (own ? " The bound that was recomputed here is " + own + "." : "");
  if (p.single_us !== undefined && p.objective_us > 0) {
    box.append(figure((p.single_us / p.objective_us).toFixed(2) + " ×", "the speed of " + data.devices[p.single].id + " alone"));
  }
  if (period) box.append(figure(String(p.in_flight), "requests in flight"));
  if (data.measured && state.placement === 0) box.append(figure(timeText(data.measured.makespan_us), "measured"));
}
function renderShares() {
  const p = placement(), period = data.objective === "period", whole = Math.max(p.repeat_us || p.makespan_us, 1e-9);
  const rows = p.shares.map((s, k) => {
    const bar = element("div", { class: "bar", role: "img", "aria-label": "compute " + percentText(s.compute_us / whole) + ", transfers " + percentText(s.transfer_us / whole) });
    const compute = element("span"), transfer = element("span", { class: "transfers" });
    compute.style.background = colorOf(k);
    compute.style.width = 100 * s.compute_us / whole + "%";
    transfer.style.width = 100 * s.transfer_us / whole + "%";
    bar.append(compute, transfer);
    return [deviceLabel(k), String(s.ops), bar, percentText(s.compute_us / whole), percentText(s.transfer_us / whole), percentText(s.idle_us / whole), ...(period ? [] : [percentText(s.path_us / whole)])];
  });
  byId("shares").replaceChildren(table([{ text: "device" }, { text: "ops", number: true }, { text: "compute, transfers (hatched), waiting" }, { text: "compute", number: true }, { text: "transfers only", number: true }, { text: "waiting", number: true }, ...(period ? [] : [{ text: "on the critical path", number: true }])], rows));
  renderResources();
}
// What a request occupies: it is the same in every period.
function renderResources() {
  const p = placement(), most = 30, list = (p.resources || []).slice().sort((a, b) => b.busy_us - a.busy_us);
  const rows = list.slice(0, most).map(r => [r.name === p.bottleneck ? element("b", {}, r.name + ", the bottleneck") : r.name, barOf(r.busy_us, Math.max(p.objective_us, 1e-9)), timeText(r.busy_us), percentText(r.busy_us / Math.max(p.objective_us, 1e-9))]);
  const left = list.length > most ? [element("p", { class: "soft" }, (list.length - most) + " resources that are less busy are left out.")] : [];
  byId("resources").replaceChildren(...(rows.length ? [table([{ text: "resource" }, { text: "" }, { text: "busy in a period", number: true }, { text: "of the period", number: true }], rows), ...left] : []));
}
function memoryChart(k) {
  const p = placement(), points = p.memory_use[k], capacity = data.devices[k].capacity_bytes;
  const peak = p.shares[k].peak_bytes, width = 560, height = 110, left = 70, bottom = 18;
  const most = Math.max(peak, capacity === null || capacity > 4 * peak ? 0 : capacity, 1) * 1.08, end = Math.max(p.repeat_us || p.makespan_us, 1e-9);
  const x = us => left + (width - left - 6) * Math.min(us, end) / end, y = bytes => height - bottom - (height - bottom - 8) * bytes / most;
  let path = "", last = 0;
  for (const [us, bytes] of points) {
    path += (path ? "L" + x(us).toFixed(1) + " " + y(last).toFixed(1) : "M" + x(0) + " " + y(0)) + "L" + x(us).toFixed(1) + " " + y(bytes).toFixed(1);
    last = bytes;
  }
  path += "L" + x(end).toFixed(1) + " " + y(last).toFixed(1) + "L" + x(end).toFixed(1) + " " + y(0) + "Z";
  const limit = capacity !== null && capacity <= most;
  const holder = element("figure");
  holder.innerHTML = '<svg viewBox="0 0 ' + width + " " + height + '" width="100%" style="max-width:' + width + 'px" role="img"><path fill-opacity=".75"/><line class="axis"/><text class="top" text-anchor="end"/><text class="end" text-anchor="end"/></svg>';
  const svg = holder.firstChild;
  svg.setAttribute("aria-label", "memory of " + data.devices[k].id + ", at most " + bytesText(peak));
  svg.querySelector("path").setAttribute("d", path);
  svg.querySelector("path").setAttribute("fill", colorOf(k));
  const put = (e, a) => { for (const n in a) e.setAttribute(n, a[n]); };
  put(svg.querySelector(".axis"), { x1: left, x2: width - 6, y1: y(0), y2: y(0), stroke: "currentColor", "stroke-opacity": ".4" });
  put(svg.querySelector(".top"), { x: left - 6, y: Math.max(12, y(peak) + 4) });
  svg.querySelector(".top").textContent = bytesText(peak);
  put(svg.querySelector(".end"), { x: width - 6, y: height - 3 });
  svg.querySelector(".end").textContent = timeText(end);
  if (limit) {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    put(line, { x1: left, x2: width - 6, y1: y(capacity), y2: y(capacity), stroke: style("--limit"), "stroke-width": 1.5, "stroke-dasharray": "5 3" });
    svg.append(line);
  }
  const used = capacity ? ", " + percentText(peak / capacity) + " of " + bytesText(capacity) : ", no limit";
  holder.append(element("figcaption", {}, deviceLabel(k), ": at most " + bytesText(peak) + used + (limit ? " (dashed)" : "")));
  return holder;
}
function renderMemory() {
  const box = byId("memory");
  box.style.display = "grid";
  box.style.gridTemplateColumns = "repeat(auto-fill, minmax(min(20rem, 100%), 1fr))";
  box.style.gap = "1rem";
  box.replaceChildren(...data.devices.map((d, k) => memoryChart(k)));
}
function renderPairs() {
  const p = placement(), period = data.objective === "period", whole = Math.max(p.repeat_us || p.makespan_us, 1e-9), box = byId("pairs");
  if (!p.pairs.length) { box.replaceChildren(element("p", {}, "There are none: everything is on one device.")); return; }
  const rows = p.pairs.map(s => [element("span", {}, swatch(s.from), data.devices[s.from].id + " → " + data.devices[s.to].id), String(s.transfers), bytesText(s.bytes), timeText(s.busy_us), percentText(s.busy_us / whole), ...(period ? [] : [percentText(s.path_us / whole)])]);
  box.replaceChildren(table([{ text: "from, to" }, { text: "transfers", number: true }, { text: "data", number: true }, { text: "time", number: true }, { text: period ? "of the period" : "of the makespan", number: true }, ...(period ? [] : [{ text: "on the critical path: the most that a faster link gains here", number: true }])], rows));
}
function barOf(value, most, device) {
  const bar = element("div", { class: "bar" }), span = element("span");
  span.style.width = 100 * value / most + "%";
  span.style.background = device === undefined ? "#0072b2" : colorOf(device);
  bar.append(span);
  return bar;
}
function renderWorth() {
  const list = data.without_device;
  byId("worth-part").hidden = !list && !data.no_without_device;
  if (!list) { byId("worth").replaceChildren(data.no_without_device || ""); return; }
  const now = data.placements[0].objective_us, most = Math.max(now, ...list.map(l => l.objective_us || 0), 1e-9);
  const rows = list.map(l => {
    if (l.why !== undefined) return [deviceLabel(l.device), element("span", { class: "soft" }, "no placement: " + l.why), "", ""];
    return [deviceLabel(l.device), barOf(l.objective_us, most, l.device), timeText(l.objective_us), (l.objective_us >= now ? "+" : "") + percentText(l.objective_us / now - 1)];
  });
  byId("worth").replaceChildren(element("p", { class: "soft" }, "The best placement found by a short search without that device, against " + timeText(now) + " with all of them."), table([{ text: "without" }, { text: "" }, { text: data.objective === "period" ? "period" : "time", number: true }, { text: "change", number: true }], rows));
}
function renderMethods() {
  const rows = data.placements.map(p => ({ name: p.name, us: p.objective_us, mine: true }));
  for (const m of data.methods || []) rows.push({ name: m.method, us: m.objective_us, why: m.why, fits: m.fits });
  if (data.copies) rows.push({ name: "all " + data.copies.placements + " copies together", us: data.copies.objective_us, mine: true });
  else if (data.replication) rows.push({ name: "replication: a whole copy on each of " + data.replication.devices + " devices", us: data.replication.objective_us });
  byId("methods-part").hidden = rows.length < 2;
  rows.sort((a, b) => (a.us === undefined) - (b.us === undefined) || a.us - b.us);
  const most = Math.max(...rows.map(r => r.us || 0), 1e-9), best = data.placements[0].objective_us;
  byId("methods").replaceChildren(table([{ text: "placement" }, { text: "" }, { text: data.objective === "period" ? "period" : "time", number: true }, { text: "against this one", number: true }], rows.map(r => {
    const name = r.mine ? element("b", {}, r.name) : r.name;
    if (r.us === undefined) return [name, element("span", { class: "soft" }, r.why || ""), "", ""];
    return [name, barOf(r.us, most, r.mine ? 0 : 7), timeText(r.us) + (r.fits === false ? ", exceeds memory" : ""), best > 0 ? (r.us / best).toFixed(2) + " ×" : ""];
  })));
}
function renderRuns() {
  const list = data.runs;
  byId("runs-part").hidden = !list;
  if (!list) return;
  const most = Math.max(...list.map(r => r.median_us || 0), 1e-9), placed = list[0].median_us;
  byId("runs").replaceChildren(table([{ text: "run" }, { text: "" }, { text: "median", number: true }, { text: "predicted", number: true }, { text: "against the placement", number: true }], list.map((r, i) => {
    if (r.why !== undefined) return [r.run, element("span", { class: "soft" }, r.why), "", "", ""];
    return [i ? r.run : element("b", {}, r.run), barOf(r.median_us, most, i ? 7 : 0), timeText(r.median_us), r.predicted_us === undefined ? "" : timeText(r.predicted_us), placed > 0 ? (r.median_us / placed).toFixed(2) + " ×" : ""];
  })));
}
