/**
 * What the page may do (Content Security Policy Level 3): run its own scripts and WebAssembly, and talk to the server it came from
 * and, when somebody asks it for a model, to the hub that has it (src/hub/modelCatalogue.ts; it sends what is asked of it on to hosts of its own).
 * Sockets to this machine are for an environment that runs as a server here, once its address was named (src/openenv).
 * Styles are set on elements by charts; pictures are made here or stand in style sheets (data:).
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self' https://huggingface.co https://*.huggingface.co https://*.hf.co ws://127.0.0.1:* ws://localhost:*",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "object-src 'none'",
].join('; ');

/**
 * What makes a page cross-origin isolated (HTML, 7.1.3): nothing from elsewhere comes in without asking, so it may share memory among threads. Downloads from the
 * hub ask (CORS).
 * @type {Readonly<Record<string, string>>}
 */
export const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/**
 * The names of the panels that have an address of their own (`EMBED_PANELS` in src/page/address/screens.ts).
 * @type {readonly string[]}
 */
export const PANEL_NAMES = ['stage', 'rollout', 'curve', 'exercise', 'answer'];

/**
 * What lets pages of other sites show one panel of the page in a frame (`?embed=`), isolated ones too. The whole page stays out of
 * frames of others: a press in it can delete what this browser keeps.
 * @type {Readonly<Record<string, string>>}
 */
export const FRAMED_BY_ALL = {
  'cross-origin-resource-policy': 'cross-origin',
  'content-security-policy': `${PAGE_POLICY}; frame-ancestors *`,
};
