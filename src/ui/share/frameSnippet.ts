import { type Panel, PANELS } from '../embed/panels.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
const attribute = (text: string) => text.replace(/[&"<>]/g, (letter) => ENTITIES[letter] ?? letter);

/** The HTML that shows a panel in another page. */
export function frameSnippet(panel: Panel, address: string): string {
  const { label, height } = PANELS[panel];
  return `<iframe src="${attribute(address)}" title="Rollout Playground: ${label.toLowerCase()}" width="100%" height="${height}" style="border:0" loading="lazy"></iframe>`;
}
