struct Temperature { temperature: f32 }
