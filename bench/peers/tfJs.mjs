// @ts-nocheck: its types are those of TensorFlow.js, which is no dependency; `npm run kit -- --full --peers` installs it in a folder of its own
// The workloads of ../workloads.mjs with TensorFlow.js 4.22 on WebGPU: the shape of GPT-2 in the library's batched ops, one variableGrads a step, its Adam
// and decoupled decay. engine(tf) → setup(config, ctx), as ../peer.mjs has it.

const DECAY = 0.1;

/** What the library's module exports → the engine's setup. */
export const engine = (tf) =>
  async function setup(c, ctx) {
    await tf.setBackend('webgpu');
    await tf.ready();
    if (tf.getBackend() !== 'webgpu') throw new Error(`TensorFlow.js took ${tf.getBackend()}, not webgpu.`);
    const { V, C, L, H, T, B, F } = c;
    const D = C / H;
    let seed = 1;
    const gauss = (shape, deviation) => tf.variable(tf.randomNormal(shape, 0, deviation, 'float32', seed++));
    const ones = () => tf.variable(tf.ones([C]));
    const P = {
      ...{ wte: gauss([V, C], 0.02), wpe: gauss([T, C], 0.02), lnf: ones() },
      layers: Array.from({ length: L }, () => ({
        ...{ ln1: ones(), wqkv: gauss([C, 3 * C], 0.02), wo: gauss([C, C], 0.02 / Math.sqrt(2 * L)) },
        ...{ ln2: ones(), wfc: gauss([C, F], 0.02), wpr: gauss([F, C], 0.02 / Math.sqrt(2 * L)) },
      })),
    };
    const all = [P.wte, P.wpe, P.lnf, ...P.layers.flatMap((l) => Object.values(l))];
    const decayed = all.filter((v) => v.rank > 1);
    const mask = tf.tidy(() => {
      const [i, j] = [tf.range(0, T).expandDims(1), tf.range(0, T).expandDims(0)];
      return tf.where(tf.lessEqual(j, i), tf.zeros([T, T]), tf.fill([T, T], -1e9));
    });

    // with a gradient by hand: fewer kernels than the recorded tape
    const rms = tf.customGrad((x, gain, save) => {
      const r = x.square().mean(-1, true).add(1e-5).rsqrt();
      const n = x.mul(r);
      save([n, r, gain]);
      const gradFunc = (dy, [n, r, gain]) => {
        const dn = dy.mul(gain);
        return [dn.sub(n.mul(dn.mul(n).mean(-1, true))).mul(r), dy.mul(n).sum(0)];
      };
      return { value: n.mul(gain), gradFunc };
    });
    /** A layer of b rows of t tokens; `past` are the keys and values before them. Returns what it gives and its keys and values. */
    const layer = (l, x, b, t, past) => {
      const qkv = tf.matMul(rms(x, l.ln1), l.wqkv).reshape([b, t, 3, H, D]).transpose([2, 0, 3, 1, 4]);
      const [q, k1, v1] = tf.unstack(qkv.reshape([3, b * H, t, D]));
      const [k, v] = past ? [tf.concat([past[0], k1], 1), tf.concat([past[1], v1], 1)] : [k1, v1];
      const s = tf.matMul(q, k, false, true).mul(1 / Math.sqrt(D));
      const masked = t === 1 ? s : s.add(t === T ? mask : mask.slice([0, 0], [t, t]));
      const y = tf
        .matMul(tf.softmax(masked), v)
        .reshape([b, H, t, D])
        .transpose([0, 2, 1, 3])
        .reshape([b * t, C]);
      const attended = x.add(tf.matMul(y, l.wo));
      return [attended.add(tf.matMul(tf.relu(tf.matMul(rms(attended, l.ln2), l.wfc)), l.wpr)), [k, v]];
    };

    const params = all.reduce((sum, v) => sum + v.size, 0);
    const notes =
      'GPT-2 shape: learned positions, RMSNorm, ReLU MLP 4d, tied head, no biases; no clipping; Adam b2=0.95, decoupled ' +
      'decay 0.1; eager ops (the library has no compiler)';
    const sync = () => tf.backend().queue.onSubmittedWorkDone();
    const free = [...all, mask];
    const dispose = () => Promise.resolve(tf.dispose(free));

    if (ctx.want !== 'generate') {
      const ids = tf.tensor1d(Int32Array.from(ctx.x), 'int32');
      const hot = tf.tidy(() => tf.oneHot(tf.tensor1d(Int32Array.from(ctx.y), 'int32'), V).toFloat());
      const lossOf = () => {
        let x = tf
          .gather(P.wte, ids)
          .reshape([B, T, C])
          .add(P.wpe)
          .reshape([B * T, C]);
        for (const l of P.layers) [x] = layer(l, x, B, T, null);
        return tf.losses.softmaxCrossEntropy(hot, tf.matMul(rms(x, P.lnf), P.wte, false, true));
      };
      const adam = tf.train.adam(c.lr, 0.9, 0.95, 1e-8);
      free.push(ids, hot);
      const step = async ({ read }) => {
        const loss = tf.tidy(() => {
          const { value, grads } = tf.variableGrads(lossOf, all);
          for (const v of decayed) v.assign(v.mul(1 - c.lr * DECAY));
          adam.applyGradients(grads);
          return value;
        });
        const found = read ? (await loss.data())[0] : NaN;
        loss.dispose();
        return found;
      };
      return { params, notes, step, sync, dispose };
    }

    const g = ctx.generation;
    const rows = g.sequences;
    const sample = (logits) => tf.argMax(logits.sub(tf.log(tf.neg(tf.log(tf.randomUniform([rows, V], 1e-7, 1))))), 1);
    /** The next token of each row; a cache by concatenation, drawn on the device. */
    const draw = (ids, cache, past, t) => {
      let x = tf
        .gather(P.wte, ids)
        .reshape([rows, t, C])
        .add(P.wpe.slice([past, 0], [t, C]))
        .reshape([rows * t, C]);
      const kept = P.layers.map((l, i) => {
        const [given, both] = layer(l, x, rows, t, cache?.[i] ?? null);
        x = given;
        return both;
      });
      const last =
        t === 1
          ? x
          : x
              .reshape([rows, t, C])
              .slice([0, t - 1, 0], [rows, 1, C])
              .reshape([rows, C]);
      return { id: sample(tf.matMul(rms(last, P.lnf), P.wte, false, true)), kept };
    };
    const generate = async () => {
      const drawn = [];
      let cache = null;
      for (let i = 0; i < g.newTokens; i++) {
        const { id, kept } = tf.tidy(() => {
          if (cache) return draw(drawn.at(-1), cache, g.prompt + i - 1, 1);
          return draw(tf.tensor1d(Int32Array.from(g.prompts), 'int32'), null, 0, g.prompt);
        });
        tf.dispose(cache);
        cache = kept;
        drawn.push(id);
      }
      tf.dispose(cache);
      const all = tf.tidy(() => tf.stack(drawn, 1));
      const { length } = await all.data();
      tf.dispose([all, ...drawn]);
      return length;
    };
    return { params, notes, sync, dispose, generate, step: () => Promise.resolve(NaN) };
  };
