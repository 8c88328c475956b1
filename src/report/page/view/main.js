// SPDX-License-Identifier: Apache-2.0
// The whole page.
function renderHead() {
  const file = data.graph.split("/").pop(), used = placement().shares.filter(s => s.ops > 0).length;
  byId("title").textContent = file + " on " + data.cluster.split("/").pop();
  byId("subject").textContent = nOps + " ops on " + used + " of " + nDevices + " devices; " + data.placements[0].name + "; congestion " + data.congestion + ", tensors " + data.tensors + ", memory " + data.memory;
  byId("path-note").hidden = data.objective === "period";
  byId("timeline-note").textContent = data.objective === "period" ? "One period of the steady state: every request repeats it. A bar that is cut at the right end continues at the left one, for the request before. " : "";
  byId("words").replaceChildren(...data.words.map(w => element("li", {}, w)));
  byId("device-keys").replaceChildren(...data.devices.map((d, k) => {
    const label = deviceLabel(k);
    if (d.model && d.model !== d.id) label.append(" (" + d.model + ")");
    return label;
  }));
}
function renderAll() {
  renderHead();
  renderFigures();
  resetTimeline();
  renderShares();
  renderMemory();
  layoutGraph();
  fitGraph();
  drawGraph();
  renderPairs();
  renderWorth();
  renderRuns();
  renderMethods();
}
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "light" : "dark";
}
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
setTheme(prefersDark.matches ? "dark" : "light");
byId("theme").addEventListener("click", () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); renderAll(); });
prefersDark.addEventListener("change", e => { setTheme(e.matches ? "dark" : "light"); renderAll(); });
bindTimeline();
bindGraph();
renderAll();
let resizing = 0;
window.addEventListener("resize", () => { cancelAnimationFrame(resizing); resizing = requestAnimationFrame(() => { drawTimeline(); drawGraph(); }); });
window.addEventListener("beforeprint", () => { setTheme("light"); renderAll(); });
document.documentElement.dataset.ready = "yes";
