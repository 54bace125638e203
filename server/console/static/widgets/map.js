// A map of many points in a plane, on a canvas.

import { h, show } from "../dom.js";
import { t } from "../i18n.js";
import { COLOURS, OPEN, SHAPES, markPath } from "./plot.js";

/**
 * Points in a plane, on a canvas: `points` are `{x, y, group, text}` with the number of a group.
 *
 * Arrow keys go to the nearest point that way, Enter opens it, plus, minus and 0 zoom. `onPoint`
 * hears what is opened, `onFocus` what is under the pointer or the keyboard, or null.
 * Returns `{element, show({group, mark, near})}`.
 */
export function scatter({ title, description, points, names, labels = true, onPoint, onFocus }) {
  const base = h("canvas", { class: "map-canvas", role: "img", "aria-label": `${title}. ${description}` });
  const over = h("canvas", {
    // which takes the arrow keys
    class: "map-canvas over",
    tabindex: "0",
    role: "application",
    "aria-roledescription": t("plot.map"),
    "aria-label": `${title}. ${description}`,
  });
  const tip = h("div", { class: "plot-tip placed", hidden: true });
  const inks = Array.from({ length: COLOURS }, (_, i) => h("i", { class: `ink ink-${i}` }));
  const [muted, text, panel] = ["muted", "text", "panel"].map((name) => h("i", { class: `ink ink-${name}` }));
  const stage = h("div", { class: "map-stage" }, base, over, tip);
  const tool = (name, label, act) =>
    h(
      "button",
      { type: "button", class: "button quiet", "aria-label": label, title: label, onClick: act },
      name,
    );
  const tools = h(
    "div",
    { class: "map-tools" },
    tool("+", t("plot.zoom_in"), () => zoom(1.5)),
    tool("−", t("plot.zoom_out"), () => zoom(1 / 1.5)),
    tool("⤢", t("plot.whole"), () => whole()),
  );
  stage.append(tools);
  const element = h(
    "figure",
    { class: "plot map" },
    h("div", { class: "inks", "aria-hidden": "true" }, inks, muted, text, panel),
    stage,
  );

  const bounds = boundsOf(points);
  const centres = centresOf(points);
  let size = { width: 0, height: 0, ratio: 1 };
  let place = { zoom: 1, x: 0, y: 0 };
  let shown = { group: null, mark: null, near: [] };
  let focused = null;
  const radius = points.length > 1500 ? 2.8 : points.length > 300 ? 3.5 : 4.5;
  let stamps = new Map();
  let palette = [];

  const plane = ({ x, y }) => {
    const side = Math.min(size.width, size.height) - 48;
    const wide = (size.width - 48) / side;
    const tall = (size.height - 48) / side;
    const px = ((x - bounds.x) / bounds.width - 0.5) * side * wide;
    const py = (0.5 - (y - bounds.y) / bounds.height) * side * tall;
    return [size.width / 2 + (px + place.x) * place.zoom, size.height / 2 + (py + place.y) * place.zoom];
  };

  function stamp(group) {
    const key = `${group % COLOURS}/${group % SHAPES.length}`;
    const kept = stamps.get(key);
    if (kept) return kept;
    const edge = Math.ceil(14 * size.ratio);
    const canvas = new OffscreenCanvas(edge, edge);
    const brush = canvas.getContext("2d");
    brush.scale(size.ratio, size.ratio);
    brush.globalAlpha = 0.9;
    paintMark(brush, SHAPES[group % SHAPES.length], 7, 7, radius, palette[group % COLOURS], palette.panel);
    const made = canvas.transferToImageBitmap(); // quick to draw thousands of times
    stamps.set(key, made);
    return made;
  }

  function paint() {
    if (!size.width) return;
    const brush = base.getContext("2d");
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, base.width, base.height);
    paintPoints(brush, points);
    brush.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    if (labels) paintNames(brush, centres);
    paintOver();
  }

  function paintPoints(brush, some) {
    const half = 7 * size.ratio;
    for (const point of some) {
      const [px, py] = plane(point);
      if (px < -9 || py < -9 || px > size.width + 9 || py > size.height + 9) continue;
      brush.drawImage(stamp(point.group), px * size.ratio - half, py * size.ratio - half);
    }
  }

  function paintNames(brush, some) {
    const taken = [];
    brush.font = "600 12px system-ui, sans-serif";
    brush.textAlign = "center";
    brush.textBaseline = "middle";
    brush.lineJoin = "round";
    for (const centre of some) {
      const name = names[centre.group];
      const wide = brush.measureText(name).width / 2 + 4;
      const [middle, top] = plane(centre);
      if (middle < 0 || middle > size.width || top < 0 || top > size.height) continue;
      const px = Math.max(wide, Math.min(size.width - wide, middle));
      const py = Math.max(22, top);
      const box = [px - wide, py - 20, px + wide, py - 4];
      if (taken.some((other) => overlap(other, box))) continue;
      taken.push(box);
      brush.lineWidth = 4;
      brush.strokeStyle = palette.panel;
      brush.strokeText(name, px, py - 12);
      brush.fillStyle = palette.text;
      brush.fillText(name, px, py - 12);
    }
  }

  function paintOver() {
    const brush = over.getContext("2d");
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, over.width, over.height);
    if (shown.group !== null)
      paintPoints(
        brush,
        points.filter((point) => point.group === shown.group),
      );
    brush.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    if (shown.group !== null)
      paintNames(
        brush,
        centres.filter((point) => point.group === shown.group),
      );
    if (shown.mark) {
      const [px, py] = plane(shown.mark);
      brush.strokeStyle = palette.muted;
      brush.lineWidth = 1;
      brush.globalAlpha = 0.5;
      for (const index of shown.near) {
        brush.beginPath();
        brush.moveTo(px, py);
        brush.lineTo(...plane(points[index]));
        brush.stroke();
      }
      brush.globalAlpha = 1;
      paintStar(brush, px, py, 11, palette.text, palette.panel);
    }
    if (focused !== null) {
      const [px, py] = plane(points[focused]);
      brush.beginPath();
      brush.arc(px, py, 9, 0, 2 * Math.PI);
      brush.lineWidth = 2;
      brush.strokeStyle = palette.text;
      brush.stroke();
    }
  }

  function focus(index, { tell = false } = {}) {
    if (index === focused) return;
    focused = index;
    paintOver();
    tip.hidden = index === null;
    over.classList.toggle("on-point", index !== null);
    if (index !== null) {
      const point = points[index];
      const [px, py] = plane(point);
      show(
        tip,
        h("span", { class: "plot-tip-text", dir: "auto" }, point.text),
        h("span", { class: "plot-tip-name" }, h("bdi", null, names[point.group])),
      );
      const [wide, tall] = [tip.offsetWidth, tip.offsetHeight];
      const left = Math.max(6, Math.min(size.width - wide - 6, px - wide / 2));
      tip.style.setProperty("--at", `${left}px`);
      tip.style.setProperty("--top", `${py < tall + 20 ? py + 14 : py - tall - 14}px`);
    }
    onFocus?.(index === null ? null : points[index], tell);
  }

  function nearest(px, py, within) {
    let best = null;
    let least = within * within;
    points.forEach((point, index) => {
      const [x, y] = plane(point);
      const far = (x - px) ** 2 + (y - py) ** 2;
      if (far < least) [best, least] = [index, far];
    });
    return best;
  }

  function step(dx, dy) {
    if (focused === null) return nearest(size.width / 2, size.height / 2, Infinity);
    const [fx, fy] = plane(points[focused]);
    let best = focused;
    let least = Infinity;
    points.forEach((point, index) => {
      const [x, y] = plane(point);
      const ahead = (x - fx) * dx + (y - fy) * dy;
      const aside = Math.abs((x - fx) * dy) + Math.abs((y - fy) * dx);
      if (index === focused || ahead <= 0.5) return;
      const cost = ahead + 2.5 * aside;
      if (cost < least) [best, least] = [index, cost];
    });
    return best;
  }

  function zoom(by, at = [size.width / 2, size.height / 2]) {
    const next = Math.min(40, Math.max(1, place.zoom * by));
    const shift = 1 / next - 1 / place.zoom;
    place = {
      zoom: next,
      x: place.x + (at[0] - size.width / 2) * shift,
      y: place.y + (at[1] - size.height / 2) * shift,
    };
    if (next === 1) place = { zoom: 1, x: 0, y: 0 };
    moved();
  }

  function whole() {
    place = { zoom: 1, x: 0, y: 0 };
    moved();
  }

  let waiting = false;
  function moved() {
    if (focused !== null) focus(null);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  }

  const spot = (event) => {
    const box = over.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let grip = null;
  over.addEventListener("pointerdown", (event) => {
    grip = { from: spot(event), place, far: false };
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener("pointermove", (event) => {
    const at = spot(event);
    if (grip === null) {
      focus(nearest(...at, 14));
      return;
    }
    const [dx, dy] = [at[0] - grip.from[0], at[1] - grip.from[1]];
    if (!grip.far && Math.hypot(dx, dy) < 5) return;
    grip.far = true;
    if (place.zoom > 1) {
      place = { ...place, x: grip.place.x + dx / place.zoom, y: grip.place.y + dy / place.zoom };
      moved();
    }
  });
  over.addEventListener("pointerup", (event) => {
    const open = grip !== null && !grip.far;
    grip = null;
    if (!open) return;
    const found = nearest(...spot(event), 16);
    focus(found);
    onPoint?.(found === null ? null : points[found]);
  });
  over.addEventListener("pointercancel", () => {
    grip = null;
  });
  over.addEventListener("pointerleave", () => {
    if (grip === null) focus(null);
  });
  over.addEventListener("blur", () => focus(null));
  over.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && document.activeElement !== over) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, spot(event));
    },
    { passive: false },
  );
  over.addEventListener("keydown", (event) => {
    const act = {
      ArrowRight: () => focus(step(1, 0), { tell: true }),
      ArrowLeft: () => focus(step(-1, 0), { tell: true }),
      ArrowDown: () => focus(step(0, 1), { tell: true }),
      ArrowUp: () => focus(step(0, -1), { tell: true }),
      Enter: () => focused !== null && onPoint?.(points[focused]),
      Escape: () => {
        focus(null);
        onPoint?.(null);
      },
      "+": () => zoom(1.5),
      "=": () => zoom(1.5),
      "-": () => zoom(1 / 1.5),
      0: whole,
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  function readInks() {
    const ink = (probe) => getComputedStyle(probe).color;
    palette = Object.assign(inks.map(ink), {
      muted: ink(muted),
      text: ink(text),
      panel: ink(panel),
    });
    stamps = new Map();
    paint();
  }

  const sized = new ResizeObserver(() => {
    const box = stage.getBoundingClientRect();
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    if (box.width === size.width && box.height === size.height && ratio === size.ratio) return;
    size = { width: box.width, height: box.height, ratio };
    for (const canvas of [base, over]) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
    }
    if (palette.length > 0) readInks();
    else setTimeout(readInks); // what is around the map shows first
  });
  sized.observe(stage);
  const themed = new MutationObserver(readInks);
  themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });

  return {
    element,
    /** Let one group stand out, put the question's mark, join it with the points of `near`. */
    show(changes) {
      shown = { ...shown, ...changes };
      base.classList.toggle("faint", shown.group !== null);
      if (size.width) paintOver();
    },
    close() {
      sized.disconnect();
      themed.disconnect();
    },
  };
}

