/** Letters of a wide font, in em: for where no text can be measured. */
const WIDE = 0.65;
let canvas: CanvasRenderingContext2D | null | undefined;

/** Width of a line of text of `size` px in the page's own font, px; an estimate on the wide side where there is no page. */
export function textWidth(text: string, size: number): number {
  if (typeof document === 'undefined') return WIDE * size * text.length;
  canvas ??= document.createElement('canvas').getContext('2d');
  if (!canvas) return WIDE * size * text.length;
  canvas.font = `${size}px ${getComputedStyle(document.documentElement).fontFamily}`;
  return canvas.measureText(text).width;
}
