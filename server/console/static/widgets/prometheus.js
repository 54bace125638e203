// Reads the text format of Prometheus, and says what happened between two readings of it.

/** Return the samples as `{name: [{labels, value}]}`; comments and what cannot be read are left out. */
export function parseMetrics(text) {
  const found = new Map();
  for (const line of text.split("\n")) {
    if (!line || line.startsWith("#")) continue;
    const parts = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line);
    if (!parts) continue;
    const value = numberOf(parts[3]);
    if (Number.isNaN(value)) continue;
    const samples = found.get(parts[1]) ?? [];
    samples.push({ labels: labelsOf(parts[2] ?? ""), value });
    found.set(parts[1], samples);
  }
  return found;
}

const numberOf = (text) => {
  if (/^\+?Inf$/i.test(text)) return Infinity;
  return /^-Inf$/i.test(text) ? -Infinity : Number(text);
};

function labelsOf(text) {
  const labels = {};
  for (const [, name, value] of text.matchAll(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g)) {
    labels[name] = value.replace(/\\(.)/g, (_, one) => (one === "n" ? "\n" : one));
  }
  return labels;
}

/** The sum of a metric's samples whose labels `wanted` lets through. */
export function sum(metrics, name, wanted = () => true) {
  return (metrics.get(name) ?? [])
    .reduce((all, { labels, value }) => (wanted(labels) ? all + value : all), 0);
}

/** How much a counter grew; a server that began anew counts from nothing. */
export function growth(before, after, name, wanted) {
  const [old, now] = [sum(before, name, wanted), sum(after, name, wanted)];
  return now >= old ? now - old : now;
}

/** How much each value of a label grew, as a Map. */
export function growthBy(before, after, name, label, wanted = () => true) {
  const grown = new Map();
  for (const { labels } of after.get(name) ?? []) {
    const value = labels[label];
    if (grown.has(value) || !wanted(labels)) continue;
    grown.set(value, growth(before, after, name, (one) => one[label] === value && wanted(one)));
  }
  return grown;
}

/**
 * Seconds below which a share of what a histogram saw between two readings lies, by linear
 * interpolation in its bucket; null where it saw nothing.
 */
export function quantile(before, after, name, share, wanted = () => true) {
  const bucket = `${name}_bucket`;
  const limits = [...new Set((after.get(bucket) ?? []).map((one) => numberOf(one.labels.le)))]
    .sort((a, b) => a - b);
  const counts = limits.map((limit) =>
    growth(before, after, bucket, (labels) => numberOf(labels.le) === limit && wanted(labels)));
  const all = counts.at(-1) ?? 0;
  if (!all) return null;
  const rank = share * all;
  const at = counts.findIndex((count) => count >= rank);
  const low = at > 0 ? limits[at - 1] : 0;
  if (limits[at] === Infinity) return low;
  const below = at > 0 ? counts[at - 1] : 0;
  const inside = counts[at] - below;
  return inside ? low + (limits[at] - low) * ((rank - below) / inside) : limits[at];
}
