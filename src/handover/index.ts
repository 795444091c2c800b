import type { Files } from '../checkpoints/checkpointFolder.ts';
import { handoverFolder, type HandoverSource, sharedFiles } from './handoverFolder.ts';
import type { Engine } from '../config/mappedKnob.ts';
import { readmeFile } from './readme.ts';
import { trlFiles } from './trlFiles.ts';
import { verlFiles } from './verlFiles.ts';

/**
 * Writes a run as a folder that trains the same task with an engine. Throws ProblemError if its environment has no
 * rules in Python.
 */
export function handoverFiles(engine: Engine, source: HandoverSource): Files {
  const folder = handoverFolder(source);
  const engineFiles = engine === 'verl' ? verlFiles(folder) : trlFiles(folder);
  return new Map([['README.md', readmeFile(engine, folder)], ...engineFiles, ...sharedFiles(folder, source.run)]);
}
