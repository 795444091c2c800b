/**
 * What the page may do (Content Security Policy Level 3): run its own scripts and WebAssembly, and talk to the server it came from.
 * Styles are set on elements by charts; pictures are made here or stand in style sheets (data:).
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "object-src 'none'",
].join('; ');
