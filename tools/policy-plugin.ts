import type { Plugin } from 'vite';
import { PAGE_POLICY } from '../scripts/page-policy.mjs';

// How old libraries ask for the global object where neither window nor self is there: code made of text, which the policy forbids.
const GLOBAL_OBJECT = /\bFunction\((["'`])return this\1\)\(\)/g;

/** Puts the policy into the built page, whoever serves it; while it is developed scripts are reloaded in ways it forbids. */
export function policy(): Plugin {
  return {
    name: 'page-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: PAGE_POLICY },
        injectTo: 'head-prepend', // before anything it speaks of
      },
    ],
    transform: {
      filter: { id: /node_modules/, code: GLOBAL_OBJECT },
      handler: (code) => ({ code: code.replace(GLOBAL_OBJECT, 'globalThis'), map: null }),
    },
  };
}
