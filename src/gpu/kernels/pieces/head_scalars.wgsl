// heads scalar by scalar, for any even size
alias Kept = f32; // or f16
const SIZE = 1u; alias Part = f32; // not at the line's start, so that it stays f32; see kernel.ts
alias Turns = vec2f; // cos and sin of an angle

fn along(a: Part, b: Part) -> f32 { return a * b; }

fn cos_sin(turns: Turns) -> vec2f { return turns; }
