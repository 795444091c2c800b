import { toolSchema } from '../text/toolSchema.ts';
import { environmentProgram, LIMITS } from '../written/script/sandbox.ts';
import episodeModule from './python/playground_episode.py?raw';
import openEnvServer from './python/openenv_server.py?raw';
import verlModule from './python/verl_environment.py?raw';
// oxlint-disable-next-line import/default -- `?program` imports a script as the default
import classRules from './machine/classRules.ts?program';
import { machineFiles } from './machineFiles.ts';
import { type EnvironmentToExport, type NamedExport, pythonNames } from './pythonNames.ts';
import { classReadme } from './readme.ts';
import { trlClass } from './trlFiles.ts';
import { verifiersClass } from './verifiersFiles.ts';
import type { CheckReport } from '../written/checker.ts';
import { type Declaration, EnvironmentFileError } from '../written/script/declaration.ts';
import { faultsOf } from '../domain/checkFindings.ts';

/**
 * The files, by name, with which TRL, verifiers, OpenEnv and verl train on an environment. They run the environment's
 * own program in the same virtual machine as the page. Throws EnvironmentFileError if a name can't be written in
 * Python.
 */
export function exportFolder(environment: EnvironmentToExport): ReadonlyMap<string, Uint8Array> {
  const namedExport: NamedExport = { ...environment, names: pythonNames(environment.declaration) };
  const texts = {
    'README.md': classReadme(namedExport),
    'environment.ts': environment.file.text,
    'playground_episode.py': episodeModule,
    'trl_environment.py': trlClass(namedExport),
    'verifiers_environment.py': verifiersClass(namedExport),
    'openenv_server.py': openEnvServer,
    'verl_environment.py': verlModule,
    'machine/rules.js': classRules,
  };
  const encoder = new TextEncoder();
  const program = environmentProgram(environment.declaration.code);
  return new Map([
    ...Object.entries(texts).map(([name, text]) => [name, encoder.encode(text)] as const),
    ...machineFiles(program, rulesForPython(namedExport), environment.quickjsWasm),
  ]);
}

/** The contents of environment.json, for the Python modules: everything about the environment except its program. */
function rulesForPython({ declaration, settings, file }: NamedExport) {
  const { name, description, tools, hearsAnswer } = declaration;
  return {
    ...{ name, file: file.name, system: description || name, hearsAnswer },
    tools: tools.map((tool) => ({
      name: tool.name,
      parameters: tool.parameters.map((parameter) =>
        typeof parameter === 'string' ? { name: parameter, type: 'string' } : parameter,
      ),
      schema: toolSchema(tool),
    })),
    ...settings,
    limits: LIMITS,
    lines: file.text.split('\n').length,
  };
}

/**
 * The files of an environment's export, by name, with the settings that its check found. Null if the check found a
 * fault. Throws EnvironmentFileError if the class is in Python, or a name can't be written in Python.
 */
export function checkedExport(
  { file, declaration }: Pick<EnvironmentToExport, 'file' | 'declaration'>,
  report: CheckReport,
  quickjsWasm: Uint8Array,
): ReadonlyMap<string, Uint8Array> | null {
  refusePython(declaration);
  if (faultsOf(report).length > 0) return null;
  return exportFolder({ file, declaration, settings: report.settings, quickjsWasm });
}

/**
 * Throws EnvironmentFileError if a class is in Python. Only TypeScript is exported, because TRL can train on a class in
 * Python directly.
 */
export function refusePython({ language, name }: Pick<Declaration, 'language' | 'name'>): void {
  if (language !== 'python') return;
  throw new EnvironmentFileError(
    `A class in Python isn’t exported. TRL trains on the file as it is: environment_factory=${name}.`,
    null,
  );
}
