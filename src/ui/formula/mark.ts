/** How a term touches a token: not, or it does, or the clip held it as its ratio rose, or as it fell. */
export const Mark = { none: 0, touched: 1, rose: 2, fell: 3 } as const;
