import type { Files } from '../checkpoints/checkpointFolder.ts';
import { folderOf, type HandedOver, sharedFiles } from './handoverFolder.ts';
import type { Engine } from '../config/mappedKnob.ts';
import { readmeFile } from './readme.ts';
import { trlFiles } from './trlFiles.ts';
import { verlFiles } from './verlFiles.ts';

/** A run as a folder that trains the same task on an engine. Throws ProblemError where only the page knows its environment's rules. */
export function handoverFiles(engine: Engine, handed: HandedOver): Files {
  const folder = folderOf(handed);
  const own = engine === 'verl' ? verlFiles(folder) : trlFiles(folder);
  return new Map([['README.md', readmeFile(engine, folder)], ...own, ...sharedFiles(folder, handed.run)]);
}
