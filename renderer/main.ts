// The page's entry. Schemas choose at their making whether to build code from strings, so zod is told not to before any
// of them is loaded: by a dynamic import, because a bundler may put static ones into parts that run earlier.
import './zod-jitless.ts';

await import('./start.tsx');
