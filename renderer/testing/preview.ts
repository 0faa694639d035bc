// Entry of the preview, in the same order as the app's own (main.ts).
import '../zod-jitless.ts';

await import('./preview-start.tsx');
