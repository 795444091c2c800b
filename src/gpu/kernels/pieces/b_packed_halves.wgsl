// b in pairs of halves: the quad of four scalars that begins at scalar 4·at; no feature of the device is wanted
@group(0) @binding(1) var<storage, read> b: array<vec2u>;
fn quad_of_b(at: u32) -> vec4f { return vec4f(unpack2x16float(b[at].x), unpack2x16float(b[at].y)); }
