/** sRGB, 0 … 1. */
export type Rgb = readonly [number, number, number];
export type Vision = 'normal' | 'protan' | 'deutan' | 'tritan';

// Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB
const VISION: Readonly<Record<Exclude<Vision, 'normal'>, readonly number[]>> = {
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function linear(c: number): number {
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}
function gamma(c: number): number {
  const x = Math.min(1, Math.max(0, c));
  return x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
}
function times(m: readonly number[], [r, g, b]: Rgb): Rgb {
  const row = (i: number) => (m[i] ?? 0) * r + (m[i + 1] ?? 0) * g + (m[i + 2] ?? 0) * b;
  return [row(0), row(3), row(6)];
}
function map(c: Rgb, f: (x: number) => number): Rgb {
  return [f(c[0]), f(c[1]), f(c[2])];
}

/** How someone with that vision sees a colour. */
export function simulate(colour: Rgb, vision: Vision): Rgb {
  return vision === 'normal' ? colour : map(times(VISION[vision], map(colour, linear)), gamma);
}

/** WCAG contrast ratio. */
export function contrast(a: Rgb, b: Rgb): number {
  const light = (c: Rgb) => {
    const [r, g, bl] = map(c, linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
  };
  const [x, y] = [light(a), light(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Distance in OKLab, times 100 (Ottosson 2020). */
export function deltaE(a: Rgb, b: Rgb): number {
  const [p, q] = [oklab(a), oklab(b)];
  return 100 * Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

function oklab(colour: Rgb): Rgb {
  const lms = times(
    [
      0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376,
      0.6299787005,
    ],
    map(colour, linear),
  );
  return times(
    [
      0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662,
      -0.808675766,
    ],
    map(lms, Math.cbrt),
  );
}
