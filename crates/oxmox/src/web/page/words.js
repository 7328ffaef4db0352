// Figures in words.

export function size(bytes) {
  if (bytes === undefined || bytes === null) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && at < units.length - 1) { value /= 1024; at += 1; }
  return `${at === 0 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const days = Math.floor(whole / 86400);
  const hours = Math.floor(whole / 3600) % 24;
  const minutes = Math.floor(whole / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  if (minutes > 0) return `${minutes} min ${whole % 60} s`;
  return `${whole} s`;
}

/// Unix seconds or an ISO time, as this machine writes times.
export function time(at) {
  if (at === undefined || at === null || at === "") return "";
  const date = new Date(typeof at === "number" ? at * 1000 : at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function unit(value, kind) {
  switch (kind) {
    case "share": return `${(value * 100).toFixed(1)} %`;
    case "percent": return `${value.toFixed(1)} %`;
    case "bytes": return size(value);
    case "bytes_per_second": return `${size(value)}/s`;
    default: return value.toFixed(2);
  }
}

/// "not_applied" as people write it.
export const plain = (word) => String(word ?? "").replaceAll("_", " ");
