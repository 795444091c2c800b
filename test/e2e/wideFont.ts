import type { Page } from 'playwright';

/** Widths and heights of the wide font, in em: letters as wide as Verdana’s and a twentieth more, lines as high as Noto Sans’s. */
const WIDE = { letter: 0.62, ascent: '107%', descent: '30%' };

/**
 * Puts the page into a wide font, or back into its own. The wide one is a font of this machine, stretched until its letters have the
 * width above, so that every machine judges about the same. Throws where the machine has none of the usual fonts.
 */
export async function wideFont(page: Page, wide: boolean): Promise<void> {
  await page.evaluate(
    async ([on, { letter, ascent, descent }]) => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet.media.mediaText !== 'all');
      if (!on) return;
      const names =
        'DejaVu Sans,Verdana,Liberation Sans,Arial,Helvetica Neue,Helvetica,Noto Sans,Roboto,Ubuntu,Segoe UI';
      const local = names
        .split(',')
        .map((name) => `local("${name}")`)
        .join();
      const source = (extra: string) => `@font-face { font-family: "Wide"; src: ${local}; ${extra} }`;
      const sheet = new CSSStyleSheet({ media: 'all' });
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      sheet.replaceSync(source(''));
      const [own] = await document.fonts.load('100px Wide');
      if (own?.status !== 'loaded') throw new Error(`want one of these fonts: ${names}`);
      const context = new OffscreenCanvas(1, 1).getContext('2d')!;
      const text = 'Rollout Playground 0123456789';
      context.font = '100px Wide';
      const stretch = (letter * text.length * 100) / context.measureText(text).width;
      const metrics = `size-adjust: ${100 * stretch}%; ascent-override: ${ascent}; descent-override: ${descent};`;
      sheet.replaceSync(`${source(metrics)} :root { --sans: "Wide" !important; }`);
      await document.fonts.load('100px Wide');
    },
    [wide, WIDE] as const,
  );
}
