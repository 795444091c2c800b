#!/usr/bin/env node
// The command of the npm package: serves the built page, opens files in it, or runs a program of the command line.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The programs, by the names that `npm run` has for them in a clone. */
export const COMMANDS = ['train', 'experiment', 'environment', 'export', 'handover', 'adapter', 'talk', 'doctor'];
/** Other names of programs. @type {Readonly<Record<string, string>>} */
export const ALSO = { sweep: 'experiment' };
const MAX_FILES = 10_000;
const HELP = `rollout-playground                  serves the page on this machine and opens it
rollout-playground FILE|FOLDER…     opens rollouts, a log, a model, an environment or a saved run in the page
rollout-playground watch FOLDER     follows a folder that a job writes rollouts and logs into
rollout-playground COMMAND …        ${[...COMMANDS, ...Object.keys(ALSO)].join(', ')}; COMMAND --help says more
PORT=8080 rollout-playground        uses another port`;

/** The files of a file or a folder, with their paths as a browser gives them for what is dropped. @param {string} place @param {number} _ @param {readonly string[]} all */
function filesOf(place, _, all) {
  const isTwice = all.some((other) => other !== place && path.basename(other) === path.basename(place));
  const name = isTwice ? place.split(path.sep).filter(Boolean).join('/') : path.basename(place);
  if (!statSync(place).isDirectory()) return [{ path: name, place: realpathSync(place) }];
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()) // no links: they may lead out of the folder
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => ({ path: [name, ...path.relative(place, file).split(path.sep)].join('/'), place: file }));
}

/** @param {readonly string[]} args */
async function main([first = '', ...rest]) {
  const root = path.dirname(path.dirname(realpathSync(fileURLToPath(import.meta.url))));
  const name = ALSO[first] ?? first;
  if (first === '--help' || first === '-h') return console.log(HELP);
  if (COMMANDS.includes(name)) {
    process.env['CALLER_FOLDER'] = process.cwd(); // paths in arguments are the caller's
    process.env['COMMAND_NAME'] = 'rollout-playground';
    process.chdir(root);
    const file = path.join(root, 'commands', `${name}.js`);
    process.argv = [process.argv[0] ?? '', file, ...rest];
    return void (await import(pathToFileURL(file).href));
  }
  const { freePort, serveHere } = await import('./serveHere.mjs');
  const { tokenOf } = await import('./watchedFolder.mjs');
  const command = 'rollout-playground';
  const dist = path.join(root, 'dist');
  if (first === 'watch') {
    const [folder, ...more] = rest;
    if (folder === undefined || more.length > 0) {
      console.error(`Name one folder.\n${HELP}`);
      process.exit(2);
    }
    const place = path.resolve(folder); // it may not exist yet
    const watched = { token: tokenOf(place), folder: place };
    return serveHere(dist, { port: await freePort(command), command, watched });
  }
  const places = first === '' ? [] : [first, ...rest].map((place) => path.resolve(place));
  const missing = places.find((place) => !existsSync(place));
  if (missing) {
    console.error(`There is no command and no file ${first}.\n${HELP}`);
    process.exit(2);
  }
  const files = places.flatMap(filesOf);
  if (files.length > MAX_FILES) {
    console.error(`These are ${files.length} files, and the page opens ${MAX_FILES} at most. Name a smaller folder.`);
    process.exit(2);
  }
  const named = files.length > 0 ? { watched: { token: randomBytes(16).toString('hex'), files } } : {};
  return serveHere(dist, { port: await freePort(command), command, ...named });
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main(process.argv.slice(2));
