// the only knob that the kernels of targets read; src/model/gpu/adapters/treeNetwork.ts writes it by name
struct Temperature { temperature: f32 }
