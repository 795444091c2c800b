// epilogue of a product: replaces a quad of c, or adds to it. With swiglu the product is the gradient of SwiGLU's
// output, and the gradients of gate and up are stored instead. A single load in a loop reads both gate and up, and a
// single store writes both gradients, because each load or store in the code takes long to compile on software
// adapters.
fn store(at: u32, d: vec4f) {
  let across = shape.J / 4u; // quads from a gate to its up
  var sum = d;
  var next = d;
  if (shape.swiglu == 1u) {
    var gate = vec4f();
    var up = vec4f();
    var half = 0u;
    loop {
      gate = up;
      up = vec4f(gate_up[at + half * across]);
      continuing {
        half++;
        break if half > shape.swiglu;
      }
    }
    let s = 1.0 / (1.0 + exp(min(-gate, vec4f(80.0))));
    sum = d * up * s * (1.0 + gate * (1.0 - s));
    next = d * gate * s;
  } else if (shape.add == 1u) {
    sum = vec4f(c[at]) + d;
  }
  var half = 0u;
  loop {
    c[at + half * across] = vec4<C>(sum);
    sum = next;
    continuing {
      half++;
      break if half > shape.swiglu;
    }
  }
}
