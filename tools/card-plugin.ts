import type { Plugin } from 'vite';

/** The picture that sites show beside a link to the page: public/card.png, made by `npm run card`. */
const CARD = { file: 'card.png', width: '1200', height: '630' };

/** The page's own address from the setting SITE_URL; null where it is not set. Throws for what is no address of a page. */
export function siteAddress(setting: string | undefined): URL | null {
  if (setting === undefined || setting.trim() === '') return null;
  const url = URL.canParse(setting) ? new URL(setting) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error(
      `SITE_URL: “${setting}” isn't the address of a page. Use one such as https://USER.github.io/REPOSITORY/.`,
    );
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'; // a folder: what lies in it is named after it
  return url;
}

interface Words {
  readonly title: string;
  readonly description: string;
}

/** Tells sites that show links what the page is, with a picture. They need its whole address: without `site` the picture's is relative. */
export function card({ title, description }: Words, site: URL | null): Plugin {
  const picture = site ? new URL(CARD.file, site).href : `./${CARD.file}`;
  const properties = {
    'og:type': 'website',
    'og:site_name': 'Rollout Playground',
    'og:title': title,
    'og:description': description,
    ...(site && { 'og:url': site.href }),
    'og:image': picture,
    'og:image:type': 'image/png',
    'og:image:width': CARD.width,
    'og:image:height': CARD.height,
    'og:image:alt': 'A rollout of an agent that finds a hidden number, and the curve of its training.',
  };
  const names = {
    description,
    'twitter:card': 'summary_large_image',
    'twitter:title': title,
    'twitter:description': description,
    'twitter:image': picture,
  };
  return {
    name: 'card',
    transformIndexHtml: () => [
      ...Object.entries(properties).map(([property, content]) => ({
        tag: 'meta',
        attrs: { property, content },
        injectTo: 'head' as const,
      })),
      ...Object.entries(names).map(([name, content]) => ({
        tag: 'meta',
        attrs: { name, content },
        injectTo: 'head' as const,
      })),
    ],
  };
}
