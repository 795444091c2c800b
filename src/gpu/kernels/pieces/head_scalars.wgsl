// heads scalar by scalar, for any even size
alias Kept = f32; // or f16
alias Part = f32;
alias Turns = vec2f; // cos and sin of an angle
const SIZE = 1u; // scalars of a part

fn along(a: Part, b: Part) -> f32 { return a * b; }

fn cos_sin(turns: Turns) -> vec2f { return turns; }
