/** Colours and lengths are CSS values, which may use `var()`. */
export interface LegendEntry {
  readonly label: string;
  readonly stroke: string;
  readonly width: number;
  readonly dash?: string;
  readonly opacity?: number;
}

export interface Caption {
  readonly title: string; // with the unit
  readonly notes: readonly string[]; // lines about the run and the axes
  readonly legend: readonly LegendEntry[];
}

/** A self-contained SVG: its text and its size in px. */
export interface SvgPicture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

// presentation attributes that the page's style sheets set
const INLINED_ATTRIBUTES = [
  ...['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'opacity', 'paint-order'],
  ...['font-size', 'font-family', 'font-weight', 'text-anchor', 'overflow'],
] as const;
const PAD = 12;
const TITLE_HEIGHT = 30;
const NOTE_LINE_HEIGHT = 14; // below the title
const LEGEND_LINE_HEIGHT = 18;
const SWATCH_WIDTH = 24;
const CHARACTER_WIDTH = 5.6; // on average, in a note
const WHITE = '#ffffff';
const NAMESPACE = 'http://www.w3.org/2000/svg';

/** The picture is always on white, with the computed colours of the light theme written out. */
export function pictureOf(chart: SVGSVGElement, caption: Caption): SvgPicture {
  const { dataset } = document.documentElement;
  const before = dataset['theme'];
  // switch to the light theme to compute its colours; the old theme is back before the browser paints
  dataset['theme'] = 'light';
  try {
    return drawPicture(chart, caption);
  } finally {
    if (before === undefined) delete dataset['theme'];
    else dataset['theme'] = before;
  }
}

/** A drawing of the page as a self-contained picture that looks the same. `width`, `height`: in the drawing's units. */
export function standalonePicture(drawing: SVGSVGElement, width: number, height: number): SvgPicture {
  const copy = inlineStyles(drawing);
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('xmlns', NAMESPACE);
  return { svg: new XMLSerializer().serializeToString(copy), width, height };
}

function drawPicture(chart: SVGSVGElement, { title, notes, legend }: Caption): SvgPicture {
  const { width: plotWidth, height: plotHeight } = chart.getBoundingClientRect();
  const width = Math.round(plotWidth) + 2 * PAD;
  const style = getComputedStyle(chart);
  const ink = computedColour(chart, 'var(--ink)');
  const faint = computedColour(chart, 'var(--ink-3)');
  const font = style.fontFamily;
  const { places: entryPositions, height: legendHeight } = placeLegend(legend, width - 2 * PAD);
  const lines = notes.flatMap((note) => wrapText(note, (width - 2 * PAD) / CHARACTER_WIDTH));
  const top = TITLE_HEIGHT + NOTE_LINE_HEIGHT * lines.length;
  const height = Math.round(top + plotHeight + legendHeight + PAD);
  const root = element('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': font });
  root.append(
    element('title', {}, [title, ...notes].join('. ')),
    element('rect', { width, height, fill: WHITE }),
    element('text', { x: PAD, y: 20, 'font-size': 14, 'font-weight': 650, fill: ink }, title),
    ...lines.map((line, i) =>
      element('text', { x: PAD, y: TITLE_HEIGHT + 6 + NOTE_LINE_HEIGHT * i, 'font-size': 10.5, fill: faint }, line),
    ),
  );
  const copy = inlineStyles(chart);
  copy.setAttribute('x', String(PAD));
  copy.setAttribute('y', String(top));
  root.append(copy);
  legend.forEach(({ label, stroke, width: weight, dash = '', opacity = 1 }, i) => {
    const { x, y } = entryPositions[i] ?? { x: 0, y: 0 };
    const corner = { x: PAD + x, y: top + plotHeight + 6 + y };
    const line = { x1: corner.x, x2: corner.x + SWATCH_WIDTH - 6, y1: corner.y + 6, y2: corner.y + 6 };
    root.append(
      element('line', {
        ...{ ...line, stroke: computedColour(chart, stroke), 'stroke-width': weight, opacity },
        ...(dash && { 'stroke-dasharray': dash }),
      }),
      element('text', { x: corner.x + SWATCH_WIDTH, y: corner.y + 10, 'font-size': 11, fill: ink }, label),
    );
  });
  return { svg: new XMLSerializer().serializeToString(root), width, height };
}

function wrapText(text: string, characters: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > characters) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function placeLegend(keys: readonly LegendEntry[], maxWidth: number) {
  // 6.2: average width of a character at 11 px
  const entryWidth = (label: string) => SWATCH_WIDTH + 6.2 * label.length + 16;
  let [x, y] = [0, 0];
  const places = keys.map(({ label }) => {
    if (x > 0 && x + entryWidth(label) > maxWidth) [x, y] = [0, y + LEGEND_LINE_HEIGHT];
    const place = { x, y };
    x += entryWidth(label);
    return place;
  });
  return { places, height: keys.length > 0 ? y + LEGEND_LINE_HEIGHT + 6 : 0 };
}

/** A copy with its styles inlined, which looks the same outside the page. */
function inlineStyles(original: SVGSVGElement): SVGSVGElement {
  const copy = original.cloneNode(true) as SVGSVGElement;
  const originals = [original, ...original.querySelectorAll('*')];
  for (const [i, node] of [copy, ...copy.querySelectorAll('*')].entries()) {
    const source = originals[i];
    if (!source) continue;
    const style = getComputedStyle(source);
    for (const name of [...node.getAttributeNames()]) {
      const isPageOnly = name === 'class' || name === 'style' || name.startsWith('data-') || name === 'tabindex';
      if (isPageOnly || node.getAttribute(name)?.includes('var(')) node.removeAttribute(name);
    }
    for (const name of INLINED_ATTRIBUTES) {
      const value = style.getPropertyValue(name);
      if (value) node.setAttribute(name, value);
    }
  }
  return copy;
}

function computedColour(place: Element, colour: string): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  place.parentElement?.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function element(name: string, attributes: Readonly<Record<string, string | number>>, text = ''): SVGElement {
  const node = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.textContent = text;
  return node;
}

export async function canvasOf({ svg, width, height }: SvgPicture, scale: number): Promise<HTMLCanvasElement> {
  const image = new Image(width, height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(scale * width);
  canvas.height = Math.round(scale * height);
  // opaque, because a picture has its own background; this also makes the file smaller
  canvas.getContext('2d', { alpha: false })?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** A picture as PNG, by default at twice its size so that it stays sharp. */
export async function pngOf(picture: SvgPicture, scale = 2): Promise<Blob> {
  const canvas = await canvasOf(picture, scale);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser drew no PNG'))), 'image/png'),
  );
}
