// A small chart: one figure over time, gaps left open.

import { h, s } from "./dom.js";
import { time, unit } from "./words.js";

const WIDTH = 600;
const HEIGHT = 120;
/// What people call PVE's figures.
const NAMES = { cpu: "CPU", mem: "Memory", netin: "Network in", netout: "Network out", diskread: "Disk read", diskwrite: "Disk written" };

export function chart(series, step) {
  const { points } = series;
  const name = NAMES[series.name] ?? series.name;
  const [from, to] = [points[0][0], points[points.length - 1][0]];
  const most = Math.max(series.max, series.unit === "share" ? 0.01 : 1e-9) * 1.1;
  const x = (at) => to === from ? WIDTH : ((at - from) / (to - from)) * WIDTH;
  const y = (value) => HEIGHT - (Math.max(0, value) / most) * HEIGHT;
  // A time without figures is a gap, not a line across it.
  const runs = [];
  let last = null;
  for (const point of points) {
    if (last === null || point[0] - last > step * 1.5) runs.push([]);
    runs[runs.length - 1].push(point);
    last = point[0];
  }
  const place = ([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`;
  const drawn = runs.flatMap((run) => [
    s("path", { class: "area", d: `M${x(run[0][0]).toFixed(1)},${HEIGHT} L${run.map(place).join(" ")} L${x(run[run.length - 1][0]).toFixed(1)},${HEIGHT} Z` }),
    s("polyline", { class: "line", points: run.map(place).join(" ") }),
  ]);
  const at = s("line", { class: "at", y1: 0, y2: HEIGHT, visibility: "hidden" });
  const told = h("span", {});
  const show = (event) => {
    const box = svg.getBoundingClientRect();
    const wanted = from + ((event.clientX - box.left) / box.width) * (to - from);
    const near = points.reduce((best, point) => Math.abs(point[0] - wanted) < Math.abs(best[0] - wanted) ? point : best);
    at.setAttribute("x1", x(near[0]));
    at.setAttribute("x2", x(near[0]));
    at.setAttribute("visibility", "visible");
    told.textContent = `${time(near[0])}: ${unit(near[1], series.unit)}`;
  };
  const words = `${name}: least ${unit(series.min, series.unit)}, average ${unit(series.average, series.unit)}, most ${unit(series.max, series.unit)}, last ${unit(series.last, series.unit)}`;
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": words,
    onpointermove: show, onpointerleave: () => { at.setAttribute("visibility", "hidden"); told.textContent = ""; } },
  [0.25, 0.5, 0.75].map((part) => s("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT * part, y2: HEIGHT * part })), drawn, at);
  return h("figure", { class: "chart" },
    h("figcaption", {}, h("b", {}, name), ` now ${unit(series.last, series.unit)}, most ${unit(series.max, series.unit)}`),
    svg, h("div", { class: "ends quiet" }, h("span", {}, time(from)), h("span", {}, time(to))),
    h("p", { class: "told quiet" }, told));
}
