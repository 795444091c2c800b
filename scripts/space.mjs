// npm run space: builds dist-space/, a Hugging Face static Space as it stands (docs/hosting.md says how to upload it).
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ISOLATION } from './page-policy.mjs';

/**
 * The headers a Space sends with every file, so that the page has threads on the first visit. These three are all that Hugging Face takes
 * (https://huggingface.co/docs/hub/spaces-config-reference).
 * @type {Readonly<Record<string, string>>}
 */
export const SPACE_HEADERS = { ...ISOLATION, 'cross-origin-resource-policy': 'cross-origin' };

/** The Space's README.md: Hugging Face reads the settings between the dashes. */
export function spaceReadme() {
  const headers = Object.entries(SPACE_HEADERS).map(([name, value]) => `  ${name}: ${value}`);
  return `---
title: Rollout Playground
emoji: 🎲
colorFrom: gray
colorTo: blue
sdk: static
app_file: index.html
pinned: false
license: mit
short_description: Train a small language-model agent with RL in your tab
custom_headers:
${headers.join('\n')}
---

# Rollout Playground

Train a small language-model agent with reinforcement learning in your browser, and see what each update does to every token that the agent writes.

Everything runs in your tab, on your GPU through WebGPU or on your CPU. No server computes anything and nothing is uploaded.
Open the Space on its own address, \`https://USER-NAME.static.hf.space\`: models on the CPU use several threads there,
and a single one in the frame on huggingface.co.
`;
}

/** Files that git has to keep in LFS, because Hugging Face takes no other binary files. */
export const SPACE_ATTRIBUTES = ['*.png', '*.recording', '*.safetensors', '*.wasm']
  .map((name) => `${name} filter=lfs diff=lfs merge=lfs -text\n`)
  .join('');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
  const { build } = await import('vite');
  await build({ logLevel: 'warn', base: './', build: { outDir: 'dist-space', emptyOutDir: true, sourcemap: false } });
  writeFileSync('dist-space/README.md', spaceReadme());
  writeFileSync('dist-space/.gitattributes', SPACE_ATTRIBUTES);
  console.log('dist-space/ is a static Space. Upload it: hf upload USER/NAME dist-space . --repo-type space');
}
