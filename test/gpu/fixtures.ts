import { parseGolden, type Golden } from '../../tools/golden/goldenFixture.ts';

const files = import.meta.glob<string>('../golden/*.safetensors', { query: '?inline', import: 'default', eager: true });

/** Every policy fixture of test/golden; works in Node and in a browser. */
export async function goldens(): Promise<Golden[]> {
  return Promise.all(
    Object.entries(files).map(async ([path, url]) => {
      const file = await (await fetch(url)).arrayBuffer();
      return parseGolden(path.replace('../golden/', ''), file);
    }),
  );
}
