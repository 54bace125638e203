// The pictures of the page, drawn by strokes on a grid of 24.

import { s } from "../dom.js";

const PATHS = {
  ask: "M4 5h16v11H11l-4.5 4v-4H4z",
  library: "M5 4h4v16H5zM9 4h4v16H9zM14.2 4.8l3.8-.9 3.4 15.3-3.8.9z",
  evaluate: "M4 20V10M10 20V4M16 20v-7M22 20H2",
  author: "M4 20l1-4L16.5 4.5l3 3L8 19zM14 7l3 3",
  inbox: "M3 13l3-8h12l3 8v6H3zM3 13h5l1.5 3h5L16 13h5",
  operate: "M4 7h9M17 7h3M4 12h3M11 12h9M4 17h11M19 17h1M15 5v4M9 10v4M17 15v4",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M4 12.5l5 5L20 6.5",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  more: "M9 6l6 6-6 6",
  down: "M6 9l6 6 6-6",
  warn: "M12 4l9 16H3zM12 10v4M12 17v.5",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v5.5M12 7.5v.5",
  exit: "M14 4H5v16h9M10 12h11M17 8l4 4-4 4",
  key: "M8 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 12h9M18 12v3.5M21 12v2.5",
  refresh: "M20 11a8 8 0 1 0-1 5.5M20 5v6h-6",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.5 15.5L20.5 20.5",
  up: "M7 11v9H3v-9zM7 11l4.5-7c1.6 0 2.5 1 2.2 2.600L13 10h6.500c1.200 0 1.800 1 1.500 2l-1.800 6.500c-.300 1-1 1.500-2 1.500H7",
  thumbdown: "M7 13V4H3v9zM7 13l4.500 7c1.600 0 2.500-1 2.200-2.600L13 14h6.500c1.200 0 1.800-1 1.500-2l-1.800-6.500c-.300-1-1-1.500-2-1.500H7",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5.5l3.500 2",
  braces: "M9 4c-3 0-2.500 2-2.500 4S6 12 4 12c2 0 2.500 2 2.500 4S6 20 9 20M15 4c3 0 2.500 2 2.500 4s.5 4 2.500 4c-2 0-2.500 2-2.500 4s.5 4-2.500 4",
};

/** A picture by its name, as large as the text beside it; nothing of it is read out. */
export function icon(name) {
  const path = s("path", { d: PATHS[name] ?? "", "vector-effect": "non-scaling-stroke" });
  return s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, path);
}
