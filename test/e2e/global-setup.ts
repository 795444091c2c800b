import { build, preview } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    baseURL: string;
  }
}

/** Builds the page once and serves it on a free port; the tests `inject('baseURL')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build({ logLevel: 'warn' });
  const server = await preview({ logLevel: 'warn', preview: { port: 0, host: '127.0.0.1' } });
  const url = server.resolvedUrls?.local[0];
  if (!url) throw new Error('vite preview gave no address');
  project.provide('baseURL', url);
  return () => server.close();
}
