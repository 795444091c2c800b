// the uniform random number of a draw, for kernels whose `settings` have a key
fn uniform_draw(update: u32, rollout: u32, position: u32) -> f32 {
  var v = vec4u(settings.key, update, rollout, position) * 1664525u + 1013904223u;
  v.x += v.y * v.w; v.y += v.z * v.x; v.z += v.x * v.y; v.w += v.y * v.z;
  v ^= v >> vec4u(16u);
  v.x += v.y * v.w; v.y += v.z * v.x; v.z += v.x * v.y; v.w += v.y * v.z;
  return f32(v.x >> 8u) / 16777216.0;
}
