// heads in parts of four scalars: for sizes that 8 divides, so that a part and its other half in the rotation are whole
alias Kept = vec4<f32>; // or of f16
const SIZE = 4u; alias Part = vec4f;
alias Turns = mat4x2f; // cos and sin of four angles

fn along(a: Part, b: Part) -> f32 { return dot(a, b); }

// the cosines, the sines
fn cos_sin(turns: Turns) -> mat2x4f { return transpose(turns); }
