// @ts-nocheck: its types are those of jax-js, which is no dependency; `npm run kit -- --full --peers` installs it in a folder of its own
// The workloads of ../workloads.mjs with jax-js 0.1.25: the shape of GPT-2, and a whole training step (loss, gradient, AdamW) as one jitted function.
// engine(jax) → setup(config, ctx), as ../peer.mjs has it. Arrays are owned: every use but the last takes `.ref`.

const [B1, B2, EPS, DECAY] = [0.9, 0.95, 1e-8, 0.1];

/** Normal numbers, the same in every run. */
function normals() {
  let seed = 1;
  return (n, deviation) => {
    let s = (seed++ * 2654435761) >>> 0;
    const uniform = () => {
      s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
      return (s + 1) / 4294967297;
    };
    const one = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) * deviation;
    return Float32Array.from({ length: n }, one);
  };
}

/** What the library's module exports → the engine's setup. `options.jaxDevice` is webgpu or wasm. */
export const engine = (jax) =>
  async function setup(c, ctx) {
    const { init, defaultDevice, jit, valueAndGrad, numpy: np, nn, tree, random, blockUntilReady } = jax;
    const device = ctx.options?.jaxDevice ?? 'webgpu';
    if (!(await init(device)).includes(device)) throw new Error(`jax-js has no ${device} device here.`);
    defaultDevice(device);
    const { V, C, L, H, T, B, F } = c;
    const D = C / H;
    const normal = normals();
    const gauss = ([m, n], deviation) => np.array(normal(m * n, deviation)).reshape([m, n]);
    let P = {
      ...{ wte: gauss([V, C], 0.02), wpe: gauss([T, C], 0.02), lnf: np.ones([C]) },
      layers: Array.from({ length: L }, () => ({
        ...{ ln1: np.ones([C]), wqkv: gauss([C, 3 * C], 0.02), wo: gauss([C, C], 0.02 / Math.sqrt(2 * L)) },
        ...{ ln2: np.ones([C]), wfc: gauss([C, F], 0.02), wpr: gauss([F, C], 0.02 / Math.sqrt(2 * L)) },
      })),
    };
    const params = tree.leaves(P).reduce((sum, a) => sum + a.size, 0);
    const zeros = () => tree.map((a) => np.zeros(a.shape), P);
    let [M, S] = [zeros(), zeros()];

    const rms = (x, gain) => {
      const r = np.sqrt(np.mean(np.square(x.ref), -1, { keepdims: true }).add(1e-5));
      return x.div(r).mul(gain);
    };
    /** (b·t, 3C) → three of (b, H, t, D) */
    const split = (qkv, b, t) => {
      const a = np.transpose(qkv.reshape([b, t, 3, H, D]), [2, 0, 3, 1, 4]);
      return [a.ref.slice(0), a.ref.slice(1), a.slice(2)];
    };
    const attend = (q, k, v, mask) => {
      const s = np.matmul(q, np.transpose(k, [0, 1, 3, 2])).mul(1 / Math.sqrt(D));
      return np.matmul(nn.softmax(np.where(mask, s, -1e9), -1), v);
    };
    const merge = (y, b, t) => np.transpose(y, [0, 2, 1, 3]).reshape([b * t, C]);
    const mlp = (x, l) => x.ref.add(np.matmul(nn.relu(np.matmul(rms(x, l.ln2), l.wfc)), l.wpr));
    /** A one-hot product: the one-hot is made inside the kernel. */
    const hot = (i, n, size) =>
      i
        .reshape([n, 1])
        .equal(np.arange(size).astype(np.int32).reshape([1, size]))
        .astype(np.float32);

    const lossOf = (p, ids, targets) => {
      let x = np
        .matmul(hot(ids, B * T, V), p.wte.ref)
        .reshape([B, T, C])
        .add(p.wpe)
        .reshape([B * T, C]);
      for (const l of p.layers) {
        const [q, k, v] = split(np.matmul(rms(x.ref, l.ln1), l.wqkv), B, T);
        x = x.add(np.matmul(merge(attend(q, k, v, np.tri(T, T, 0, { dtype: np.bool })), B, T), l.wo));
        x = mlp(x, l);
      }
      const logits = np.matmul(rms(x, p.lnf), np.transpose(p.wte));
      return np.sum(nn.logSoftmax(logits, -1).mul(hot(targets, B * T, V))).mul(-1 / (B * T));
    };
    // bias corrections come in as arrays, so that one compilation serves every step
    const learn = jit((p, m, s, x, y, c1, c2) => {
      const [loss, g] = valueAndGrad(lossOf)(tree.ref(p), x, y);
      const m2 = tree.map((m, g) => m.mul(B1).add(g.mul(1 - B1)), m, tree.ref(g));
      const s2 = tree.map((s, g) => s.mul(B2).add(np.square(g).mul(1 - B2)), s, g);
      const moved = (p, m, s) => {
        const kept = p.ndim > 1 ? 1 - c.lr * DECAY : 1;
        return p.mul(kept).sub(
          m
            .mul(c1.ref)
            .div(np.sqrt(s.mul(c2.ref)).add(EPS))
            .mul(c.lr),
        );
      };
      const p2 = tree.map(moved, p, tree.ref(m2), tree.ref(s2));
      c1.dispose();
      c2.dispose();
      return [loss, p2, m2, s2];
    });
    const [X, Y] = [np.array(Int32Array.from(ctx.x)), np.array(Int32Array.from(ctx.y))];
    let t = 0;
    const peer = {
      params,
      notes:
        'GPT-2 shape: learned positions, RMSNorm, ReLU MLP 4d, tied head, no biases; no clipping; AdamW b2=0.95, wd 0.1 on ' +
        'matrices; a whole step in one jit; the embedding as a one-hot product',
      async step({ read }) {
        t++;
        const corrections = [B1, B2].map((b) => np.array(new Float32Array([1 / (1 - b ** t)])));
        const [loss, p2, m2, s2] = learn(P, M, S, X.ref, Y.ref, ...corrections);
        [P, M, S] = [p2, m2, s2];
        if (read) return (await loss.data())[0];
        loss.dispose();
        return NaN;
      },
      sync: () => blockUntilReady(P),
      dispose: () => Promise.resolve(),
    };
    if (ctx.want !== 'generate') return peer;

    const g = ctx.generation;
    const rows = g.sequences;
    // a cache of fixed size [rows, H, T, D]; the position is a traced scalar
    const decode = jit((p, cache, ids, pos, key) => {
      const at = (n) => np.arange(n).astype(np.int32);
      const place = at(T).reshape([1, T]).equal(pos.ref).astype(np.float32);
      let x = np.matmul(hot(ids, rows, V), p.wte.ref).add(np.matmul(place, p.wpe));
      const here = at(T).reshape([1, 1, T, 1]).equal(pos.ref);
      const seen = at(T).reshape([1, 1, 1, T]).lessEqual(pos);
      const kept = p.layers.map((l, i) => {
        const [q, k1, v1] = split(np.matmul(rms(x.ref, l.ln1), l.wqkv), rows, 1);
        const [k, v] = [k1, v1].map((fresh, j) => np.where(here.ref, fresh, cache[i][j]));
        const both = [k.ref, v.ref];
        x = x.add(np.matmul(merge(attend(q, k, v, seen.ref), rows, 1), l.wo));
        x = mlp(x, l);
        return both;
      });
      here.dispose();
      seen.dispose();
      const logits = np.matmul(rms(x, p.lnf), np.transpose(p.wte));
      return [np.argmax(logits.add(random.gumbel(key, [rows, V])), -1).astype(np.int32), kept];
    });
    const generate = async () => {
      let cache = Array.from({ length: L }, () => [np.zeros([rows, H, T, D]), np.zeros([rows, H, T, D])]);
      const drawn = [];
      let next = null;
      for (let i = 0; i < g.prompt + g.newTokens - 1; i++) {
        const forced = i < g.prompt;
        const given = () => np.array(Int32Array.from({ length: rows }, (_, b) => g.prompts[b * g.prompt + i]));
        const ids = forced ? given() : next.ref;
        if (forced) next?.dispose();
        const [id, kept] = decode(tree.ref(P), cache, ids, np.array(Int32Array.from([i])), random.key(i + 1));
        cache = kept;
        if (!forced) drawn.push(next);
        next = id;
      }
      drawn.push(next);
      tree.dispose(cache);
      return (await np.stack(drawn, 1).data()).length;
    };
    return { ...peer, generate };
  };
