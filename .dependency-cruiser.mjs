import { LAYERS, filesPattern, forbiddenImports } from './tools/layers.mjs';

const error = /** @type {const} */ ('error');

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circular', severity: error, from: {}, to: { circular: true } },
    {
      name: 'no-file-without-a-layer',
      comment: 'name the file in tools/layers.mjs',
      severity: error,
      from: { path: '^src/', pathNot: [...LAYERS.map(filesPattern), '\\.d\\.ts$'] },
      to: {},
    },
    ...forbiddenImports().map(({ from, to, typesAllowed }) => ({
      name: `${from.name}-not-to-${to.name}`,
      severity: error,
      from: { path: filesPattern(from) },
      to: {
        path: filesPattern(to),
        ...(typesAllowed ? { dependencyTypesNot: [/** @type {const} */ ('type-only')] } : {}),
      },
    })),
    { name: 'no-tests-in-src', severity: error, from: { path: '^src/' }, to: { path: '^(test|scripts)/' } },
    { name: 'no-tools-but-in-cli', severity: error, from: { path: '^src/(?!cli/)' }, to: { path: '^tools/' } },
    {
      // src/cli runs from a checkout, where Vite and Dawn are there to load .wgsl and to be the GPU
      name: 'not-to-dev-dep',
      severity: error,
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.wgsl'] },
  },
};
