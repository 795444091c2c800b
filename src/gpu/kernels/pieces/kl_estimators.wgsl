// the numbers of the KL estimators; src/model/gpu/knobs.ts looks them up by name
const KL_K1 = 1.0; const KL_K2 = 2.0; const KL_K3 = 3.0;
