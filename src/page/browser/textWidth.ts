/** Width of a character in a wide font, in em, for when text can't be measured. */
const CHARACTER_EM = 0.65;
let canvas: CanvasRenderingContext2D | null | undefined;

/** Width of a line of text in the page's font at `size` px and `weight`, px. Without a page: a generous estimate. */
export function textWidth(text: string, size: number, weight = 400): number {
  if (typeof document === 'undefined') return CHARACTER_EM * size * text.length;
  canvas ??= document.createElement('canvas').getContext('2d');
  if (!canvas) return CHARACTER_EM * size * text.length;
  canvas.font = `${weight} ${size}px ${getComputedStyle(document.documentElement).fontFamily}`;
  return canvas.measureText(text).width;
}