function paintMark(brush, shape, x, y, r, colour, edge) {
  const path = new Path2D(markPath(shape, x, y, r));
  if (OPEN.has(shape)) {
    brush.strokeStyle = colour;
    brush.lineWidth = 2.2;
    brush.stroke(path);
    return;
  }
  brush.fillStyle = colour;
  brush.fill(path);
  brush.strokeStyle = edge;
  brush.lineWidth = 1;
  brush.stroke(path);
}

function paintStar(brush, x, y, r, colour, edge) {
  brush.beginPath();
  for (let point = 0; point < 10; point += 1) {
    const far = point % 2 ? r * 0.45 : r;
    const turn = (Math.PI * point) / 5 - Math.PI / 2;
    brush.lineTo(x + far * Math.cos(turn), y + far * Math.sin(turn));
  }
  brush.closePath();
  brush.fillStyle = colour;
  brush.fill();
  brush.strokeStyle = edge;
  brush.lineWidth = 2;
  brush.stroke();
}

function boundsOf(points) {
  const box = { x: Infinity, y: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y } of points) {
    box.x = Math.min(box.x, x);
    box.y = Math.min(box.y, y);
    box.right = Math.max(box.right, x);
    box.bottom = Math.max(box.bottom, y);
  }
  return { x: box.x, y: box.y, width: box.right - box.x || 1, height: box.bottom - box.y || 1 };
}

/** Of each group the point that is nearest to its middle, those with most points first. */
function centresOf(points) {
  const groups = new Map();
  for (const point of points) {
    const group = groups.get(point.group);
    if (group) group.push(point);
    else groups.set(point.group, [point]);
  }
  return [...groups.values()]
    .sort((a, b) => b.length - a.length)
    .map((some) => {
      const mean = (axis) => some.reduce((sum, point) => sum + point[axis], 0) / some.length;
      const [x, y] = [mean("x"), mean("y")];
      const far = (point) => (point.x - x) ** 2 + (point.y - y) ** 2;
      return some.reduce((best, point) => (far(point) < far(best) ? point : best));
    });
}

function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}
