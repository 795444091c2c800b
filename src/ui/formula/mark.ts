/**
 * How a term affects a token: not at all (`none`), it does (`touched`), or the token is clipped because its ratio rose
 * or fell.
 */
export const Mark = { none: 0, touched: 1, rose: 2, fell: 3 } as const;
