// Serves a built page: its files and nothing else.
import { closeSync, createReadStream, fstatSync, openSync, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { FRAMED_BY_ALL, ISOLATION, PAGE_POLICY, PANEL_NAMES } from './page-policy.mjs';
import { watchedAt } from './watchedFolder.mjs';

/** @type {Readonly<Record<string, string>>} */
export const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonl': 'application/x-ndjson; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.csv': 'text/csv; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.safetensors': 'application/octet-stream',
};
/**
 * Whether an address shows one panel alone. It is read as the page reads it (src/page/address/screens.ts): any other name shows the whole page.
 * @param {string} address path and query of a request
 */
function showsPanel(address) {
  const query = /\?[^#]*/.exec(address)?.[0] ?? '';
  return PANEL_NAMES.includes(new URLSearchParams(query).get('embed') ?? '');
}

/**
 * Opens a file; null if it has vanished.
 * @param {string} file
 */
function openFile(file) {
  try {
    const descriptor = openSync(file, 'r');
    return { descriptor, bytes: fstatSync(descriptor).size };
  } catch {
    return null;
  }
}

/** The policy as a header also holds for workers, which a page's own `<meta>` does not reach. */
export const HEADERS = {
  ...ISOLATION,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': `${PAGE_POLICY}; frame-ancestors 'self'`,
};

/**
 * The file of a folder that an address names; null where there is none, or it lies elsewhere.
 * @param {string} folder real path @param {string} address path and query of a request
 */
export function fileAt(folder, address) {
  let name;
  try {
    name = decodeURIComponent(address.split(/[?#]/, 1)[0] ?? '');
  } catch {
    return null; // no UTF-8
  }
  if (!name.startsWith('/') || /[\0\\]/.test(name)) return null;
  try {
    const file = realpathSync(path.join(folder, name === '/' ? 'index.html' : name));
    const inside = file.startsWith(folder + path.sep) && statSync(file).isFile();
    return inside && (name === '/' || !name.endsWith('/')) ? file : null;
  } catch {
    return null;
  }
}

/** The first byte that a request wants of a file: `Range: bytes=N-`. Other ranges are ignored. @param {import('node:http').IncomingMessage} request */
const firstByte = ({ headers: { range = '' } }) => Number(/^bytes=(\d{1,15})-$/.exec(range)?.[1] ?? 0);

/**
 * Starts the server; resolves when it listens, rejects where it cannot. Unknown paths are 404, never the page.
 * @param {string} folder
 * @param {{ host: string, port: number, watched?: import('./watchedFolder.mjs').WatchedFolder }} where port 0: any that is free
 * @returns {Promise<import('node:http').Server>}
 */
export function servePage(folder, { host, port, watched }) {
  const root = realpathSync(folder);
  const server = createServer(async (request, response) => {
    /** @param {number} status @param {string} text */
    const refuse = (status, text) => {
      response.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' });
      response.end(request.method === 'HEAD' ? '' : `${text}\n`);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return refuse(405, 'This server only hands out files.');
    }
    const given = watched ? await watchedAt(watched, request, fileAt) : null;
    if (given && 'refused' in given) return refuse(given.status, given.refused);
    if (given && 'list' in given) {
      response.writeHead(200, { ...HEADERS, 'content-type': TYPES['.json'], 'cache-control': 'no-store' });
      return response.end(request.method === 'HEAD' ? '' : given.list);
    }
    const file = given ? given.place : fileAt(root, request.url ?? '');
    const open = file === null ? null : openFile(file); // before any header is sent: the file may vanish at any time
    if (file === null || open === null) return refuse(404, 'There is no such file here.');
    const named = path.relative(root, file).startsWith(`assets${path.sep}`); // after what it holds
    const panel = path.extname(file) === '.html' && showsPanel(request.url ?? '');
    const start = given ? firstByte(request) : 0;
    if (start > 0 && start >= open.bytes) {
      closeSync(open.descriptor);
      return refuse(416, `The file has ${open.bytes} bytes.`);
    }
    response.writeHead(start > 0 ? 206 : 200, {
      ...HEADERS,
      ...(panel && FRAMED_BY_ALL),
      'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream',
      'content-length': open.bytes - start,
      ...(start > 0 && { 'content-range': `bytes ${start}-${open.bytes - 1}/${open.bytes}` }),
      'cache-control': named ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
    if (request.method === 'HEAD' || open.bytes === 0) {
      closeSync(open.descriptor);
      return response.end();
    }
    // a browser that gives up a download closes the response, and the file with it
    const stream = createReadStream(file, { fd: open.descriptor, start, end: open.bytes - 1 });
    return pipeline(stream, response, () => undefined);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}
