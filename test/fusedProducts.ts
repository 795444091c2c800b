import { allowFusedProducts } from '../src/cli/fusedProducts.ts';

// before any test compiles WebAssembly: what is found out then holds for all that share a process
allowFusedProducts();
