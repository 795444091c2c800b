/** A line of a legend, as the chart draws it: colours and lengths are CSS, `var()` included. */
export interface Key {
  readonly label: string;
  readonly stroke: string;
  readonly width: number;
  readonly dash?: string;
  readonly opacity?: number;
}

/** What a picture says beside the curve. */
export interface Caption {
  readonly title: string; // with the unit
  readonly notes: readonly string[]; // of what run, what the axes are: lines
  readonly keys: readonly Key[];
}

/** An SVG that needs no page: its text and its size in px. */
export interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

// presentation attributes that style sheets of the page decide
const INLINED = [
  ...['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'opacity', 'paint-order'],
  ...['font-size', 'font-family', 'font-weight', 'text-anchor', 'overflow'],
] as const;
const PAD = 12;
const HEAD = 30; // height of the title
const NOTE = 14; // of a line under it
const LINE = 18; // height of a legend's line
const SWATCH = 24;
const LETTER = 5.6; // of a note, wide on average
const WHITE = '#ffffff';
const NAMESPACE = 'http://www.w3.org/2000/svg';

/**
 * A chart as a picture of its own, on white whatever the theme: every colour computed and written out, with title, unit, legend and
 * notes.
 */
export function pictureOf(chart: SVGSVGElement, caption: Caption): Picture {
  const { dataset } = document.documentElement;
  const before = dataset['theme'];
  // colours are those of the theme in force; nothing is painted before it is as it was
  dataset['theme'] = 'light';
  try {
    return drawn(chart, caption);
  } finally {
    if (before === undefined) delete dataset['theme'];
    else dataset['theme'] = before;
  }
}

/** A drawing of the page as it is shown there, of a size in its own units: it needs no page any more. */
export function standAlone(drawing: SVGSVGElement, width: number, height: number): Picture {
  const copy = inlined(drawing);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('xmlns', NAMESPACE);
  return { svg: new XMLSerializer().serializeToString(copy), width, height };
}

function drawn(chart: SVGSVGElement, { title, notes, keys }: Caption): Picture {
  const { width: inner, height: plot } = chart.getBoundingClientRect();
  const width = Math.round(inner) + 2 * PAD;
  const style = getComputedStyle(chart);
  const ink = resolved(chart, 'var(--ink)');
  const faint = resolved(chart, 'var(--ink-3)');
  const font = style.fontFamily;
  const { places, height: legend } = placed(keys, width - 2 * PAD);
  const lines = notes.flatMap((note) => broken(note, (width - 2 * PAD) / LETTER));
  const top = HEAD + NOTE * lines.length;
  const height = Math.round(top + plot + legend + PAD);
  const root = element('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': font });
  root.append(
    element('title', {}, [title, ...notes].join('. ')),
    element('rect', { width, height, fill: WHITE }),
    element('text', { x: PAD, y: 20, 'font-size': 14, 'font-weight': 650, fill: ink }, title),
    ...lines.map((line, i) =>
      element('text', { x: PAD, y: HEAD + 6 + NOTE * i, 'font-size': 10.5, fill: faint }, line),
    ),
  );
  const copy = inlined(chart);
  copy.setAttribute('x', String(PAD));
  copy.setAttribute('y', String(top));
  root.append(copy);
  keys.forEach(({ label, stroke, width: weight, dash = '', opacity = 1 }, i) => {
    const { x, y } = places[i] ?? { x: 0, y: 0 };
    const at = { x: PAD + x, y: top + plot + 6 + y };
    const line = { x1: at.x, x2: at.x + SWATCH - 6, y1: at.y + 6, y2: at.y + 6 };
    root.append(
      element('line', {
        ...{ ...line, stroke: resolved(chart, stroke), 'stroke-width': weight, opacity },
        ...(dash && { 'stroke-dasharray': dash }),
      }),
      element('text', { x: at.x + SWATCH, y: at.y + 10, 'font-size': 11, fill: ink }, label),
    );
  });
  return { svg: new XMLSerializer().serializeToString(root), width, height };
}

/** A text in lines of at most so many letters, broken between words. */
function broken(text: string, letters: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > letters) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Where legend entries go: in lines as wide as the picture. */
function placed(keys: readonly Key[], room: number) {
  const wide = (label: string) => SWATCH + 6.2 * label.length + 16; // an average letter of 11 px
  let [x, y] = [0, 0];
  const places = keys.map(({ label }) => {
    if (x > 0 && x + wide(label) > room) [x, y] = [0, y + LINE];
    const place = { x, y };
    x += wide(label);
    return place;
  });
  return { places, height: keys.length > 0 ? y + LINE + 6 : 0 };
}

/** A copy that looks the same away from the page. */
function inlined(original: SVGSVGElement): SVGSVGElement {
  const copy = original.cloneNode(true) as SVGSVGElement;
  const from = [original, ...original.querySelectorAll('*')];
  for (const [i, node] of [copy, ...copy.querySelectorAll('*')].entries()) {
    const source = from[i];
    if (!source) continue;
    const style = getComputedStyle(source);
    for (const name of [...node.getAttributeNames()]) {
      const here = name === 'class' || name === 'style' || name.startsWith('data-') || name === 'tabindex';
      if (here || node.getAttribute(name)?.includes('var(')) node.removeAttribute(name);
    }
    for (const name of INLINED) {
      const value = style.getPropertyValue(name);
      if (value) node.setAttribute(name, value);
    }
  }
  return copy;
}

/** A colour as this place of the page shows it. */
function resolved(place: Element, colour: string): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  place.parentElement?.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function element(name: string, attributes: Readonly<Record<string, string | number>>, text = ''): SVGElement {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}

/** A canvas with a picture on it, `scale` times its size. */
export async function canvasOf({ svg, width, height }: Picture, scale: number): Promise<HTMLCanvasElement> {
  const image = new Image(width, height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(scale * width);
  canvas.height = Math.round(scale * height);
  // opaque: a picture has a ground of its own, and packs smaller so
  canvas.getContext('2d', { alpha: false })?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** A picture as PNG, at twice its size so that it stays sharp, or at another. */
export async function pngOf(picture: Picture, scale = 2): Promise<Blob> {
  const canvas = await canvasOf(picture, scale);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser drew no PNG'))), 'image/png'),
  );
}
