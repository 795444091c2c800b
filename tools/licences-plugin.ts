import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';

/** The file of the built page that has the licences of all that it contains. */
const LICENCES_FILE = 'licences.txt';

/** A package in node_modules of which the page contains something. */
const PACKAGE_FOLDER = /^(?:.*[\\/])?node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/;
/** Packages that add code of their own to every bundle. */
const BUNDLERS = ['vite', 'rolldown'];
const LICENCE_NAME = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
/** Texts for packages that lack a licence, or that contain programs of others. */
const TEXTS: Readonly<Record<string, string>> = {
  pyodide: 'tools/licences/pyodide.txt',
  'quickjs-wasi': 'src/handover/python/machine_licence.txt',
};
/** Where the licence of vite itself ends, and those of programs begin that the page doesn't contain. */
const VITE_DEPENDENCIES = '\n# Licenses of bundled dependencies';

/** The folder in node_modules that a module of the bundle comes from; null for the page's own code. */
export function packageFolder(id: string): string | null {
  return PACKAGE_FOLDER.exec((id.split('?', 1)[0] ?? '').replace(/^\0/, ''))?.[0] ?? null;
}

/** The text with the licences of these packages. Throws if a package has none: then the page can't be given away. */
function licencesText(folders: Iterable<string>): string {
  const sections = Array.from(new Set(folders), (folder) => {
    const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Readonly<
      Record<'name' | 'version' | 'license', string>
    >;
    const text = TEXTS[name];
    const files = text ? [path.resolve(text)] : licenceFiles(folder);
    if (files.length === 0)
      throw new Error(
        `${name} ${version} (${license}) has no licence file. Put its licence into tools/licences, and name that file in tools/licences-plugin.ts.`,
      );
    const texts = files.map((file) => readFileSync(file, 'utf8').split(VITE_DEPENDENCIES, 1)[0]?.trim());
    return `${name} ${version}\n\n${texts.join('\n\n')}\n`;
  });
  return [FIRST_WORDS, ...sections.toSorted()].join(`\n${'='.repeat(80)}\n\n`);
}

const FIRST_WORDS = `Rollout Playground contains the programs below, each under its own licence. Its own licence:

${existsSync('LICENSE') ? readFileSync('LICENSE', 'utf8') : ''}`;

/** The files in a folder that hold its licence. */
export function licenceFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => LICENCE_NAME.test(file))
    .toSorted()
    .map((file) => path.join(folder, file));
}

/**
 * Writes the licences of all packages of which the page contains something. `collect` notes the packages in a bundle of
 * its own, such as a worker's.
 */
export function licences(): { readonly collect: () => Plugin; readonly write: () => Plugin } {
  const folders = new Set(BUNDLERS.map((name) => path.resolve('node_modules', name)));
  const collect = (): Plugin => ({
    name: 'licences-collect',
    apply: 'build',
    moduleParsed({ id }) {
      const folder = packageFolder(id);
      if (folder !== null) folders.add(folder);
    },
  });
  const write = (): Plugin => ({
    name: 'licences',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: LICENCES_FILE, source: licencesText(folders) });
    },
  });
  return { collect, write };
}
