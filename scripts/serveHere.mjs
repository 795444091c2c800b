// Serves a built page on this machine alone and opens it in a browser: for `npm start` and for the command `rollout-playground`.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { servePage } from './page-server.mjs';

const HOST = '127.0.0.1';
export const DEFAULT_PORT = 4173;

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(message);
  process.exit(1);
}

/** @param {string | undefined} text @param {string} command what was typed */
function wantedPort(text, command) {
  if (text === undefined || text === '') return DEFAULT_PORT;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65535) return port;
  return refuse(`PORT can’t be ${text}. Use a whole number from 1 to 65535. Try: PORT=8080 ${command}`);
}

/**
 * Why the port cannot be used, '' when it can. Asked before the build, so that a wrong port costs no wait.
 * @param {number} port
 * @returns {Promise<string>}
 */
function occupied(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (/** @type {NodeJS.ErrnoException} */ error) => resolve(error.code ?? error.message));
    probe.listen(port, HOST, () => probe.close(() => resolve('')));
  });
}

/** @param {number} port @param {string} code @param {string} command what was typed */
function portMessage(port, code, command) {
  const other = `Choose another: PORT=${port === 65535 ? DEFAULT_PORT : port + 1} ${command}`;
  if (code === 'EADDRINUSE') return `Port ${port} is busy: something already listens on ${HOST}:${port}. ${other}`;
  if (code === 'EACCES') return `Port ${port} may not be opened by this user. ${other}`;
  return `Port ${port} cannot be opened (${code}). ${other}`;
}

/**
 * Opens the address in a browser where somebody could see one. A machine without is fine: the address is printed.
 * @param {string} url
 */
function openBrowser(url) {
  const { CI, DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (CI) return;
  /** @type {[string, string[]]} */
  let command;
  if (process.platform === 'darwin') command = ['open', [url]];
  else if (process.platform === 'win32') command = ['cmd', ['/c', 'start', '', url]];
  else if (DISPLAY || WAYLAND_DISPLAY) command = ['xdg-open', [url]];
  else return;
  const child = spawn(command[0], command[1], { stdio: 'ignore', detached: true });
  child.once('error', () => undefined);
  child.unref();
}

/**
 * The port that PORT names, or the usual one. Ends the process if it can't be had.
 * @param {string} command what was typed, for the messages
 */
export async function freePort(command) {
  const port = wantedPort(process.env['PORT'], command);
  const problem = await occupied(port);
  return problem ? refuse(portMessage(port, problem, command)) : port;
}

/**
 * Serves a folder until the process is interrupted, and opens the page.
 * @param {string} folder
 * @param {{ port: number, command: string, watched?: import('./watchedFolder.mjs').WatchedFolder }} options
 */
export async function serveHere(folder, { port, command, watched }) {
  const server = await servePage(folder, { host: HOST, port, ...(watched && { watched }) }).catch(
    // somebody took the port in the meantime
    async (error) => refuse(portMessage(port, (await occupied(port)) || String(error), command)),
  );
  const query = watched ? `?${'files' in watched ? 'open' : 'watch'}=${watched.token}` : '';
  const url = `http://${HOST}:${port}/${query}`;
  console.log(`Rollout Playground: ${url}  (Ctrl-C stops it)`);
  if (watched && 'folder' in watched) {
    console.log(
      `It follows ${watched.folder} and only reads there. To see it from another machine, run this there, then open the address:`,
    );
    console.log(`  ssh -L ${port}:${HOST}:${port} ${hostname()}`);
  }
  openBrowser(url);
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.once(signal, () => {
      // a page that stays connected must not hold the process
      setTimeout(() => process.exit(0), 1000).unref();
      server.close(() => process.exit(0));
    });
  }
}
